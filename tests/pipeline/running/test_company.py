"""Short runs share a process, and each is as if it had been alone: its facts, its limits, its failures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import PlannedRun, make_plan
from roamcast.lake.staging import Staging
from roamcast.pipeline.running.task import (
    RunTask,
    describe_router,
    execute,
    execute_all,
    find_runner,
    supervisor_of,
)
from roamcast.routing.catalogue import find
from roamcast.routing.reference import own_protocols

SCENARIOS = Path(__file__).parents[3] / "scenarios"
RUNNER = "synthetic_runner:run"
RUN = PlannedRun("0" * 20, "flooding", "{}", 1, "{}", 10.0, 0.0, 250.0, 20, 10, "v", "{}", "command")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """How often a run was begun."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(folder))
    return lambda run: len(list(folder.glob(f"{run}-*")))


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Tasks of runs that behave as their names say."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    find_runner(RUNNER)

    def tasks(*names, shares=True, seconds=20.0, memory=300e6):
        runs = [
            replace(RUN, id=f"{number:020x}", scenario=json.dumps({"name": name}))
            for number, name in enumerate(names)
        ]
        return [RunTask(run, str(tmp_path / "staged"), seconds, memory, RUNNER, shares) for run in runs]

    yield tasks
    supervisor_of(RUNNER).stop()


def test_short_runs_of_every_protocol_write_the_same_in_company_as_alone(tmp_path):
    protocols = sorted(own_protocols())
    runs = make_plan(
        Campaign.model_validate(
            {
                "title": "every one",
                "scenario": SCENARIOS / "shopping.toml",
                "seeds": 1,
                "protocols": {name: {} for name in protocols},
                "sweeps": {
                    "all": {
                        "protocols": protocols,
                        "set": {
                            "duration": "10 s",
                            "warmup": "0 s",
                            "quiet": "0 s",
                            "nodes.walkers.count": 6,
                            "workload.subscribe.walkers.count": 6,
                        },
                    }
                },
            }
        )
    ).runs
    try:
        together = {expected["run"]: expected for expected in execute_all(tasks_in(tmp_path / "a", runs))}
        backwards = {
            expected["run"]: expected for expected in execute_all(tasks_in(tmp_path / "b", runs[::-1]))
        }
        alone = {expected["run"]: expected for expected in map(execute, tasks_in(tmp_path / "c", runs))}
    finally:
        supervisor_of("any").stop()
    assert len(alone) == len(protocols)
    for run, expected in alone.items():
        assert expected["status"] == "done", expected
        assert together[run]["files"] == backwards[run]["files"] == expected["files"]
        assert expected["rows"] > 0


def test_a_router_shares_a_process_only_if_its_own_class_says_so(added):
    class Child(find("cbr")):
        """Inherits all but the declaration."""

    added("child", Child)
    said = {name: describe_router(name) for name in [*own_protocols(), "child"]}
    assert said.pop("child") == {"shares": False, "file": None}
    assert {each["shares"] for each in said.values()} == {True}


def tasks_in(folder, runs):
    return [RunTask(run, str(folder), 60.0, 1e9, shares=True) for run in runs]


def test_runs_in_company_share_a_process_and_are_staged_as_others_are(ask, calls, tmp_path):
    result = list(execute_all(ask("a", "b", "c")))
    assert [each["status"] for each in result] == ["done"] * 3
    assert [each["run"] for each in result] == [f"{number:020x}" for number in range(3)]
    assert [calls(each["run"]) for each in result] == [1, 1, 1]
    staging = Staging(str(tmp_path / "staged"))
    for each in result:
        assert staging.read_manifest(each["run"]) == each
        assert each["cpu"] > 0 and each["memory"] > 0 and each["wall"] > 0 and each["version"] == "v"
        for name, file in each["files"].items():
            assert (tmp_path / "staged" / f"run={each['run']}" / name).stat().st_size == file["size"]
    assert not list((tmp_path / "staged").glob(".work-*"))
    assert len({processes(each["run"], tmp_path) for each in result}) == 1


def processes(run, tmp_path):
    """The names of the files that its calls left tell the process."""
    (call,) = (tmp_path / "calls").glob(f"{run}-*")
    return call.name.split("-")[1]


def test_runs_of_routers_that_do_not_declare_to_share_are_alone(ask, calls, tmp_path):
    result = list(execute_all(ask("a", "b", shares=False)))
    assert [each["status"] for each in result] == ["done"] * 2
    assert len({processes(each["run"], tmp_path) for each in result}) == 2


@pytest.mark.parametrize(
    ("how", "error", "limits"),
    [
        ("raise", "RuntimeError: the radio caught fire", {}),
        ("die", "its process was killed by SIGABRT", {}),
        ("hang", "took longer than its limit of 3 s", {"seconds": 3.0}),
        ("hog", "used more memory than its limit", {}),
        ("shared hog", "used more memory than its limit", {}),
        ("killed always", "its process was killed by SIGKILL, twice", {}),
    ],
)
def test_what_goes_wrong_in_company_goes_wrong_alone_and_the_others_are_done(ask, calls, how, error, limits):
    result = list(execute_all(ask("a", how, "b", **limits)))
    assert [each["status"] for each in result] == ["done", "failed", "done"]
    assert result[1]["error"].startswith(error)
    assert calls(result[0]["run"]) == 1
    assert calls(result[1]["run"]) == (3 if how == "killed always" else 2)


def test_a_run_that_only_failed_in_company_is_done_alone(ask, calls):
    result = list(execute_all(ask("a", "only alone", "b")))
    assert [each["status"] for each in result] == ["done"] * 3
    assert [calls(each["run"]) for each in result] == [1, 2, 1]


def test_a_task_tried_again_does_together_what_is_not_yet_staged(ask, calls):
    tasks = ask("a", "b", "c", "d")
    list(execute_all(tasks))
    for task in tasks[1:3]:
        Staging(task.staged).remove(task.run.id)
    result = list(execute_all(tasks, again=True))
    assert [each["status"] for each in result] == ["done"] * 4
    assert [calls(each["run"]) for each in result] == [1, 2, 2, 1]
