"""Which task measures which runs, and what it tells of them."""

import pytest
from invented_facts import NODES, invent
from small_lake import ready, stage

from roamcast.lake.snapshot import Batch, CommittedRun, Snapshot, TableFile
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.metric_input import RunSettings
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.measuring import measure as measuring
from roamcast.pipeline.measuring.measure import MEASURED, is_small, measure, split_tasks

SETTING = RunSettings(NODES, 0.0, 250.0, 20, frozenset({"CommunityBeacon"}))


def snapshot_of(*batches):
    """Batches by the rows of their runs."""
    found, number = {}, 0
    for name, rows in enumerate(batches):
        runs = {}
        for count in rows:
            runs[f"{number:04d}"] = CommittedRun(rows=count, size=1)
            number += 1
        found[f"b{name}"] = Batch(f"b{name}", runs, {"drops": TableFile(size=1, rows=1, digest="")})
    return Snapshot(0, found)


def deal_out(snapshot, tasks, leave_out=()):
    settings = {run: SETTING for run in snapshot.runs() if run not in leave_out}
    found = split_tasks(snapshot, settings, tasks)
    assert all(portion.batch.runs == {} for portion in found)
    assert all(portion.batch.files == snapshot.batches[portion.batch.name].files for portion in found)
    assert all(setting is SETTING for portion in found for _, setting in portion.runs)
    return [(portion.batch.name, [run for run, _ in portion.runs]) for portion in found]


def test_a_task_takes_runs_of_a_batch_until_it_has_its_share_of_the_effort():
    rows = snapshot_of([30_000, 30_000, 40_000, 60_000, 30_000], [10_000])
    assert deal_out(rows, 2) == [  # half of 200,000 rows and 6 runs each
        ("b0", ["0000", "0001", "0002"]),
        ("b0", ["0003", "0004"]),
        ("b1", ["0005"]),
    ]
    assert deal_out(rows, 1) == [("b0", [f"000{number}" for number in range(5)]), ("b1", ["0005"])]


def test_no_task_is_made_for_less_than_is_worth_it():
    rows = snapshot_of([10_000, 20_000, 29_999, 1])
    assert deal_out(rows, 100) == [("b0", ["0000", "0001"]), ("b0", ["0002", "0003"])]


def test_many_runs_with_few_rows_are_shared_among_tasks_and_left_to_spark():
    rows = snapshot_of([11] * 4000)
    assert [len(runs) for _, runs in deal_out(rows, 8)] == [500] * 8
    done = list(rows.runs().values())
    assert is_small(done[:99]) and not is_small(done[:100])
    [long] = snapshot_of([980_000]).runs().values()
    assert is_small([long]) and not is_small([long, long])


def test_what_is_not_asked_for_counts_for_nothing():
    rows = snapshot_of([500_000, 60_000, 40_000], [70_000])
    assert deal_out(rows, 3, leave_out=["0000", "0003"]) == [("b0", ["0001"]), ("b0", ["0002"])]
    assert deal_out(rows, 3, leave_out=rows.runs()) == []


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    store = CampaignFolder(tmp_path_factory.mktemp("lake"))
    store.create()
    for seed in range(4):
        stage(store, f"{seed:08d}", invent(seed))
        if seed % 2:
            Committer(None, store).commit(ready(store))
    return store


def by_run(table):
    return sorted(table.to_pylist(), key=lambda row: row["run"])


def test_only_the_metrics_that_are_asked_for_are_measured_however_runs_are_dealt(lake, monkeypatch):
    snapshot = lake.snapshot()
    settings = dict.fromkeys(snapshot.runs(), SETTING)
    names = ["messages", "delivery_rate"]
    found = []
    for least in (50_000, 1):
        monkeypatch.setattr(measuring, "_LEAST_EFFORT", least)
        table = measure(None, lake.facts, snapshot, settings, constants=MetricConstants(), names=names)
        assert table.schema == MEASURED
        found.append(by_run(table))
    assert found[0] == found[1] and len(found[0]) == 4
    row = found[0][0]
    assert row["messages"] > 0 and row["error"] is None
    assert {name for name, value in row.items() if value is not None} == {"run", *names}


def test_what_is_wrong_with_a_run_is_one_line(lake, monkeypatch):
    def fail(*_):
        raise ValueError("some\n  thing " + "x" * 1000)

    monkeypatch.setattr(measuring, "evaluate", fail)
    settings = dict.fromkeys(lake.snapshot().runs(), SETTING)
    found = measure(None, lake.facts, lake.snapshot(), settings, constants=MetricConstants()).to_pylist()
    assert {row["error"] for row in found} == {("ValueError: some thing " + "x" * 1000)[:300]}
    assert len(found) == 4 and {row["messages"] for row in found} == {None}
