"""Executors are waited for with a word to the user, looked at, and what they lack is told."""

import json
import os
import platform
import socket
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest

from roamcast.fingerprint import package_version
from roamcast.pipeline.spark import check, executors
from roamcast.pipeline.spark.check import ClusterReport, ExecutorInfo, examine
from roamcast.pipeline.spark.cluster import LOOPBACK
from roamcast.pipeline.spark.errors import SessionError
from roamcast.pipeline.spark.executors import await_executors
from roamcast.pipeline.spark.spread import spread


class Waiting:
    """A session on a cluster far away whose executor comes, or which is stopped, when its clock says so."""

    def __init__(self, monkeypatch, comes=float("inf"), stops=float("inf")):
        self.now = 1000.0
        self.said = []
        began = self.now
        monkeypatch.setattr(executors, "monotonic", lambda: self.now)
        monkeypatch.setattr(executors, "sleep", self._sleep)
        registered = SimpleNamespace(size=lambda: 1 + (self.now - began >= comes))
        jvm = SimpleNamespace(
            getExecutorMemoryStatus=lambda: registered, isStopped=lambda: self.now - began >= stops
        )
        conf = {"spark.driver.host": "10.1.2.3"}
        self.sparkContext = SimpleNamespace(
            master="spark://far:7077", _jsc=SimpleNamespace(sc=lambda: jvm), getConf=lambda: conf
        )

    def _sleep(self, seconds):
        self.now += seconds

    def say(self, what):
        self.said.append((round(self.now - 1000), what))


def test_a_word_after_a_while_and_then_every_minute_until_an_executor_comes(monkeypatch):
    spark = Waiting(monkeypatch, comes=150)
    await_executors(spark, spark.say)
    assert [when for when, _ in spark.said] == [20, 80, 140]
    first = spark.said[0][1]
    assert first.startswith("no executor of spark://far:7077 has come for 20 s; see that its workers")
    assert "at 10.1.2.3 (else --conf spark.driver.host=ADDRESS)" in first
    assert spark.now == pytest.approx(1150, abs=0.2)


def test_nobody_is_waited_for_if_one_is_there_or_all_is_here(monkeypatch):
    spark = Waiting(monkeypatch, comes=0)
    await_executors(spark, spark.say)
    assert spark.now == 1000.0
    local = Waiting(monkeypatch)
    local.sparkContext.master = "local[2]"
    await_executors(local, local.say)
    assert local.now == 1000.0 and not local.said


def test_an_executor_that_never_comes_is_given_up(monkeypatch):
    spark = Waiting(monkeypatch)
    with pytest.raises(SessionError, match="no executor of spark://far:7077 has come for 30 s"):
        await_executors(spark, spark.say, patience=30.0)
    assert len(spark.said) == 1


def test_an_application_that_the_master_took_off_is_told(monkeypatch):
    spark = Waiting(monkeypatch, stops=5)
    with pytest.raises(SessionError, match="spark://far:7077 has taken this application off"):
        await_executors(spark, spark.say)
    assert spark.now == pytest.approx(1005, abs=0.2)


def shout(item):
    return os.getpid(), item.upper()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_each_item_is_a_task_elsewhere_and_answers_come_in_the_order_of_items(spark):
    items = [f"item {number}" for number in range(5)]
    result = spread(spark, "trying", items, shout)
    assert [answer for _, answer in result] == [item.upper() for item in items]
    assert os.getpid() not in {process for process, _ in result}
    assert spread(spark, "trying", [], shout) == []


GOOD = ExecutorInfo(
    host="far",
    address="10.1.2.3",
    process=7,
    python="3.11.4",
    roamcast="1+abc",
    kernel="",
    memory=1,
    free=1,
    store="",
)


def lacks(missed=0, **changes):
    return ClusterReport([replace(GOOD, **changes)], missed, "1+abc", "3.11.9").lacks()


def test_what_executors_lack_is_told_a_line_each():
    assert lacks() == []
    assert lacks(roamcast="") == ["far (10.1.2.3) has no Roamcast; install the same wheel there"]
    (line,) = lacks(roamcast="1+def")
    assert line == "far (10.1.2.3) runs Roamcast 1+def, this is 1+abc; install the same wheel"
    (line,) = lacks(kernel="no such file")
    assert line == "far (10.1.2.3): the compiled kernel cannot be imported: no such file"
    for other in ("3.12.4", "2.11.4"):
        (line,) = lacks(python=other)
        assert line == f"far (10.1.2.3) runs Python {other}, this is 3.11.9; Spark wants them alike"
    assert lacks(store="does not see x") == ["far (10.1.2.3): does not see x"]
    assert lacks(missed=2) == ["2 executors are registered and did not answer; look at their logs"]
    assert len(lacks(3, roamcast="", kernel="x", python="2.7", store="y")) == 5
    record = ClusterReport([GOOD], 1, "1+abc", "3.11.9").record()
    assert record["executors"][0]["host"] == "far" and len(record["lacks"]) == 1


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_executors_are_looked_at_and_nothing_stays_in_the_store(spark, tmp_path):
    store = tmp_path / "some" / "store"
    found = examine(spark, store)
    (each,) = found.executors  # however often it is looked at
    assert (each.host, each.address) == (socket.gethostname(), LOOPBACK)
    assert each.process == spark.sparkContext._gateway.proc.pid
    assert (each.python, each.roamcast) == (platform.python_version(), package_version())
    assert each.kernel == each.store == ""
    assert each.memory == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") > each.free > 0
    assert found.missed == 0 and found.lacks() == []
    assert store.is_dir() and not list(store.iterdir())


def test_an_executor_that_does_not_see_the_store_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)

    def look(marker):
        (batch,) = check._examination(str(marker))(iter([pa.record_batch({"id": [1]})]))
        return json.loads(batch["found"][0].as_py())["store"]

    gone = tmp_path / "elsewhere" / "marker"
    assert look(gone) == f"does not see {gone.parent}; it must be a folder that all share"
    assert look("") == ""
    (tmp_path / "marker").touch()
    assert look(tmp_path / "marker") == ""
    monkeypatch.setattr("os.access", lambda place, how: (place, how) != (str(tmp_path), os.W_OK))
    assert look(tmp_path / "marker") == f"may not write to {tmp_path}"
