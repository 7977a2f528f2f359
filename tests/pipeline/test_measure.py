import metric_twins
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from invented_facts import NODES, invent

from roamcast.metrics.constants import Constants
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.measure import measure, measure_run

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    runs = {f"{seed:08d}": invent(seed) for seed in range(24)}
    for run, facts in runs.items():
        (folder / f"run={run}").mkdir()
        for name, table in facts.items():
            pq.write_table(table, folder / f"run={run}" / f"{name}.parquet")
    return folder, runs


def plan_of(spark, runs, warmup):
    rows = [(run, NODES, warmup, 250.0, 20) for run in runs]
    return spark.createDataFrame(
        rows, "run string, nodes long, warmup double, radio_range double, header long"
    )


@pytest.mark.parametrize("warmup", [0.0, 40.0])
def test_every_metric_equals_its_slow_twin(spark, invented, warmup):
    folder, runs = invented
    found = measure(plan_of(spark, runs, warmup), folder, Constants()).collect()
    assert {row.run for row in found} == runs.keys()
    for row in found:
        expected = metric_twins.measure(runs[row.run], warmup, 250.0, 20)
        for metric in METRICS:
            told = None if expected[metric] is None else pytest.approx(expected[metric], rel=1e-12)
            assert row[metric] == told, (row.run, metric)


@pytest.mark.parametrize("seed", range(24))
def test_files_in_many_pieces_with_plain_words_give_the_same_metrics(tmp_path, seed):
    facts = invent(seed)
    folder = tmp_path / "run=one"
    folder.mkdir()
    for name, table in facts.items():
        plain = pa.table(
            [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table],
            names=table.column_names,
        )
        pq.write_table(plain, folder / f"{name}.parquet", row_group_size=7)
    run = {"run": "one", "nodes": NODES, "warmup": 40.0, "radio_range": 250.0, "header": 20}
    found = measure_run(str(tmp_path), run, Constants())
    expected = metric_twins.measure(facts, 40.0, 250.0, 20)
    for metric in METRICS:
        told = None if expected[metric] is None else pytest.approx(expected[metric], rel=1e-12)
        assert found[metric] == told, metric


def test_no_runs_give_an_empty_table_of_the_same_shape(spark, tmp_path):
    found = measure(plan_of(spark, ["none"], 0.0).where("false"), tmp_path, Constants())
    assert found.columns == ["run", *METRICS]
    assert found.count() == 0
