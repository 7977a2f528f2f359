"""Short runs begin while Spark starts; what has not ended when it is there is left to it."""

import json
import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest
from test_conduct import COUNT, campaign

from roamcast.campaign.plan import PlannedRun
from roamcast.lake.staging import Staging
from roamcast.pipeline import campaign_runner as conducting
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner, ProgressListener
from roamcast.pipeline.running.early_runs import EarlyRuns, choose_short
from roamcast.pipeline.running.task import RunTask

RUNNER = "synthetic_runner:run"
RUN = PlannedRun("0" * 20, "flooding", "{}", 1, "{}", 10.0, 0.0, 250.0, 20, 10, "v", "{}", "command")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(folder))
    return folder


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Portions of one run each, which behave as their names say."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))

    def portions(*names):
        runs = [
            replace(RUN, id=f"{number:020x}", scenario=json.dumps({"name": name}))
            for number, name in enumerate(names)
        ]
        return [[RunTask(run, str(tmp_path / "staged"), 20.0, 300e6, RUNNER)] for run in runs]

    return portions


def until(true, seconds=20.0):
    """Wait for what another process does."""
    deadline = monotonic() + seconds
    while not true():
        assert monotonic() < deadline
        sleep(0.005)


def test_runs_are_done_and_staged_as_tasks_do_them_and_then_all_is_over(ask, tmp_path):
    heard, over = [], threading.Event()
    with EarlyRuns(ask("fine", "raise", "fine"), 2, heard.append, over.set) as ahead:
        assert over.wait(20)
        ended = ahead.finish()
    statuses = {f"{number:020x}": status for number, status in enumerate(("done", "failed", "done"))}
    assert ended == statuses
    assert {each["run"]: each["status"] for each in heard} == statuses
    staged = Staging(str(tmp_path / "staged")).survey()
    assert {run: expected["status"] for run, expected in staged.items()} == statuses
    assert staged[f"{1:020x}"]["error"].startswith("RuntimeError: the radio caught fire")


def test_when_it_is_ended_what_is_under_way_is_waited_for_and_nothing_more_begins(ask, calls):
    heard = []
    with EarlyRuns(ask(*["fine"] * 8), 1, heard.append, lambda: heard.append("over")) as ahead:
        until(lambda: heard)
        ended = ahead.finish()
    assert 1 <= len(ended) < 8 and set(ended.values()) == {"done"}
    assert len(list(calls.iterdir())) == len(ended) == len(heard)


def test_runs_of_a_process_that_is_killed_are_left_and_nothing_of_it_stays(ask, calls, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_HOLD", "0")
    over = []
    with EarlyRuns(ask("held", "held"), 1, then=lambda: over.append(True)) as ahead:
        until(lambda: list(calls.iterdir()))
        run = int(next(calls.iterdir()).name.split("-")[1])
        os.kill(ahead._workers[0][0].pid, signal.SIGKILL)
        assert ahead.finish() == {}
        until(lambda: not Path(f"/proc/{run}").exists())
    assert not over


def test_who_leaves_without_ending_it_waits_for_nothing(ask, calls, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_HOLD", "0")
    with pytest.raises(KeyboardInterrupt), EarlyRuns(ask("held", "held"), 2):
        until(lambda: len(list(calls.iterdir())) == 2)
        raise KeyboardInterrupt
    runs = [int(file.name.split("-")[1]) for file in calls.iterdir()]
    until(lambda: not any(Path(f"/proc/{run}").exists() for run in runs))


def test_where_nothing_is_to_do_nothing_is_started():
    over = []
    with EarlyRuns([], 2, then=lambda: over.append(True)) as ahead:
        assert ahead.finish() == {} and not ahead._workers
    assert not over


def test_long_runs_are_not_begun():
    short, long = replace(RUN, duration=5_000.0), replace(RUN, duration=5_001.0)
    assert choose_short([short, long]) == [short]


def ended_of(progress):
    """How many runs the bar shows as ended, and of how many."""
    ended = progress.earlier + progress.earlier_failed + progress.done + progress.failed
    return ended, progress.planned


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_run_that_failed_before_spark_was_there_is_not_tried_again_by_the_same_command(
    spark, tmp_path, calls, monkeypatch
):
    begun = []

    @contextmanager
    def session(*_, **__):
        """As soon as the runs have begun that it must not repeat."""
        begun.append(True)
        until(lambda: len(list(calls.iterdir())) == 1 + len(begun))
        yield spark

    monkeypatch.setattr(conducting, "open_session", session)
    points = [{"name": "fine"}, {"name": "raise"}]
    sweep = {"protocols": ["flooding"], "points": points, "set": {COUNT: 10}}
    asked = campaign(seeds=1, claims={}, sweeps={"people": sweep})
    said = []
    for turn in (1, 2):
        shown = []
        listener = ProgressListener(
            said.append, lambda progress, shown=shown: shown.append(ended_of(progress))
        )
        conductor = CampaignRunner(asked, CampaignFolder(tmp_path / "out"), listener, runner=RUNNER)
        account = conductor.run("local[2]")
        assert shown == sorted(shown) and shown[-1] == (2, 2), "the bar never goes back"
        failed = next(run.id for run in conductor.plan.runs if json.loads(run.scenario)["name"] == "raise")
        assert len(list(calls.glob(f"{failed}-*"))) == turn, "once by each command"
        assert account.simulated == (1 if turn == 1 else 0)
    statuses = {row["status"] for row in conductor.store.read_table("runs").to_pylist()}
    assert statuses == {"done", "failed"}
    assert len(conductor.store.read_table("metrics")) == 1
    assert said.count("measuring 1 runs ...") == 1
    assert "1 failed before, to be tried again" in said
