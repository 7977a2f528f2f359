"""Runs in folders of their own, as the tables of a campaign that a question needs; and who holds a folder."""

import json
import os
import subprocess
import sys
from collections import Counter

import pyarrow.parquet as pq
import pytest
from invented_facts import NODES, invent

from roamcast.campaign.tables import METRICS_TABLE, PLAN, POINTS
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import FactsError
from roamcast.lake.columns import CELL
from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.lock import hold
from roamcast.pipeline.views import ViewsError, open_tables, register_views
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import find_holder


def write_run(folder, seed):
    folder.mkdir(parents=True)
    for table, rows in invent(seed).items():
        pq.write_table(rows, folder / f"{table}.parquet")
    run = {
        **{"scenario": "s", "protocol": "flooding", "parameters": {"jitter": 0.01}, "seed": seed},
        **{"version": "v", "nodes": NODES, "duration": 100.0, "warmup": 40.0, "range": 250.0},
        **{"frames": {}, "drops": {}, "events_processed": 1},
    }
    (folder / "run.json").write_text(json.dumps(run))


def test_the_folder_of_a_run_is_asked_as_a_campaign_is(tmp_path):
    write_run(tmp_path / "mine", 3)
    tables = open_tables(str(tmp_path / "mine"))
    assert tables.tables == [*TABLES, "plan", "points", "metrics"]
    assert tables.schema("deliveries").names == ["run", *CELL.names, *TABLES["deliveries"].names]
    assert tables.schema("points") == POINTS and tables.schema("metrics") == METRICS_TABLE
    result = dict(zip(tables.schema("plan").names, *tables._rows("plan"), strict=True))
    assert result == {
        **{"run": "mine", "router": "flooding", "parameters": '{"jitter":0.01}', "seed": 3},
        **{"duration": 100.0, "warmup": 40.0, "radio_range": 250.0, "nodes": NODES, "version": "v"},
    }
    assert all(field.nullable for field in tables.schema("plan"))
    assert {name: PLAN.field(name).type for name in result} == {
        field.name: field.type for field in tables.schema("plan")
    }
    assert tables._rows("points") == [("", "{}", "flooding", 3, "mine")]
    metrics = dict(zip(METRICS_TABLE.names, *tables._rows("metrics"), strict=True))
    sent = pq.read_table(tmp_path / "mine" / "transmissions.parquet").to_pylist()
    assert metrics["run"] == "mine"
    assert metrics["messages"] == sum(row["time"] >= 40 for row in sent) > 0


def test_a_folder_of_several_runs_has_them_all_in_their_order(tmp_path):
    for name, seed in (("b", 2), ("a", 1)):
        write_run(tmp_path / name, seed)
    (tmp_path / "other").mkdir()
    tables = open_tables(str(tmp_path))
    assert [row[3:] for row in tables._rows("points")] == [(1, "a"), (2, "b")]


def test_a_folder_without_runs_and_a_damaged_run_are_told(tmp_path):
    with pytest.raises(ViewsError, match="neither a campaign nor the facts of runs"):
        open_tables(str(tmp_path))
    write_run(tmp_path / "a", 1)
    (tmp_path / "a" / "run.json").write_text("{")
    with pytest.raises(FactsError, match=r"run\.json: damaged"):
        open_tables(str(tmp_path))._rows("plan")


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_tables_of_several_runs_are_views_whose_columns_say_what_they_mean(spark, tmp_path):
    for name, seed in (("a", 1), ("b", 3)):
        write_run(tmp_path / name, seed)
    tables = open_tables(str(tmp_path))
    assert register_views(spark, tables) == tables.tables
    runs = [row["run"] for row in spark.table("drops").select("run").collect()]
    assert Counter(runs) == {"a": 100, "b": 100}
    assert [row["seed"] for row in spark.table("points").collect()] == [1, 3]
    columns = spark.table("drops").schema
    assert columns.names == ["run", *CELL.names, *TABLES["drops"].names]
    result = TABLES["drops"].field("time").metadata
    assert (
        columns["time"].metadata["comment"] == f"{result[b'meaning'].decode()} [{result[b'unit'].decode()}]"
    )
    assert columns["run"].metadata["comment"] == POINTS.field("run").metadata[b"meaning"].decode()


HOLD = """
import sys
from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.lock import hold
with hold(StorageUrl(sys.argv[1]), "minding it"):
    print("held", flush=True)
    input()
"""


def test_a_folder_has_one_holder_who_is_known_and_whose_end_frees_it(tmp_path):
    place = StorageUrl(tmp_path)
    assert find_holder(place) is None
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        assert find_holder(place) == other.pid
        with pytest.raises(CampaignFolderError) as raised, hold(place, "minding it"):
            pass
        assert str(raised.value) == f"{place}: process {other.pid} is minding it"
        other.kill()
    assert find_holder(place) is None
    with hold(place):
        assert find_holder(place) == os.getpid()
        with (
            pytest.raises(CampaignFolderError, match=f"process {os.getpid()} is running this campaign"),
            hold(place),
        ):
            pass


def test_a_folder_far_away_is_held_by_nobody_and_kept_from_nobody():
    far = StorageUrl("s3://bucket/campaign")
    with hold(far), hold(far):
        assert find_holder(far) is None
