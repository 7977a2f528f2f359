"""How a session ends that does not answer: by force, its JVM with it. Those that answer end in every test."""

import os
import subprocess
import sys
import threading
from time import monotonic
from types import SimpleNamespace

import pytest

from roamcast.pipeline.spark import session

DEAF = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
HEARING = [sys.executable, "-c", "print(flush=True); input()"]


@pytest.fixture(autouse=True)
def _remembered(monkeypatch):
    """The session that other tests share stays known to PySpark."""
    monkeypatch.setattr(session, "_forget", lambda: None)


@pytest.fixture
def start():
    """Start a process in the JVM's place."""
    started = []

    def make(command):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        started.append(process)
        process.stdout.readline()  # it is up
        return process

    yield make
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


class Session:
    """As PySpark knows one whose JVM is `process`; without an answer, `stop` comes to no end."""

    def __init__(self, process, answers):
        self.sparkContext = SimpleNamespace(_gateway=SimpleNamespace(proc=process))
        self.asked, self.answer = threading.Event(), threading.Event()
        if answers:
            self.answer.set()

    def stop(self):
        self.asked.set()
        self.answer.wait()


def test_a_session_that_does_not_answer_in_time_is_killed(start):
    process = start(DEAF)
    spark = Session(process, answers=False)
    session._stop(spark, 0.05)
    assert spark.asked.is_set() and process.returncode == -9
    spark.answer.set()


def test_who_has_no_patience_kills_without_asking(start):
    process = start(DEAF)
    spark = Session(process, answers=True)
    began = monotonic()
    session._stop(spark, 0.0)
    assert not spark.asked.is_set() and process.returncode == -9
    assert monotonic() - began < 3.0, "nobody waited for it to end by itself"


def test_a_jvm_that_ends_with_its_stdin_is_not_killed(start):
    process = start(HEARING)
    session._stop(Session(process, answers=True), 5.0)
    assert process.returncode == 1  # by an EOFError of its own


def test_the_children_of_a_process_are_those_that_it_started(start):
    before = session._children(os.getpid())
    child = start(HEARING)
    assert session._children(os.getpid()) - before == {child.pid}
