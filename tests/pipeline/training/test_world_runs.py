"""Runs of random worlds: one row per protocol, limits as rows, and a job that continues."""

import pyarrow.parquet as pq
import pytest

from roamcast.advisor.drawing.draw import draw_world
from roamcast.campaign.campaign import RunLimits
from roamcast.errors import UserError
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.training.world_runs import RUN_METRICS, run_world, run_worlds
from roamcast.routing.catalogue import find, working
from roamcast.sim.run import simulate

SMALL = 900007
"A world of few nodes with positions."


def test_a_world_gives_a_row_of_metrics_for_each_protocol_that_serves_it():
    world = draw_world(SMALL)
    rows = list(run_world(SMALL, 60.0, 4e9))
    assert [row["protocol"] for row in rows] == working()[0]
    assert all(row["error"] == "" for row in rows)
    by_hand = evaluate(metric_input(simulate(world, "cbr", SMALL)), RUN_METRICS)
    (found,) = (row for row in rows if row["protocol"] == "cbr")
    assert {name: found[name] for name in RUN_METRICS} == by_hand


def test_protocols_that_need_positions_are_left_out_of_a_world_without():
    blind = next(seed for seed in range(900000, 900100) if not draw_world(seed).location)
    rows = list(run_world(blind, 60.0, 4e9))
    assert {row["protocol"] for row in rows} == {
        name for name in working()[0] if not find(name).needs_location
    }


def test_a_run_over_its_limit_is_a_row_with_an_error():
    rows = list(run_world(SMALL, 1e-6, 4e9))
    assert {row["error"] for row in rows} == {"exceeded its limit of time"}
    assert len(rows) == len(working()[0])


@pytest.mark.spark
def test_a_job_continues_and_refuses_worlds_of_other_ranges(spark, tmp_path):
    out = str(tmp_path / "runs")
    seen = []
    assert run_worlds(spark, out, [SMALL], RunLimits(), lambda *result: seen.append(result)) == 1
    assert seen == [(0, 1), (1, 1)]
    assert run_worlds(spark, out, [SMALL], RunLimits()) == 0
    table = pq.read_table(out)
    assert len(table) == len(working()[0])
    changed = table.set_column(
        table.column_names.index("fingerprint"), "fingerprint", [["other"] * len(table)]
    )
    (tmp_path / "changed").mkdir()
    pq.write_table(changed, tmp_path / "changed" / "part.parquet")
    with pytest.raises(UserError, match=f"world {SMALL} was drawn from other ranges"):
        run_worlds(spark, str(tmp_path / "changed"), [SMALL], RunLimits())
