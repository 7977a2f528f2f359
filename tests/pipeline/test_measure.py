import metric_twins
import pyarrow.parquet as pq
import pytest
from invented_facts import invent

from roamcast.pipeline.campaign import Measure
from roamcast.pipeline.measure import measure
from roamcast.pipeline.metrics import METRICS

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
    rows = [(run, warmup, 250.0, 20) for run in runs]
    return spark.createDataFrame(rows, "run string, warmup double, radio_range double, header long")


@pytest.mark.parametrize("warmup", [0.0, 40.0])
def test_every_metric_equals_its_slow_twin(spark, invented, warmup):
    folder, runs = invented
    found = measure(spark, plan_of(spark, runs, warmup), folder, list(runs), Measure()).collect()
    assert {row.run for row in found} == runs.keys()
    for row in found:
        expected = metric_twins.measure(runs[row.run], warmup, 250.0, 20)
        for metric in METRICS:
            told = None if expected[metric] is None else pytest.approx(expected[metric], rel=1e-12)
            assert row[metric] == told, (row.run, metric)


def test_no_runs_give_an_empty_table_of_the_same_shape(spark, tmp_path):
    found = measure(spark, plan_of(spark, ["none"], 0.0).where("false"), tmp_path, [], Measure())
    assert found.columns == ["run", *METRICS]
    assert found.count() == 0
