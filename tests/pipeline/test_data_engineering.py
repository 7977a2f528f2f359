"""Quality checks, catalog, lineage, retention and estimated cost of a real campaign's tables."""

import json
import shutil
import time
from pathlib import Path

import pyarrow.compute as pc
import pytest

import roamcast
from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.cli.app import invoke
from roamcast.fingerprint import package_version
from roamcast.lake.columns import TABLES
from roamcast.pipeline import catalog
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.committing.maintenance import parse_age, prune_older
from roamcast.pipeline.cost import cost_of_campaign, describe_cost
from roamcast.pipeline.quality import CHECKS, check_quality
from roamcast.results.errors import CampaignFolderError

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"
CAMPAIGN = Campaign.model_validate(
    {
        "title": "square",
        "scenario": SQUARE,
        "seeds": 3,
        "protocols": {"flooding": {}, "cbr": {}},
        "sweeps": {"one": {"protocols": ["flooding", "cbr"]}},
    }
)


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """The campaign, run."""
    out = tmp_path_factory.mktemp("square")
    conductor = CampaignRunner(CAMPAIGN, CampaignFolder(out))
    with conductor.prepare():
        conductor.work(spark)
    return out


@pytest.fixture
def out(made, tmp_path):
    """A copy of the campaign's folder."""
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"


def test_every_check_passes_and_is_a_row_with_its_query(spark, out):
    rows = check_quality(spark, roamcast.lake(out)).to_pylist()
    assert [row["check"] for row in rows] == [check.name for check in CHECKS]
    assert {(row["result"], row["count"]) for row in rows} == {("passed", 0)}
    assert all(row["sql"].startswith("select count(*)") for row in rows)


def test_a_check_that_fails_counts_the_rows(spark, out):
    store = CampaignFolder(out)
    metrics = store.read_table("metrics")
    store.write_table("metrics", metrics.slice(1))
    points = store.read_table("points")
    wrong = pc.add(points["seed"], 1)
    store.write_table("points", points.set_column(points.column_names.index("seed"), "seed", wrong))
    rows = check_quality(spark, roamcast.lake(out)).to_pylist()
    failed = {row["check"]: row["count"] for row in rows if row["result"] == "failed"}
    assert failed == {"runs are measured": 1, "cells agree with the plan": 6}


def test_tables_of_a_catalog_have_the_rows_and_the_comments_of_the_lake(spark, out):
    lake = roamcast.lake(out)
    names = catalog.register(spark, lake, "square")
    try:
        assert {*TABLES, "plan", "metrics", catalog.COMMITTED} <= set(names)
        for name in names:
            if name != catalog.COMMITTED:
                assert spark.table(f"square.`{name}`").count() == lake.dataset(name).count_rows(), name
        assert spark.table(f"square.{catalog.COMMITTED}").count() == 6
        rows = {row["col_name"]: row["comment"] for row in spark.sql("describe square.deliveries").collect()}
        assert rows["protocol"] == "label of the protocol in the campaign"
        assert catalog.register(spark, lake, "square") == names, "tables are replaced"
    finally:
        spark.sql("drop database if exists square cascade")
    assert roamcast.lake(out).dataset("deliveries").count_rows() > 0, "tables are external: files stay"


def test_statements_for_delta_tables_are_printed_without_spark(out, capsys):
    assert invoke(["lake", "register", str(out), "--database", "main.square", "--sql"]) == 0
    output = capsys.readouterr().out
    assert f"CREATE TABLE main.square.`drops` USING delta LOCATION 'file://{out}/facts/drops';" in output
    assert invoke(["lake", "register", str(out), "--database", "a b; drop", "--sql"]) == 2
    assert "expected a database as NAME or CATALOG.NAME" in capsys.readouterr().err


def test_lineage_tells_which_code_made_each_row_of_metrics(out, capsys):
    store = CampaignFolder(out)
    versions = {run.id: run.version for run in make_plan(CAMPAIGN).runs}
    rows = store.read_table("lineage").to_pylist()
    assert {row["run"]: row["version"] for row in rows} == versions
    assert {row["measured_by"] for row in rows} == {package_version()}
    run = min(versions)
    assert invoke(["lake", "lineage", str(out), "--run", run, "--json"]) == 0
    [result] = json.loads(capsys.readouterr().out)
    assert result["run"] == run and result["version"] == versions[run]
    assert invoke(["lake", "lineage", str(out), "--run", "no"]) == 2
    assert "the table metrics has no run no" in capsys.readouterr().err


def test_rows_that_were_measured_before_keep_the_version_that_measured_them(spark, out):
    store = CampaignFolder(out)
    table = store.read_table("lineage")
    older = table.set_column(3, "measured_by", [["older"] * len(table)])
    store.write_table("lineage", older)
    gone = table["run"][0].as_py()
    store.write_table(
        "metrics", store.read_table("metrics").filter(pc.field("run") != gone), store.read_metrics()[1]
    )
    conductor = CampaignRunner(CAMPAIGN, CampaignFolder(out))
    with conductor.prepare():
        conductor.work(spark)
    values = {row["run"]: row["measured_by"] for row in store.read_table("lineage").to_pylist()}
    assert (
        values == {run: package_version() if run == gone else "older" for run in values} and len(values) == 6
    )


def test_old_runs_are_removed_after_a_dry_run(out, capsys):
    store = CampaignFolder(out)
    known = store.snapshot().runs()
    assert all(time.time() - 3600 < done.committed <= time.time() for done in known.values())
    assert prune_older(store, 3600.0).runs == []
    assert invoke(["lake", "prune", str(out), "--older-than", "0s"]) == 0
    assert f"would remove the facts of {len(known)} runs" in capsys.readouterr().out
    assert CampaignFolder(out).snapshot().runs().keys() == known.keys(), "a dry run removes nothing"
    assert invoke(["lake", "prune", str(out), "--older-than", "0s", "--remove", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (sorted(known), True, 0) == (record["runs"], record["removed"], record["kept"])
    assert not CampaignFolder(out).snapshot().runs() and not list((out / "facts" / "drops").glob("*.parquet"))
    assert len(CampaignFolder(out).read_table("metrics")) == 6, "computed tables stay"


def test_ages_have_units():
    assert [parse_age(text) for text in ("30d", "12 h", "2w", "1.5min")] == [2592000, 43200, 1209600, 90]
    for text in ("30", "d", "-1d", "1e9d", "30 days"):
        with pytest.raises(CampaignFolderError, match="expected an age such as 30d"):
            parse_age(text)


def test_the_cost_of_a_campaign_comes_from_earlier_runs_or_from_calibration(made):
    more = CAMPAIGN.model_copy(update={"seeds": 13})
    from_lake = cost_of_campaign(more, str(made), 5.0)
    assert (from_lake.planned, from_lake.done) == (26, 6)
    assert {cost.basis for cost in from_lake.protocols} == {"3 earlier runs"}
    spent = sum(done.cpu for done in CampaignFolder(made).snapshot().runs().values())
    assert from_lake.cpu_hours == pytest.approx(spent / 6 * 20 / 3600)
    assert from_lake.cpu_hours_low <= from_lake.cpu_hours <= from_lake.cpu_hours_high
    written = sum(done.size for done in CampaignFolder(made).snapshot().runs().values())
    assert from_lake.bytes == pytest.approx(written / 6 * 20, rel=1e-6)
    alone = cost_of_campaign(more, None, 5.0)
    assert alone.done == 0 and {cost.basis for cost in alone.protocols} == {"2 calibration runs"}
    assert alone.cpu_hours > 0 and alone.bytes > 0
    assert describe_cost(alone).startswith("26 of 26 runs to do: ")
