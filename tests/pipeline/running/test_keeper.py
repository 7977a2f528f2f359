"""A run is alone: whatever it forks or holds ends with it, and nobody else is the worse for it."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

from roamcast.campaign.plan import Run
from roamcast.campaign.version import code_version
from roamcast.pipeline.running.keeper import descendants
from roamcast.pipeline.running.task import Task, execute, find_runner, keeper_of

HERE = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def runners(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    find_runner("synthetic_runner:run")
    yield
    keeper_of("synthetic_runner:run").end()


def task(tmp_path, name, seconds=20.0, memory=300e6):
    world = json.dumps({"name": name})
    run = Run("0" * 20, "flooding", "{}", 1, world, 10.0, 0.0, 250.0, 20, 10, code_version(), "{}", "command")
    return Task(run, str(tmp_path), seconds, memory, "synthetic_runner:run")


def list_open():
    return {"open": [int(name) for name in os.listdir("/proc/self/fd")]}  # noqa: PTH208


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def left_behind(tmp_path):
    """The processes that a run forked, by the files that they wrote."""
    return [int(file.read_text()) for file in tmp_path.glob("forked-*")]


def test_what_a_run_forks_ends_with_it_even_if_it_left_its_session(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_FORKED", str(tmp_path))
    told = execute(task(tmp_path, "daemon"))
    assert told["status"] == "done", told
    (forked,) = left_behind(tmp_path)
    assert not alive(forked)


def test_a_run_that_hangs_is_ended_with_all_that_it_forked(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_FORKED", str(tmp_path))
    told = execute(task(tmp_path, "daemon hang", seconds=1.5))
    assert told["error"] == "took longer than its limit of 1.5 s"
    (forked,) = left_behind(tmp_path)
    assert not alive(forked)


@pytest.mark.parametrize("how", ["hog", "shared hog", "forked hog"])
def test_memory_is_limited_whatever_it_is_called(tmp_path, how):
    told = execute(task(tmp_path, how, memory=200e6))
    assert (told["status"], told["error"]) == ("failed", "used more memory than its limit")


def test_a_run_killed_from_outside_is_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(tmp_path / "calls"))
    (tmp_path / "calls").mkdir()
    told = execute(task(tmp_path, "killed once"))
    assert told["status"] == "done"
    assert len(list((tmp_path / "calls").iterdir())) == 2


def test_a_run_killed_again_and_again_has_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(tmp_path / "calls"))
    (tmp_path / "calls").mkdir()
    told = execute(task(tmp_path, "killed always"))
    assert told["status"] == "failed"
    assert told["error"] == "its process was killed by SIGKILL, twice; the machine may be out of memory"
    assert len(list((tmp_path / "calls").iterdir())) == 2


def test_a_run_whose_keeper_is_killed_is_done_by_the_next_keeper(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_FORKED", str(tmp_path))
    first = keeper_of("synthetic_runner:run")
    told = execute(task(tmp_path, "daemon killing its keeper once"))
    assert told["status"] == "done"
    assert keeper_of("synthetic_runner:run") is not first
    assert not any(map(alive, left_behind(tmp_path)))


WORKER = """
    import sys
    from pathlib import Path
    sys.path[:0] = sys.argv[2:]
    import test_keeper
    from roamcast.pipeline.running.task import execute
    execute(test_keeper.task(Path(sys.argv[1]), "daemon hang", seconds=600))
"""


def test_a_worker_that_is_killed_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path), str(HERE), str(HERE / "running")]
    worker = subprocess.Popen(command, env=os.environ | {"ROAMCAST_TEST_FORKED": str(tmp_path)})
    while not left_behind(tmp_path):
        assert worker.poll() is None
        time.sleep(0.02)
    family = descendants(worker.pid)
    assert len(family) == 3  # keeper, run, and what it forked
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    while any(map(alive, family)):  # what stays is a hang, which the test's own time limit ends
        time.sleep(0.02)


def test_a_run_has_nothing_open_but_its_three_streams_and_its_way_to_the_keeper(tmp_path):
    with (tmp_path / "of the worker").open("w"):
        told = keeper_of("synthetic_runner:run").run(partial(list_open), 20.0, 300e6)
    assert sorted(told["said"]["open"])[:3] == [0, 1, 2]
    assert len(told["said"]["open"]) == 5  # and the one by which it looks
