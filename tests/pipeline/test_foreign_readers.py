"""Other programs read the rows that count, each once, during and after a campaign with compactions."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, QueryBuilder
from invented_facts import invent
from small_lake import ready, stage
from test_store import asked

import roamcast
from roamcast.lake.columns import TABLES
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing import compaction
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.query import run_query
from roamcast.pipeline.views import open_tables


def numbers(table):
    """The numeric columns of a table."""
    schema = TABLES[table]
    return [
        field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    ]


def summarise(rows, table):
    """The number of rows and the sum of each numeric column, without NaN."""
    columns = [rows[name] for name in numbers(table)]
    sums = [pc.sum(pc.filter(column, pc.is_finite(column))).as_py() for column in columns]
    return [len(rows), *(round(each or 0.0, 6) for each in sums)]


def by_delta(folder, table):
    return summarise(pa.table(DeltaTable(f"{folder}/facts/{table}").to_pyarrow_table()), table)


def by_pandas(folder, table):
    frame = DeltaTable(f"{folder}/facts/{table}").to_pandas()
    return summarise(pa.Table.from_pandas(frame, preserve_index=False), table)


def by_delta_sql(folder, table):
    names = ", ".join(f'"{name}"' for name in ["run", *numbers(table)])
    query = QueryBuilder().register("t", DeltaTable(f"{folder}/facts/{table}"))
    return summarise(pa.table(query.execute(f"select {names} from t").read_all()), table)


def by_polars(folder, table):
    polars = pytest.importorskip("polars", reason="installed by make validate")
    return summarise(polars.scan_delta(f"{folder}/facts/{table}").collect().to_arrow(), table)


def by_duckdb(folder, table):
    duckdb = pytest.importorskip("duckdb", reason="installed by make validate")
    found = DeltaTable(f"{folder}/facts/{table}").to_pyarrow_dataset()
    connection = duckdb.connect()
    connection.register("t", found)
    return summarise(connection.sql("select * from t").to_arrow_table(), table)


RUNS = [f"{number:020x}" for number in range(1, compaction.FEW + 2)]
READERS = [by_delta, by_pandas, by_delta_sql, by_polars, by_duckdb]


def by_lake(folder, table):
    return summarise(roamcast.lake(folder).dataset(table).to_table(), table)


def grow(folder):
    """Commit runs one by one and compact; yield after each step."""
    store = CampaignFolder(folder)
    store.create()
    store.write_campaign(asked())
    for number, run in enumerate(RUNS):
        stage(store, run, invent(number))
        Committer(None, store).commit(ready(store))
        yield store
        Committer(None, store).compact()
        yield store
    store.tidy()
    yield store


@pytest.mark.parametrize("reader", READERS)
def test_every_table_has_the_same_rows_for_every_reader_at_each_step(tmp_path, reader):
    steps = 0
    for store in grow(tmp_path / "out"):
        steps += 1
        for table in TABLES if steps % 6 == 1 else ("deliveries", "drops"):
            assert reader(store.folder, table) == by_lake(store.folder, table), (steps, table)
        assert DeltaTable(f"{store.folder}/facts/runs").count() == len(store.snapshot().runs())
    assert steps == 2 * len(RUNS) + 1
    assert len(store.snapshot().batches) == 2


def test_a_log_of_facts_that_is_lost_or_unreadable_is_rebuilt(tmp_path):
    *_, store = grow(tmp_path / "out")
    right = by_delta(store.folder, "drops")
    for entry in (store.facts.local / "drops" / "_delta_log").iterdir():
        entry.write_bytes(b"{")
    store.create()
    store.tidy()
    assert by_delta(store.folder, "drops") == right == by_lake(store.folder, "drops")


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_sql_sees_the_same_rows_of_every_table_during_a_campaign_and_after_it(tmp_path, spark):
    for number, store in enumerate(grow(tmp_path / "out"), 1):
        if number not in (compaction.FEW, 2 * len(RUNS) + 1):  # before the compaction, and at the end
            continue
        tables = open_tables(str(store.folder))
        for table in TABLES:
            sums = ", ".join(f"coalesce(sum(nanvl(double(`{name}`), 0)), 0)" for name in numbers(table))
            [row] = run_query(spark, tables, f"select {', '.join(['count(*)', sums])} from {table}").collect()
            for reader in READERS:
                result = reader(store.folder, table)
                assert list(row) == pytest.approx(result), (number, table, reader.__name__)
