import metric_twins
import pyarrow as pa
import pytest
from invented_facts import NODES, invent
from small_lake import ready, stage

from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.metric_input import RunSettings
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.measuring.measure import measure, measure_task, split_tasks

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def settings_of(runs, warmup):
    return dict.fromkeys(runs, RunSettings(NODES, warmup, 250.0, 20, frozenset({"CommunityBeacon"})))


def commit(folder, runs):
    store = CampaignFolder(folder)
    store.create()
    for run, facts in runs.items():
        stage(store, run, facts)
    Committer(None, store).commit(ready(store))
    return store


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    runs = {f"{seed:08d}": invent(seed) for seed in range(24)}
    return commit(tmp_path_factory.mktemp("lake"), runs), runs


@pytest.mark.parametrize("warmup", [0.0, 40.0])
def test_every_metric_equals_its_slow_twin(spark, invented, warmup):
    store, runs = invented
    settings = settings_of(runs, warmup)
    found = measure(spark, store.facts, store.snapshot(), settings, constants=MetricConstants()).to_pylist()
    assert {row["run"] for row in found} == runs.keys()
    for row in found:
        expected = metric_twins.measure(runs[row["run"]], warmup, 250.0, 20)
        for metric in METRICS:
            result = None if expected[metric] is None else pytest.approx(expected[metric], rel=1e-12)
            assert row[metric] == result, (row["run"], metric)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_row_groups_of_any_length_with_plain_words_give_the_same_metrics(tmp_path, monkeypatch, rows):
    monkeypatch.setattr("roamcast.lake.batch.GROUP_ROWS", rows)
    runs = {f"{seed:08d}": invent(seed) for seed in range(3)}
    plain = {
        run: {
            name: pa.table(
                [c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for c in table],
                names=table.column_names,
            )
            for name, table in facts.items()
        }
        for run, facts in runs.items()
    }
    store = commit(tmp_path, plain)
    for portion in split_tasks(store.snapshot(), settings_of(runs, 40.0), 2):
        for row in measure_task(store.facts, portion, MetricConstants(), list(METRICS)):
            expected = metric_twins.measure(runs[row["run"]], 40.0, 250.0, 20)
            for metric in METRICS:
                result = None if expected[metric] is None else pytest.approx(expected[metric], rel=1e-12)
                assert row[metric] == result, metric


def test_no_runs_give_an_empty_table_of_the_same_shape(spark, tmp_path):
    store = commit(tmp_path, {})
    found = measure(spark, store.facts, store.snapshot(), {}, constants=MetricConstants())
    assert found.column_names == ["run", *METRICS, "error"]
    assert len(found) == 0


def test_a_run_that_cannot_be_read_is_a_row_that_says_so_beside_the_others(tmp_path):
    runs = {f"{seed:08d}": invent(seed) for seed in (3, 4)}
    store = CampaignFolder(tmp_path)
    store.create()
    for run, facts in runs.items():
        stage(store, run, facts)
        Committer(None, store).commit(ready(store))
    first = next(batch for batch in store.snapshot().batches.values() if "00000003" in batch.runs)
    (store.facts / "legs" / f"{first.name}.parquet").remove()
    rows = [
        row
        for portion in split_tasks(store.snapshot(), settings_of(runs, 0.0), 2)
        for row in measure_task(store.facts, portion, MetricConstants(), list(METRICS))
    ]
    response = {row["run"]: row.get("error") for row in rows}
    assert "No such file" in response["00000003"] and "legs" in response["00000003"]
    assert response["00000004"] is None
