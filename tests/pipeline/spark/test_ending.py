"""How a session ends: politely if it answers in time, else by force, and its folder with it."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from roamcast.pipeline.spark import session
from roamcast.pipeline.spark.cluster import Cluster
from roamcast.pipeline.spark.session import open_session


class Process:
    """A JVM as the gateway knows it."""

    def __init__(self, ends=True):
        self.ends, self.did = ends, []
        self.stdin = SimpleNamespace(close=lambda: self.did.append("stdin closed"))

    def kill(self):
        self.did.append("killed")
        self.ends = True

    def wait(self, seconds=None):
        self.did.append(("waited", seconds))
        if not self.ends:
            raise subprocess.TimeoutExpired("java", seconds)


class Session:
    """A session that stops at once, or never."""

    def __init__(self, process, stops=True):
        self.stopped = threading.Event()
        self._stops = stops
        self.sparkContext = SimpleNamespace(_gateway=SimpleNamespace(proc=process))
        self.never = threading.Event()

    def stop(self):
        if not self._stops:
            self.never.wait()
        self.stopped.set()


@pytest.fixture
def forgotten(monkeypatch):
    times = []
    monkeypatch.setattr(session, "_forget", lambda: times.append(1))
    return times


def test_a_session_that_answers_is_stopped_and_its_jvm_waited_for(forgotten):
    process = Process()
    spark = Session(process)
    session._stop(spark, 5.0)
    assert spark.stopped.is_set()
    assert process.did == ["stdin closed", ("waited", 5.0)]
    assert forgotten == [1]


def test_a_session_that_does_not_answer_is_killed(forgotten):
    process = Process()
    spark = Session(process, stops=False)
    session._stop(spark, 0.01)
    assert process.did == ["stdin closed", "killed", ("waited", 3.0)]
    spark.never.set()


def test_who_has_no_patience_kills_without_asking(forgotten):
    process = Process()
    spark = Session(process)
    session._stop(spark, 0.0)
    assert not spark.stopped.is_set()
    assert process.did == ["stdin closed", "killed", ("waited", 3.0)]


def test_a_jvm_that_does_not_end_is_killed_after_all(forgotten):
    process = Process(ends=False)
    session._stop(Session(process), 4.0)
    assert process.did == ["stdin closed", ("waited", 4.0), "killed", ("waited", None)]


def test_a_remote_session_leaves_no_trace_in_the_environment(monkeypatch, forgotten):
    remote = type("Remote", (), {"__module__": "pyspark.sql.connect.session", "stop": lambda self: None})
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        monkeypatch.setenv(name, "1")
    assert session.is_remote(remote())
    session._stop(remote(), 1.0)
    assert not {"SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"} & os.environ.keys()
    assert forgotten == []


@pytest.fixture
def opened(monkeypatch):
    """What `open_session` did, with nothing behind it."""
    did = []

    def start(master, folder, settings, archive):
        did.append(("started", master, folder, settings, archive))
        assert folder.is_dir()
        return "a session"

    monkeypatch.setattr(session, "_start", start)
    monkeypatch.setattr(session, "connect", lambda url, settings: did.append((url, settings)) or "remote")
    monkeypatch.setattr(session, "_stop", lambda spark, patience: did.append((spark, patience)))
    return did


def test_a_session_is_opened_where_it_is_said_and_ends_with_the_block(opened):
    with open_session("local[3]", {"spark.a": "1"}, archive=Path("x")) as spark:
        assert spark == "a session"
    (_, master, folder, settings, archive), stopped = opened
    assert (master, settings, archive) == ("local[3]", {"spark.a": "1"}, Path("x"))
    assert stopped == ("a session", 3.0) and not folder.exists()


def test_what_the_user_says_wins_and_by_default_it_is_here(opened):
    with open_session(Cluster(conf={"spark.a": "2"}), {"spark.a": "1", "spark.b": "3"}):
        pass
    assert opened[0][1] == session.local_master()
    assert opened[0][3] == {"spark.a": "2", "spark.b": "3"}
    opened.clear()
    with open_session(Cluster(remote="sc://far")) as spark:
        assert spark == "remote"
    assert opened == [("sc://far", {}), ("remote", 3.0)]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), "on the way out"])
def test_after_ctrl_c_nobody_waits(opened, error):
    with pytest.raises(KeyboardInterrupt), open_session("local"):
        if isinstance(error, BaseException):
            raise error
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("the answer was not what was asked for")
    assert opened[-1] == ("a session", 0.0) and not opened[0][2].exists()


def test_any_other_error_stays_as_it_is_and_the_session_has_its_time_to_end(opened):
    with pytest.raises(KeyError), open_session("local", patience=7.0):
        raise KeyError("ours")
    assert opened[-1] == ("a session", 7.0) and not opened[0][2].exists()


def test_the_children_of_a_process_are_those_that_it_started():
    before = session._children(os.getpid())
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert session._children(os.getpid()) - before == {child.pid}
        assert child.stdin is not None
        child.stdin.write(b"\n")
