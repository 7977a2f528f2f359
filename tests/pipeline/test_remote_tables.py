"""Queries over remote files: which columns and predicates reach the reader, and that rows stay the same."""

import itertools
import operator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)
from small_lake import content, ready, stage

from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.remote_tables import named_columns, read_rows, remote_frame, to_expression
from roamcast.pipeline.views import open_tables

SCHEMA = pa.schema([("run", pa.string()), ("node", pa.int32()), ("time", pa.float64())])
COMPARE = {
    EqualTo: operator.eq,
    GreaterThan: operator.gt,
    GreaterThanOrEqual: operator.ge,
    LessThan: operator.lt,
    LessThanOrEqual: operator.le,
}
NUMBERS = range(-1, 2)
FILTERS = [kind(("node",), number) for kind in COMPARE for number in NUMBERS]
FILTERS += [In(("node",), (number, 3)) for number in NUMBERS]


def holds(filter, row):
    value = row["node"]
    if value is None:
        return False
    if isinstance(filter, In):
        return value in filter.value
    return COMPARE[type(filter)](value, filter.value)


def test_predicates_select_the_rows_that_sql_does(tmp_path):
    nodes = [None, *range(-2, 4), None, 0]
    rows = [{"run": "a", "node": node, "time": float(n)} for n, node in enumerate(nodes)]
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), file, row_group_size=2)
    for filters in ([], *([one] for one in FILTERS), *itertools.combinations(FILTERS, 2)):
        found = read_rows(StorageUrl(file), SCHEMA, to_expression(filters))
        expected = [row for row in rows if all(holds(filter, row) for filter in filters)]
        assert [row for batch in found for row in batch.to_pylist()] == expected, filters


def test_other_predicates_are_left_to_spark():
    others = [IsNotNull(("node",)), Not(EqualTo(("node",), 1)), EqualTo(("a", "b"), 1)]
    assert to_expression(others) is None
    assert to_expression([*others, EqualTo(("node",), 1)]).equals(to_expression([EqualTo(("node",), 1)]))


def test_columns_that_a_file_lacks_are_null(tmp_path):
    file = tmp_path / "old.parquet"
    pq.write_table(pa.table({"run": ["a"]}), file)
    [batch] = read_rows(StorageUrl(file), SCHEMA, None)
    assert batch.to_pylist() == [{"run": "a", "node": None, "time": None}]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("select NODE from t where time > 3", ["node", "time"]),
        ("select count(*) from t", ["run"]),
        ("select count( * ), max(time) from t", ["time"]),
        ("select t.* from t", SCHEMA.names),
        ("select * from t", SCHEMA.names),
        ("select * except (node) from t", SCHEMA.names),
        ("select struct(*) from t", SCHEMA.names),
        ("select node * 2, 3 * time from t", ["node", "time"]),
        ("select 1 from t natural join u", SCHEMA.names),
        ("with x as (table t) select 1 from x", SCHEMA.names),
        ("from t |> aggregate count(*)", SCHEMA.names),
        ("select `node` from t", ["node"]),
    ],
)
def test_columns_are_those_that_a_query_may_mean(query, columns):
    assert named_columns(query, SCHEMA) == columns


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_source_has_the_rows_of_the_lake_and_reads_fewer(spark, tmp_path):
    store = CampaignFolder(tmp_path)
    store.create()
    for number in range(3):
        stage(store, f"{number:020x}")
        Committer(None, store).commit(ready(store))
    (tmp_path / "campaign.json").write_text("{}")
    lake = open_tables(str(tmp_path))
    names = ["run", "publication", "node", "time"]
    frame = remote_frame(spark, lake, "deliveries", names)
    key = ["run", "publication"]
    found = frame.toArrow().sort_by([(name, "ascending") for name in key])
    expected = content(store.folder, "deliveries")
    assert found.to_pylist() == [{"run": run} | row for run in sorted(expected) for row in expected[run]]
    assert len(found) == 9
    chosen = frame.where(f"run = '{1:020x}' and node >= 1")
    assert chosen.count() == 2
    assert remote_frame(spark, lake, "requests", ["run"]).count() == 0
