"""What becomes of a run in a process of its own is told, and staged."""

import errno
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from roamcast.campaign.plan import PlannedRun
from roamcast.pipeline.running import task as tasks
from roamcast.pipeline.running.task import RunTask, execute, supervisor_of
from roamcast.sim.failure import RouterFailed

RUN = PlannedRun("0" * 20, "flooding", "{}", 1, "{}", 10.0, 0.0, 250.0, 20, 10, "v", "{}", "command")


def write_two_files(run, folder):
    (folder / "b.json").write_bytes(b"12345")
    (folder / "a.json").write_bytes(b"123")


def raise_much(run, folder):
    raise RuntimeError("one\n  two" + "x" * 1000)


def raise_memory(run, folder):
    raise MemoryError


def raise_disk_full(run, folder):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def raise_quota(run, folder):
    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def fail_in_router(run, folder):
    raise RouterFailed("flooding", ValueError("no such peer"), 12.0)


def exit_with_3(run, folder):
    os._exit(3)


def end_by_sigterm(run, folder):
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


def be_killed_and_then_abort(run, folder):
    killed = folder.parent / "killed"
    if killed.exists():
        os.abort()
    killed.touch()
    os.kill(os.getpid(), signal.SIGKILL)


def stand_in_the_way(run, folder):
    (folder.parent / f"run={run.id}").touch()  # where its folder should be


@pytest.fixture
def do(tmp_path):
    """Have a runner of this module do the run."""
    (tmp_path / "staged").mkdir()
    asked = RunTask(RUN, str(tmp_path / "staged"), 20.0, 3e8)
    yield lambda runner: execute(replace(asked, runner=f"{__name__}:{runner.__name__}"))
    supervisor_of("any").stop()


@pytest.fixture
def look(tmp_path):
    return lambda: tasks.Staging(str(tmp_path / "staged")).read_manifest(RUN.id)


def test_a_run_that_is_done_tells_its_files_which_are_staged(do, look, tmp_path):
    result = do(write_two_files)
    assert (result["run"], result["version"], result["status"], result["error"], result["rows"]) == (
        *(RUN.id, "v", "done", ""),
        0,
    )
    assert [(name, file["size"]) for name, file in result["files"].items()] == [("a.json", 3), ("b.json", 5)]
    assert result["files"]["a.json"]["digest"] != result["files"]["b.json"]["digest"]
    assert look() == result and 0 < result["wall"] < 60
    kept = sorted(file.name for file in (tmp_path / "staged" / f"run={RUN.id}").iterdir())
    assert kept == ["a.json", "b.json", "manifest.json"]
    assert not list((tmp_path / "staged").glob(".work-*"))


def test_a_run_that_raises_tells_where_and_keeps_its_traceback(do, look, tmp_path):
    result = do(raise_much)
    assert (result["status"], result["files"], result["rows"]) == ("failed", {}, None)
    what, _, where = result["error"].rpartition(" (")
    assert what == "RuntimeError: " + ("one two" + "x" * 1000)[:400]
    assert where.startswith(f"{Path(__file__).name}:")
    kept = (tmp_path / "staged" / f"run={RUN.id}" / "traceback.txt").read_text()
    assert kept.startswith("Traceback") and "x" * 1000 in kept
    assert look() == result


def test_of_a_long_traceback_the_end_is_kept(monkeypatch):
    monkeypatch.setattr(tasks, "_MOST_TRACEBACK", 20)
    assert tasks._explain(RuntimeError("the very end"))["traceback"] == "Error: the very end\n"


@pytest.mark.parametrize(
    ("runner", "error"),
    [
        (raise_memory, "used more memory than its limit"),
        (fail_in_router, "flooding failed at 12.000000 s: ValueError: no such peer"),
        (exit_with_3, "its process ended with code 3"),
        (end_by_sigterm, "its process was killed by SIGTERM, twice"),
        (be_killed_and_then_abort, "its process was killed by SIGABRT, twice"),
    ],
)
def test_what_a_run_failed_of_is_told_and_staged(do, look, runner, error):
    result = do(runner)
    assert (result["run"], result["status"], result["error"]) == (RUN.id, "failed", error)
    assert look() == result


@pytest.mark.parametrize("runner", [raise_disk_full, raise_quota])
def test_a_full_disk_is_not_the_runs_fault_and_nothing_is_staged(do, look, runner):
    result = do(runner)
    assert (result["run"], result["status"]) == (RUN.id, "disk full")
    assert look() is None


def test_trouble_with_the_staging_is_an_answer_and_no_work_stays_behind(do, tmp_path):
    result = do(stand_in_the_way)
    assert (result["run"], result["status"], result["files"]) == (RUN.id, "failed", {})
    assert result["error"].startswith("FileExistsError")
    assert not list((tmp_path / "staged").glob(".work-*"))


def test_a_run_that_failed_before_is_staged_in_its_place_when_it_is_done(do, look, tmp_path):
    do(raise_much)
    result = do(write_two_files)
    assert look() == result and result["status"] == "done"
    kept = sorted(file.name for file in (tmp_path / "staged" / f"run={RUN.id}").iterdir())
    assert kept == ["a.json", "b.json", "manifest.json"]
    assert do(raise_much)["status"] == "failed" and look() == result  # a failure never hides that it was done
