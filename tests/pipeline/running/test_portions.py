"""Short runs share a Spark task; a long run, and each of a few, is a task alone."""

import json
import pickle
from dataclasses import replace
from hashlib import sha256

import pytest

from roamcast.campaign.campaign import RunLimits
from roamcast.campaign.plan import PlannedRun
from roamcast.lake.staging import Staging
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.running import task as tasks
from roamcast.pipeline.running.simulate import make_tasks
from roamcast.pipeline.running.task import RunTask, execute_all
from roamcast.pipeline.running.task_batches import MOST_RUNS, MOST_SIZE, batch_runs

SHORT = PlannedRun("0" * 20, "flooding", "{}", 1, "{}", 1.0, 0.0, 250.0, 20, 10, "v", "{}", "command")


def some(count, duration=1.0):
    return [replace(SHORT, id=f"{number:020x}", duration=duration) for number in range(count)]


def test_many_short_runs_share_tasks_in_their_order():
    runs = some(2000)
    found = batch_runs(runs, slots=2)
    assert [run for each in found for run in each] == runs
    assert {len(each) for each in found[:-1]} == {MOST_RUNS}


def test_a_batch_has_one_scenario_so_that_tasks_of_many_runs_are_small(tmp_path):
    scenarios = [json.dumps({"name": f"scenario {number}", "filler": "x" * 5000}) for number in range(8)]
    plan = [
        replace(SHORT, id=sha256(f"{scenario}{seed}".encode()).hexdigest()[:20], seed=seed, scenario=scenario)
        for scenario in scenarios
        for seed in range(2 * MOST_RUNS)
    ]
    batches = list(make_tasks(plan, CampaignFolder(tmp_path), RunLimits(), slots=2))
    assert {len(batch) for batch in batches} == {MOST_RUNS}
    assert all(len({task.run.scenario for task in batch}) == 1 for batch in batches)
    assert sum(len(pickle.dumps(batch)) for batch in batches) / len(plan) < 500


@pytest.mark.parametrize("count", [1, 15, 16, 31])
def test_a_few_runs_are_a_task_each(count):
    assert [len(each) for each in batch_runs(some(count), slots=2)] == [1] * count


def test_every_slot_has_enough_tasks_to_even_out():
    for slots in (1, 4, 7):
        for count in (50, 500, 5000):
            assert len(batch_runs(some(count), slots)) >= min(8 * slots, count)


def test_a_long_run_is_a_task_alone_and_no_task_is_longer_than_it_may_be():
    long, middling = some(40, duration=MOST_SIZE), some(400, duration=MOST_SIZE / 35)
    found = batch_runs([*long, *middling], slots=1)
    assert [len(each) for each in found[:40]] == [1] * 40
    assert {len(each) for each in found[40:-1]} == {
        3
    }  # ten nodes: a third of what a task may hold, and a bit


def pretend(monkeypatch, tmp_path, full=None):
    """Tasks whose runs are staged at once, and the list of those that were really done."""
    staging, done = Staging(tmp_path), []

    def execute(task):
        done.append(task.run.id)
        status = "disk full" if task.run.id == full else "done"
        values = {"run": task.run.id, "status": status, "error": "", "files": {}}
        if status == "done":
            staging.write_manifest(values)
        return values

    monkeypatch.setattr(tasks, "execute", execute)
    return [RunTask(run, str(tmp_path), 1.0, 1e9) for run in some(5)], done


def test_a_task_that_is_tried_again_does_what_was_not_yet_staged(monkeypatch, tmp_path):
    given, done = pretend(monkeypatch, tmp_path)
    for number, _ in enumerate(execute_all(given)):
        if number == 2:
            break  # the worker is lost
    Staging(tmp_path).remove(given[0].run.id)
    result = list(execute_all(given, again=True))
    assert [each["run"] for each in result] == [task.run.id for task in given]
    assert [done.count(task.run.id) for task in given] == [2, 1, 1, 1, 1]


def test_a_full_disk_ends_the_task(monkeypatch, tmp_path):
    given, done = pretend(monkeypatch, tmp_path, full=some(5)[1].id)
    assert [each["status"] for each in execute_all(given)] == ["done", "disk full"]
    assert len(done) == 2
