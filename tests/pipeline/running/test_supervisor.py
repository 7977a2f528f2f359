"""A run is alone: whatever it forks or holds ends with it, and nobody else is the worse for it."""

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.version import code_version
from roamcast.pipeline.running import supervisor as keeping
from roamcast.pipeline.running.supervisor import descendants
from roamcast.pipeline.running.task import RunTask, execute, find_runner, supervisor_of

HERE = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def runners(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    find_runner("synthetic_runner:run")
    yield
    supervisor_of("synthetic_runner:run").stop()


def task(tmp_path, name, seconds=20.0, memory=300e6):
    world = json.dumps({"name": name})
    run = PlannedRun(
        "0" * 20, "flooding", "{}", 1, world, 10.0, 0.0, 250.0, 20, 10, code_version(), "{}", "command"
    )
    return RunTask(run, str(tmp_path), seconds, memory, "synthetic_runner:run")


def list_open():
    yield {"open": [int(name) for name in os.listdir("/proc/self/fd")]}  # noqa: PTH208


def tell_limits():
    kinds = {"core": resource.RLIMIT_CORE, "data": resource.RLIMIT_DATA}
    hoard = b"x" * 50_000_000
    used = 0
    while used < 20_000:
        used += len(str(time.process_time_ns()))
    outcome = {name: resource.getrlimit(kind) for name, kind in kinds.items()}
    del hoard
    yield outcome | {"group": os.getpgid(0), "pid": os.getpid(), "parent": os.getppid()}
    yield {}


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
    outcome = execute(task(tmp_path, "daemon"))
    assert outcome["status"] == "done", outcome
    (forked,) = left_behind(tmp_path)
    assert not alive(forked)


def test_a_run_that_hangs_is_ended_with_all_that_it_forked(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_FORKED", str(tmp_path))
    outcome = execute(task(tmp_path, "daemon hang", seconds=1.5))
    assert outcome["error"] == "took longer than its limit of 1.5 s"
    (forked,) = left_behind(tmp_path)
    assert not alive(forked)


@pytest.mark.parametrize("how", ["hog", "shared hog", "forked hog"])
def test_memory_is_limited_whatever_it_is_called(tmp_path, how):
    outcome = execute(task(tmp_path, how, seconds=120, memory=200e6))
    assert (outcome["status"], outcome["error"]) == ("failed", "used more memory than its limit")


def test_memory_inherited_from_a_large_supervisor_does_not_hide_memory_of_forks(tmp_path):
    hoard = bytearray(os.urandom(1)) * 900_000_000  # which supervisor, run and forks all have
    outcome = execute(task(tmp_path, "forked hog", seconds=15, memory=200e6))
    assert (outcome["status"], outcome["error"]) == ("failed", "used more memory than its limit")
    del hoard


def test_a_run_killed_from_outside_is_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(tmp_path / "calls"))
    (tmp_path / "calls").mkdir()
    outcome = execute(task(tmp_path, "killed once"))
    assert outcome["status"] == "done"
    assert len(list((tmp_path / "calls").iterdir())) == 2


def test_a_run_killed_again_and_again_has_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_CALLS", str(tmp_path / "calls"))
    (tmp_path / "calls").mkdir()
    outcome = execute(task(tmp_path, "killed always"))
    assert outcome["status"] == "failed"
    assert outcome["error"] == "its process was killed by SIGKILL, twice; the machine may be out of memory"
    assert len(list((tmp_path / "calls").iterdir())) == 2


def test_a_run_whose_supervisor_is_killed_is_repeated_by_the_next_supervisor(tmp_path, monkeypatch):
    monkeypatch.setenv("ROAMCAST_TEST_FORKED", str(tmp_path))
    first = supervisor_of("synthetic_runner:run")
    outcome = execute(task(tmp_path, "daemon killing its supervisor once"))
    assert outcome["status"] == "done"
    assert supervisor_of("synthetic_runner:run") is not first
    assert not any(map(alive, left_behind(tmp_path)))


WORKER = """
    import sys
    from pathlib import Path
    sys.path[:0] = sys.argv[2:]
    import test_supervisor
    from roamcast.pipeline.running.task import execute
    execute(test_supervisor.task(Path(sys.argv[1]), "daemon hang", seconds=600))
"""


def test_a_worker_that_is_killed_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path), str(HERE), str(HERE / "running")]
    worker = subprocess.Popen(command, env=os.environ | {"ROAMCAST_TEST_FORKED": str(tmp_path)})
    while not left_behind(tmp_path):
        assert worker.poll() is None
        time.sleep(0.02)
    family = descendants(worker.pid)
    assert len(family) == 3  # supervisor, run, and what it forked
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    while any(map(alive, family)):  # what stays is a hang, which the test's own time limit ends
        time.sleep(0.02)


def test_a_run_inherits_only_its_three_streams_and_the_pipe_to_the_supervisor(tmp_path):
    with (tmp_path / "of the worker").open("w"):
        result = supervisor_of("synthetic_runner:run").run(partial(list_open), 20.0, 300e6)
    (report,) = result["reports"]
    assert sorted(report["open"])[:3] == [0, 1, 2]
    assert len(report["open"]) == 5  # and the descriptor of the listing itself


def test_a_run_is_limited_leads_a_group_of_its_own_and_tells_what_it_used():
    supervisor = supervisor_of("synthetic_runner:run")
    outcome, after = supervisor.run(tell_limits, 20.0, 300e6)["reports"]
    assert outcome["core"] == [0, 0]
    assert outcome["data"][0] == outcome["data"][1] > 300e6
    assert outcome["group"] == outcome["pid"] and outcome["parent"] == supervisor.pid
    assert 0 < outcome["cpu"] < 20 and 50e6 < outcome["memory"] < 5e9
    assert (
        after["cpu"] < outcome["cpu"] and after["memory"] < outcome["memory"] - 40e6
    )  # each reports its own


@pytest.mark.parametrize(
    ("work", "outcome"),
    [
        (partial(os._exit, 3), {"died": 0, "code": 3}),
        (os.abort, {"died": signal.SIGABRT, "code": 0}),
        (partial(int, "no number"), {"died": 0, "code": 0}),
        (partial(time.sleep, 60), {"limit": "time"}),
    ],
)
def test_a_run_without_reports_has_a_reason(work, outcome):
    assert supervisor_of("synthetic_runner:run").run(work, 0.5, 300e6) == {"reports": []} | outcome


def speak_slowly(*pauses):
    for pause in pauses:
        time.sleep(pause)
        yield {"pause": pause, "word": "x" * 300_000}  # longer than a pipe holds


def test_long_reports_arrive_complete_and_each_has_the_whole_time_limit():
    outcome = supervisor_of("synthetic_runner:run").run(partial(speak_slowly, 0.5, 0.5, 0.5, 60), 1.2, 300e6)
    assert [report["pause"] for report in outcome["reports"]] == [0.5, 0.5, 0.5] and outcome[
        "limit"
    ] == "time"
    assert {report["word"] for report in outcome["reports"]} == {"x" * 300_000}


def test_a_process_that_is_gone_holds_nothing_and_one_that_forks_is_counted_once():
    assert keeping._status("gone", "VmData") == 0
    one, both = keeping._status("self", "VmData"), keeping._status("self", "VmData", "VmStk")
    assert 1 << 20 < one < both
    held = keeping._private_memory(os.getpid())
    assert keeping._share(os.getpid(), 7) <= 1.5 * held and keeping._share(2**30, 7) == 7


def test_whatever_a_process_started_is_below_it():
    command = [sys.executable, "-c", "import subprocess as s; s.run(['sleep', '60'])"]
    with subprocess.Popen(command) as child:
        while len(found := descendants(child.pid)) != 1:
            assert child.poll() is None
            time.sleep(0.01)
        assert set(descendants(os.getpid())) >= {child.pid, *found}
        keeping._kill([*found, 2**30])
        child.wait()
    assert not any(map(alive, found)) and descendants(child.pid) == []
