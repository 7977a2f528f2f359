"""Facts carry the cells of their runs; a question about a protocol and a seed reads its share of a file."""

import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, QueryBuilder
from small_lake import ready, stage

import roamcast
from roamcast.facts.schema import TABLES as FACTS
from roamcast.lake import batch
from roamcast.lake.batch import open_file, open_table
from roamcast.lake.cells import RunCell, sort_key
from roamcast.lake.lake import CHECK_PAGES
from roamcast.lake.run_index import RunIndex
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer

PROTOCOLS = ("cbr", "flooding", "ft-cbr", "tpsr")
SEEDS = range(1, 11)
ROWS = 8_000
CELLS = {
    f"{(7919 * number) % 999_983:020x}": RunCell("layout", protocol, seed, "{}")
    for number, (protocol, seed) in enumerate(((p, s) for p in PROTOCOLS for s in SEEDS), 1)
}
SUMS = "select count(*), sum(cast(size as bigint)), sum(airtime) from t"
WHERE = " where protocol = 'cbr' and seed = 7"


def transmissions(seed):
    """Rows that do not compress well, so that the size of a file follows the number of its rows."""
    random = np.random.default_rng(seed)
    drawn = {"time": np.sort(random.random(ROWS)), "airtime": random.random(ROWS)}
    drawn |= {"size": random.integers(0, 1 << 30, ROWS), "publication": random.integers(0, 1 << 60, ROWS)}
    columns = []
    for field in FACTS["transmissions"]:
        if field.name in drawn:
            columns.append(pa.array(drawn[field.name]).cast(field.type))
        elif pa.types.is_dictionary(field.type):
            columns.append(pa.array(["event"] * ROWS).dictionary_encode().cast(field.type))
        else:
            columns.append(pa.array([0] * ROWS).cast(field.type))
    return pa.Table.from_arrays(columns, schema=FACTS["transmissions"])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Forty runs in random order, committed in ten batches and compacted to three."""
    made = CampaignFolder(tmp_path_factory.mktemp("lake"))
    patched = pytest.MonkeyPatch()
    patched.setattr(batch, "GROUP_ROWS", 2 * ROWS)
    made.create()
    committer = Committer(None, made, CELLS)
    for first in range(0, len(CELLS), 4):
        for run in sorted(CELLS)[first : first + 4]:
            stage(made, run, {"transmissions": transmissions(int(run, 16))})
        committer.commit(ready(made))
    committer.compact()
    made.tidy()
    patched.undo()
    return made


def right(store, where):
    """The answer, by reading everything."""
    rows = roamcast.lake(store.folder).dataset("transmissions").to_table().to_pylist()
    mine = [row for row in rows if where(row)]
    return [len(mine), sum(row["size"] for row in mine), pytest.approx(sum(row["airtime"] for row in mine))]


def delta_table(store):
    return DeltaTable(f"{store.folder}/facts/transmissions")


def by_delta_sql(store, where):
    query = QueryBuilder().register("t", delta_table(store))
    [row] = pa.table(query.execute(f"{SUMS}{where}").read_all()).to_pylist()
    return list(row.values())


def by_duckdb(store, where):
    duckdb = pytest.importorskip("duckdb", reason="installed by make validate")
    connection = duckdb.connect()
    connection.register("t", delta_table(store).to_pyarrow_dataset())
    return list(connection.sql(f"{SUMS}{where}").fetchall()[0])


def by_polars(store, where):
    polars = pytest.importorskip("polars", reason="installed by make validate")
    frame = polars.scan_delta(f"{store.folder}/facts/transmissions")
    return list(polars.SQLContext(t=frame).execute(f"{SUMS}{where}").collect().row(0))


def by_arrow(store, where):
    chosen = (ds.field("protocol") == "cbr") & (ds.field("seed") == 7) if where else None
    found = delta_table(store).to_pyarrow_dataset().to_table(["size", "airtime"], filter=chosen)
    return [len(found), *(sum(found[name].to_pylist()) for name in ("size", "airtime"))]


def read_bytes(ask):
    """The bytes that this process reads by system calls during `ask`."""
    before = _rchar()
    ask()
    return _rchar() - before


def _rchar():
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.parametrize("reader", [by_arrow, by_delta_sql, by_duckdb, by_polars])
def test_a_question_about_a_protocol_and_a_seed_reads_its_share(store, reader, monkeypatch):
    monkeypatch.setenv("POLARS_FORCE_ASYNC", "1")  # no memory maps, which nobody counts
    assert reader(store, WHERE) == right(store, lambda row: row["protocol"] == "cbr" and row["seed"] == 7)
    assert reader(store, "") == right(store, lambda row: True)
    chosen, whole = (read_bytes(lambda where=where: reader(store, where)) for where in (WHERE, ""))
    print(f"{reader.__name__}: {chosen} of {whole} bytes")
    assert chosen < whole / (2 if reader is by_polars else 4)  # Polars reads some columns of all row groups


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_reads_its_share(store, spark):
    def ask(where):
        files = map(str, roamcast.lake(store.folder).files("transmissions"))
        counted = {**CHECK_PAGES, "parquet.hadoop.vectored.io.enabled": "false"}  # others do not count all
        spark.read.options(**counted).parquet(*files).createOrReplaceTempView("t")
        [row] = spark.sql(f"{SUMS}{where}").collect()
        return list(row)

    assert ask(WHERE) == right(store, lambda row: row["protocol"] == "cbr" and row["seed"] == 7)
    chosen, whole = (input_bytes(spark, lambda where=where: ask(where)) for where in (WHERE, ""))
    print(f"Spark: {chosen} of {whole} bytes")
    assert chosen < whole / 4


def input_bytes(spark, ask):
    """The bytes that Spark's tasks read during `ask`, by Spark's own metrics."""
    group, java = uuid.uuid4().hex, spark.sparkContext._jsc.sc()
    spark.sparkContext.setJobGroup(group, "")
    ask()
    spark.sparkContext.setJobGroup("", "")
    java.listenerBus().waitUntilEmpty()
    tracker, result = spark.sparkContext.statusTracker(), java.statusStore()
    stages = [stage for job in tracker.getJobIdsForGroup(group) for stage in tracker.getJobInfo(job).stageIds]
    return sum(result.lastStageAttempt(stage).inputBytes() for stage in stages)


def test_every_row_carries_its_cell_and_runs_are_in_order(store):
    assert len(store.snapshot().batches) == 3
    for each in store.snapshot().batches.values():
        with open_file(store.facts, "transmissions", each) as file:
            index = RunIndex(open_table(file, "transmissions"))
        assert list(index.runs) == sorted(each.runs, key=lambda run: sort_key(run, CELLS[run]))
    rows = roamcast.lake(store.folder).dataset("transmissions").to_table()
    found = (
        rows.unify_dictionaries()
        .group_by(["run", "campaign", "protocol", "seed", "point"])
        .aggregate([([], "count_all")])
    )
    values = {
        row["run"]: (RunCell(row["campaign"], row["protocol"], row["seed"], row["point"]), row["count_all"])
        for row in found.to_pylist()
    }
    assert values == {run: (cell, ROWS) for run, cell in CELLS.items()}


def cells_of(store):
    """The cells that rows of the table `transmissions` carry, by run."""
    rows = roamcast.lake(store.folder).dataset("transmissions").to_table(["run", "protocol", "seed", "point"])
    return {row["run"]: (row["protocol"], row["seed"], row["point"]) for row in rows.to_pylist()}


def test_rows_get_the_cells_of_an_edited_campaign(tmp_path):
    made = CampaignFolder(tmp_path)
    made.create()
    runs = sorted(CELLS)[:3]
    for run in runs:
        stage(made, run, {"transmissions": transmissions(1).slice(0, 5)})
        Committer(None, made, CELLS).commit(ready(made))
    before = cells_of(made)
    assert before == {run: (CELLS[run].protocol, CELLS[run].seed, "{}") for run in runs}
    edited = CELLS | {runs[1]: RunCell("layout", "renamed", 3, '{"x":1}')}
    committer = Committer(None, made, edited)
    assert committer.count_relabelled(made.snapshot().batches.values()) == 1
    assert committer.relabel() == 1 and committer.relabel() == 0
    assert cells_of(made) == before | {runs[1]: ("renamed", 3, '{"x":1}')}
    assert made.snapshot().runs()[runs[1]].protocol == "renamed"
