"""The tables of a campaign are views."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roamcast
from roamcast.pipeline.tables import POINTS
from roamcast.pipeline.views import open_tables, register_views

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_runs_of_a_campaign_are_asked_together(spark, tmp_path):
    delivered = {}
    for seed in (1, 2):
        facts = roamcast.run(SQUARE, seed=seed).facts
        facts.write(tmp_path / "runs" / f"run=id{seed}")
        delivered[f"id{seed}"] = len(facts["deliveries"])
    (tmp_path / "campaign.json").write_text("{}")
    (tmp_path / "tables").mkdir()
    points = [{"sweep": "s", "point": "{}", "protocol": "flooding", "seed": 1, "run": "id1"}]
    pq.write_table(pa.Table.from_pylist(points, POINTS), tmp_path / "tables" / "points.parquet")
    names = register_views(spark, open_tables(str(tmp_path)))
    assert {"deliveries", "legs", "points"} <= set(names)
    assert "metrics" not in names  # not made yet
    counts = spark.sql("select run, count(*) n from deliveries group by run").collect()
    assert {row["run"]: row["n"] for row in counts} == delivered
    joined = spark.sql("select count(*) n from deliveries join points using (run)").first()
    assert joined["n"] == delivered["id1"]
    assert spark.sql("select count(*) from requests").first()[0] == 0
