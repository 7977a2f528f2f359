"""A lake of format 2 is read, not written, and migrated by a command."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from small_lake import content, facts_of, ready, stage

import roamcast
from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.cli.app import invoke
from roamcast.lake.batch import table_file
from roamcast.lake.columns import CELL, plain_schema
from roamcast.lake.snapshot import Batch, Commit, LakeError, TableFile
from roamcast.lake.staging import digest
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.scenario.shipped import locate

CAMPAIGN = Campaign.model_validate(
    {
        "title": "older",
        "scenario": locate("shopping"),
        "seeds": 3,
        "protocols": {"flooding": {}, "cbr": {}},
        "sweeps": {"one": {"protocols": ["flooding", "cbr"]}},
    }
)


def write_older(folder):
    """Write a lake of format 2: rows without cells, sorted by run, in files without an index."""
    store = CampaignFolder(folder)
    store.create()
    plan = make_plan(CAMPAIGN)
    store.write_campaign(CAMPAIGN)
    store.write_plan(plan)
    for run in plan.runs:
        stage(store, run.id, facts_of(run.id[:6]))
    manifests = ready(store)
    Committer(None, store).commit(manifests)
    snapshot = store.snapshot()
    [batch] = snapshot.batches.values()
    files = {}
    for table in batch.files:
        rows = pq.read_table(table_file(store.facts, table, batch.name).local).drop_columns(CELL.names)
        whole = pa.Table.from_pylist(sorted(rows.to_pylist(), key=lambda row: row["run"]))
        plain = whole.cast(plain_schema(pa.schema([rows.schema.field(name) for name in whole.column_names])))
        place = table_file(store.facts, table, "older").local
        pq.write_table(plain, place, write_page_checksum=True, row_group_size=4)
        files[table] = TableFile(place.stat().st_size, len(plain), digest(place))
    assert store.log.append(snapshot, Commit([Batch("older", batch.runs, files)], [batch.name])) is not None
    store.tidy()
    for log in (store.facts.local).glob("*/_delta_log"):
        for entry in log.glob("*.json"):
            lines = [json.loads(line) for line in entry.read_text().splitlines()]
            for line in lines:
                if "metaData" in line:
                    line["metaData"]["configuration"]["roamcast.format"] = "2"
                    schema = json.loads(line["metaData"]["schemaString"])
                    schema["fields"] = [each for each in schema["fields"] if each["name"] not in CELL.names]
                    line["metaData"]["schemaString"] = json.dumps(schema)
            entry.write_text("\n".join(json.dumps(line) for line in lines))
    return [run.id for run in plan.runs]


def check(folder, runs):
    for table in facts_of("1"):
        right = {run: facts_of(run[:6])[table].to_pylist() for run in runs}
        assert content(folder, table) == right, table


def test_an_older_lake_is_read_and_not_written(tmp_path):
    runs = write_older(tmp_path)
    check(tmp_path, runs)
    with pytest.raises(LakeError, match="format 2, which this version reads and does not write") as raised:
        CampaignFolder(tmp_path).create()
    assert "\n" not in str(raised.value) and f"roamcast lake migrate {tmp_path}" in str(raised.value)


def test_an_older_lake_is_migrated(tmp_path, capsys):
    runs = write_older(tmp_path)
    assert invoke(["lake", "migrate", str(tmp_path)]) == 0
    assert "migrated 6 runs to format 3" in capsys.readouterr().out
    check(tmp_path, runs)
    cells = {place.run: (place.protocol, place.seed) for place in make_plan(CAMPAIGN).places}
    for rows in (
        roamcast.lake(tmp_path).dataset("drops").to_table(),
        pa.table(DeltaTable(str(tmp_path / "facts" / "drops")).to_pyarrow_table()),
    ):
        found = {row["run"]: (row["protocol"], row["seed"]) for row in rows.to_pylist()}
        assert found == cells
    assert roamcast.lake(tmp_path).dataset("drops").to_table()["seed"].to_pylist() == [1, 2, 3, 1, 2, 3]
    CampaignFolder(tmp_path).create()
    assert invoke(["lake", "migrate", str(tmp_path)]) == 0
    assert "has format 3 already" in capsys.readouterr().out


def test_an_interrupted_migration_goes_on(tmp_path, monkeypatch, capsys):
    runs = write_older(tmp_path)

    def end(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("roamcast.lake.runs_table.RunsTable.set_format", end)
    assert invoke(["lake", "migrate", str(tmp_path)]) == 130
    check(tmp_path, runs)
    monkeypatch.undo()
    assert invoke(["lake", "migrate", str(tmp_path)]) == 0
    check(tmp_path, runs)
    assert CampaignFolder(tmp_path).log.format() == "3"


def test_a_folder_without_facts_is_told(tmp_path, capsys):
    assert invoke(["lake", "migrate", str(tmp_path)]) == 2
    assert "no campaign was run here" in capsys.readouterr().err
