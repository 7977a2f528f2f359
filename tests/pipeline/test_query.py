"""Answers to queries: one job however many files, the same on every engine, and settings by size."""

import itertools
from pathlib import Path

import pyarrow as pa
import pytest
from small_lake import ready, stage

import roamcast
from roamcast.errors import UserError
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.duck import ask_duckdb
from roamcast.pipeline.query import answer, arrow_rows, run_query
from roamcast.pipeline.spark.sizing import LARGE, driver_memory, java_options, shuffle_partitions
from roamcast.pipeline.views import named_tables, open_tables

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"
BATCHES = 6


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A campaign of several batches, each with its own files."""
    folder = tmp_path_factory.mktemp("lake")
    store = CampaignFolder(folder)
    store.create()
    facts = roamcast.run(SQUARE).facts
    for seed in range(BATCHES):
        stage(store, f"{seed:08x}", {name: facts[name] for name in ("deliveries", "drops")})
        Committer(None, store).commit(ready(store))
    (folder / "campaign.json").write_text("{}")
    return open_tables(str(folder))


def count_jobs(spark, work):
    group = f"count-{next(_groups)}"
    spark.sparkContext.setJobGroup(group, "")
    try:
        found = work()
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    return found, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


_groups = itertools.count()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_all_rows_come_from_one_job(spark, lake):
    spark.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))  # a partition per file
    try:
        frame = run_query(spark, lake, "select run, node, time from deliveries")
        assert frame.rdd.getNumPartitions() == BATCHES
        rows, jobs = count_jobs(spark, lambda: list(answer(frame, lake).rows))
        one_by_one, many = count_jobs(spark, lambda: [tuple(row) for row in frame.toLocalIterator()])
        few, limited = count_jobs(spark, lambda: list(answer(frame, lake, 3).rows))
    finally:
        spark.conf.unset("spark.sql.files.openCostInBytes")
    assert rows == one_by_one and len(rows) == lake.dataset("deliveries").count_rows()
    assert (jobs, limited) == (1, 1) and many == BATCHES
    assert few == rows[:3]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_result_that_a_driver_may_not_collect_comes_partition_by_partition(spark, lake):
    frame = run_query(spark, lake, "select id, cast(id as string) as text from range(0, 40, 1, 4)")

    class TooLarge:
        """A frame whose rows exceed spark.driver.maxResultSize, which is fixed when Spark starts."""

        schema, sparkSession = frame.schema, spark

        def toArrow(self):
            raise RuntimeError("Total size of results is bigger than spark.driver.maxResultSize (1024.0 MiB)")

        def toLocalIterator(self, prefetchPartitions=False):
            return frame.toLocalIterator(prefetchPartitions)

    assert list(answer(TooLarge(), lake).rows) == [(number, str(number)) for number in range(40)]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_columns_may_have_the_same_name_and_any_type(spark, lake):
    query = (
        "select 1 a, 'x' a, map('k', 2) m, struct(1 b, array(struct(2 c)) d) s, "
        "timestamp'2020-01-02 03:04:05' t, cast(null as double) n"
    )
    found = answer(run_query(spark, lake, query), lake)
    assert found.columns == ["a", "a", "m", "s", "t", "n"]
    assert found.numeric[:2] == [True, False]
    [row] = found.rows
    assert row[:4] == (1, "x", {"k": 2}, {"b": 1, "d": [{"c": 2}]})
    assert str(row[4]) == "2020-01-02 03:04:05" and row[5] is None


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_an_error_while_rows_are_computed_is_one_of_the_query(spark, lake):
    frame = run_query(spark, lake, "select 1 / (node - node) from deliveries")
    with pytest.raises(UserError, match=r"invalid query: .*zero.*; the tables are about"):
        list(answer(frame, lake).rows)


def test_only_the_tables_that_a_query_names_become_views(lake):
    assert named_tables("select count(*) from Drops d join `deliveries` using (run)", lake) == [
        "deliveries",
        "drops",
    ]
    assert named_tables("select 1", lake) == []
    for statement in ("show tables", "describe drops", "explain select * from drops", ""):
        assert named_tables(statement, lake) == lake.tables


def test_sizes_are_those_of_the_files(lake):
    facts = Path(str(lake.facts))
    assert lake.size("drops") == sum(f.stat().st_size for f in (facts / "drops").glob("*.parquet")) > 0
    assert lake.size("requests") == 0


def test_rows_of_arrow_tables_are_those_of_spark():
    table = pa.table({"a": [1, None], "b": [[{"c": 1}], []]})
    assert list(arrow_rows(table)) == [(1, [{"c": 1}]), (None, [])]


def test_partitions_and_memory_grow_with_the_input():
    sizes = [0, 1, 10**6, 10**8, 10**9, 10**10, 10**12, 10**15]
    partitions = [shuffle_partitions(size) for size in sizes]
    assert partitions == sorted(partitions) and partitions[0] == 8 and partitions[-1] == 4096
    assert all(size / shuffle_partitions(size) <= 16e6 for size in sizes if shuffle_partitions(size) < 4096)
    assert driver_memory(LARGE - 1, 64 << 30) == "2048m"
    assert driver_memory(LARGE, 64 << 30) == f"{32 << 10}m"
    assert driver_memory(LARGE, 2 << 30) == "2048m"
    assert "TieredStopAtLevel" in java_options(0) and not java_options(LARGE)


def test_duckdb_answers_as_spark_does_or_says_how_to_get_it(lake):
    query = "select run, count(*) n, sum(node) nodes from deliveries group by run order by run"
    try:
        import duckdb  # noqa: F401
    except ImportError:
        with pytest.raises(UserError, match="pip install duckdb"):
            ask_duckdb(lake, query)
        return
    found = ask_duckdb(lake, query)
    rows = lake.dataset("deliveries").to_table(columns=["run", "node"]).to_pylist()
    expected = {}
    for row in rows:
        count, nodes = expected.get(row["run"], (0, 0))
        expected[row["run"]] = (count + 1, nodes + row["node"])
    assert [(run, (n, nodes)) for run, n, nodes in found.rows] == sorted(expected.items())
    assert found.columns == ["run", "n", "nodes"] and found.numeric == [False, True, True]
    for wrong in ("select wrong from deliveries", "selec"):
        with pytest.raises(UserError, match="invalid query"):
            list(ask_duckdb(lake, wrong).rows)
