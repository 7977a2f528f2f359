"""What goes wrong with Spark is told in a line, and what a session is given follows from where it runs."""

import logging
import os
import runpy
import stat
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from roamcast.pipeline.spark import archive, session
from roamcast.pipeline.spark.cluster import LOOPBACK, SparkOptions
from roamcast.pipeline.spark.configuration import RETRIES, defaults, set_environment, with_retries
from roamcast.pipeline.spark.errors import SessionError, format_error, interrupted, one_line
from roamcast.pipeline.spark.spread import spread


def test_the_line_of_an_error_that_says_something_is_told():
    result = "Job aborted\n\n   at java.lang\n  java.io.IOException: no space\nCaused: SomeError: more"
    assert one_line(RuntimeError(result)) == "java.io.IOException: no space"
    assert one_line(RuntimeError("first\nthe worker crashed\n")) == "the worker crashed"
    assert one_line(RuntimeError("first\nOther Error: x")) == "Other Error: x"
    assert one_line(RuntimeError("\n  plain \nsecond")) == "plain"
    assert one_line(RuntimeError()) == "RuntimeError"
    assert len(one_line(RuntimeError("x" * 1000))) == 300


@pytest.mark.parametrize("error", [Py4JNetworkError("gone"), ConnectionResetError(), EOFError()])
def test_a_jvm_that_is_gone_is_told(error):
    with (
        pytest.raises(SessionError, match="Java process ended while it was trying; finished runs are kept"),
        format_error("trying"),
    ):
        raise error


@pytest.mark.parametrize("error", [PySparkException, Py4JError])
def test_what_spark_gives_up_is_told_in_a_line_and_other_code_by_itself(error):
    with pytest.raises(SessionError) as raised, format_error("trying"):
        raise error("some line\nmore")
    again = "finished runs are kept: run the same command again"
    assert str(raised.value) == f"Spark gave up trying: some line; {again}"
    other = "an executor on far runs Roamcast 1, this is 2; install the same wheel on every worker"
    with pytest.raises(SessionError) as raised, format_error("trying"):
        raise error(f"java.lang.Exception: x\n RuntimeError: {other}\n at java")
    assert str(raised.value) == other


def test_an_error_of_our_own_stays_as_it_is():
    with pytest.raises(KeyError), format_error("trying"):
        raise KeyError("ours")


def test_an_error_that_is_its_own_cause_is_no_ctrl_c():
    one, other = ValueError(), ValueError()
    one.__cause__, other.__cause__ = other, one
    assert not interrupted(one)
    assert interrupted(KeyboardInterrupt())
    one.__cause__ = KeyboardInterrupt()
    assert interrupted(one)


def test_without_spark_work_is_done_here():
    assert spread(None, "trying", [1, 2, 3], lambda item: item * 2) == [2, 4, 6]


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("local", f"local[1,{RETRIES}]"),
        ("local[2]", f"local[2,{RETRIES}]"),
        ("local[*]", f"local[*,{RETRIES}]"),
        ("local[2,7]", "local[2,7]"),
        ("spark://host:7077", "spark://host:7077"),
    ],
)
def test_a_local_master_tries_again_too(given, taken):
    assert with_retries(given) == taken


def test_a_session_is_where_it_was_told_and_keeps_to_its_folder(tmp_path):
    result = defaults(tmp_path, "10.1.2.3", "-Xshare:auto")
    assert result["spark.driver.host"] == result["spark.driver.bindAddress"] == "10.1.2.3"
    assert result["spark.local.dir"] == str(tmp_path)
    assert Path(result["spark.sql.warehouse.dir"]).parent == tmp_path
    options = result["spark.driver.extraJavaOptions"].split()
    assert options[-1] == "-Xshare:auto"
    (logging,) = (option for option in options if option.startswith("-Dlog4j2"))
    assert Path(logging.partition("file://")[2]).is_file()
    assert not defaults(tmp_path, LOOPBACK, "")["spark.driver.extraJavaOptions"].endswith(" ")


def test_workers_find_this_python_and_only_a_session_here_is_bound_to_loopback(monkeypatch):
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, "before")
    monkeypatch.setenv("SPARK_REMOTE", "sc://before")
    set_environment(LOOPBACK, {})
    assert os.environ["PYSPARK_PYTHON"] == os.environ["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert os.environ["SPARK_LOCAL_IP"] == LOOPBACK and "SPARK_REMOTE" not in os.environ
    set_environment("10.1.2.3", {"spark.pyspark.python": "/far/python"})
    assert os.environ["PYSPARK_PYTHON"] == "/far/python" != os.environ["PYSPARK_DRIVER_PYTHON"]
    assert "SPARK_LOCAL_IP" not in os.environ


def test_a_cluster_is_called_by_where_it_is():
    assert str(SparkOptions()) == "this machine"
    assert str(SparkOptions("local[2]")) == "local[2]"
    assert str(SparkOptions("local[2]", "sc://far")) == "sc://far"
    assert SparkOptions().arguments() == [] and SparkOptions().settings() == {}
    assert SparkOptions(remote="sc://far").arguments() == ["--remote", "sc://far"]
    assert SparkOptions(ui=True).settings() == {"spark.ui.enabled": "true"}


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A Java that tells a version."""

    def make(result):
        folder = tmp_path / "home" / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "java"
        program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{result}\nEND\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("JAVA_HOME", str(folder.parent))

    return make


def test_java_17_is_enough_and_16_is_not(java, tmp_path, monkeypatch):
    java('openjdk version "17.0.1" 2021\nmore')
    assert session.check_java().splitlines() == ['openjdk version "17.0.1" 2021', "more"]
    java('openjdk version "16.9"')
    with pytest.raises(SessionError, match=r'needs Java 17, and .*java is .*version "16.9".*install Java 17'):
        session.check_java()
    java("nonsense")
    with pytest.raises(SessionError, match="nonsense"):
        session.check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(SessionError, match=r"needs Java, and JAVA_HOME=.*nowhere has none"):
        session.check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SessionError, match="and PATH has none"):
        session.check_java()


def test_why_spark_did_not_start_is_the_last_complaint_of_its_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("starting\njava.lang.Error: one\nCaused by two\nbye\n")
    assert session._reason(RuntimeError("ours"), log) == "Caused by two"
    log.write_text("starting\nAn Error: " + "x" * 1000)
    assert len(session._reason(RuntimeError("ours"), log)) == 300
    log.write_text("nothing to say")
    assert session._reason(RuntimeError("ours"), log) == "ours"


def test_classes_come_from_an_archive_that_was_made_for_this_java(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = archive.find_archive("this java")
    assert place.parent == tmp_path / "roamcast"
    assert archive.find_archive("other java") != place
    monkeypatch.setenv("SPARK_HOME", "/other/spark")
    assert archive.find_archive("this java") != place
    monkeypatch.delenv("SPARK_HOME")
    assert session._share_classes("this java") == ""
    place.parent.mkdir()
    place.touch()
    assert session._share_classes("this java") == f"-XX:SharedArchiveFile={place} -Xshare:auto"


def test_a_lost_jvm_is_not_logged_with_a_traceback():
    def record(place):
        return logging.LogRecord("root", logging.INFO, place, 1, "lost", None, None)

    assert not session._foreign_session(record("/x/py4j/java_gateway.py"))
    assert session._foreign_session(record("/x/ours/py4j.py"))


def test_the_embedded_session_has_the_processors_that_this_process_may_use():
    assert session.local_master() == f"local[{len(os.sched_getaffinity(0))}]"


def test_the_command_for_an_archive_tells_where_it_is_and_makes_no_second_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = archive.find_archive(session.check_java())
    made.parent.mkdir()
    made.touch()
    monkeypatch.delitem(sys.modules, "roamcast.pipeline.spark.archive")
    runpy.run_module("roamcast.pipeline.spark.archive", run_name="__main__")
    assert capsys.readouterr().out == f"{made}\n" and made.stat().st_size == 0
