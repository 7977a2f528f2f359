"""Nothing lost, nothing doubled: campaigns are killed at random moments and resumed."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import campaign_driver
import pytest
from deltalake import DeltaTable
from test_foreign_readers import READERS, by_lake

import roamcast
from roamcast.facts.schema import TABLES as FACTS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.committing.commit import Committer

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
HERE = Path(__file__).parent


class Campaign:
    """A driver in a process group of its own, and whatever it starts."""

    def __init__(self, out, calls, master, hold=None, **environment):
        self.mark = uuid.uuid4().hex
        calls.mkdir(exist_ok=True)
        asked = {"ROAMCAST_TEST_CALLS": str(calls), "ROAMCAST_TEST_SECONDS": "0.15"}
        asked |= {"ROAMCAST_TEST_HOLD": str(hold)} if hold else {}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "campaign_driver.py"), str(out), master],
            env=os.environ | asked | environment | {"ROAMCAST_TEST_MARK": self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def family(self):
        """Every living process that carries this campaign's mark, with its command line."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        return found

    def workers(self):
        daemons = [pid for pid, line in self.family().items() if "pyspark.daemon" in line]
        return [pid for pid in daemons if _parent(pid) in daemons]

    def kill(self, what):
        with contextlib.suppress(ProcessLookupError):
            if what == "driver":
                self.process.kill()
            elif what == "group":
                os.killpg(self.process.pid, signal.SIGKILL)
            elif workers := self.workers():
                os.kill(random.choice(workers), signal.SIGKILL)

    def end(self, timeout=1000):
        errors, _ = self.process.communicate(timeout=timeout)
        return errors

    def wait_until_gone(self):
        """A process that stays is a hang, which the test's own time limit ends."""
        while self.family():
            time.sleep(0.1)


def _parent(pid):
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def done(out):
    """The runs that are staged or committed; a driver may be at work meanwhile."""
    staged = {file.parent.name[4:] for file in (out / "staged").glob("run=*/manifest.json")}
    return staged | CampaignFolder(out).snapshot().runs().keys()


def calls_of(calls):
    return [file.name.partition("-")[0] for file in calls.iterdir()]


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    """The same campaign, uninterrupted, on local[2]."""
    out = tmp_path_factory.mktemp("whole")
    conductor = CampaignRunner(campaign_driver.CAMPAIGN, CampaignFolder(out), runner=campaign_driver.RUNNER)
    with conductor.prepare():
        conductor.work(spark)
    return out


def assert_same(out, whole):
    assert campaign_driver.facts(out) == campaign_driver.facts(whole)
    assert campaign_driver.tables(out) == campaign_driver.tables(whole)


def test_a_campaign_killed_as_a_group_resumes_on_one_core_without_a_trace(tmp_path, whole):
    out, calls = tmp_path / "out", tmp_path / "calls"
    first = Campaign(out, calls, "local[2]", hold=8)
    while len(done(out)) < 6:
        assert first.process.poll() is None, first.end()
        time.sleep(0.02)
    first.kill("group")
    first.end()
    first.wait_until_gone()
    kept, made = done(out), calls_of(calls)
    assert 6 <= len(kept) <= 8
    second = Campaign(out, calls, "local[1]")
    result = second.end()
    assert result.endswith("finished\n"), result
    assert f"{len(kept)} of 24 runs are done already" in result
    assert all(calls_of(calls).count(run) == made.count(run) for run in kept), "done runs are not repeated"
    assert_same(out, whole)


def test_runs_begun_before_spark_is_there_leave_nothing_behind_when_killed_and_come_to_the_same(
    tmp_path, whole
):
    out, calls = tmp_path / "out", tmp_path / "calls"
    first = Campaign(out, calls, "local[2]", hold=4, ROAMCAST_TEST_AHEAD="1")
    while len(done(out)) < 3:
        assert first.process.poll() is None, first.end()
        time.sleep(0.01)
    first.kill("driver")
    first.wait_until_gone()
    first.end()
    kept, made = done(out), calls_of(calls)
    assert 3 <= len(kept) <= 4
    result = Campaign(out, calls, "local[2]", ROAMCAST_TEST_AHEAD="1").end()
    assert result.endswith("finished\n"), result
    assert all(calls_of(calls).count(run) == made.count(run) for run in kept), "done runs are not repeated"
    assert_same(out, whole)


def assert_same_for_delta(out):
    """delta-rs reads the rows of the runs that count; after `tidy` it and other readers read no others."""
    if not (out / "facts" / "runs" / "_delta_log").is_dir():
        return
    for tidied in (False, True):
        store = CampaignFolder(out)
        if tidied:
            with store.lock():
                store.tidy()
        counting = store.snapshot().runs().keys()
        assert set(DeltaTable(str(out / "facts" / "runs")).to_pyarrow_table()["run"].to_pylist()) == counting
        for name in FACTS:
            ours = Counter(roamcast.lake(out).dataset(name).to_table()["run"].to_pylist())
            theirs = Counter(DeltaTable(str(out / "facts" / name)).to_pyarrow_table()["run"].to_pylist())
            assert {run: count for run, count in theirs.items() if tidied or run in counting} == ours, name
    for name in FACTS:
        right = by_lake(out, name)
        for reader in READERS:
            assert reader(out, name) == right, (reader.__name__, name)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_twenty_kills_five_of_them_in_compactions_lose_nothing_and_double_nothing(tmp_path, whole):
    random.seed(5)
    out, calls, joining = tmp_path / "out", tmp_path / "calls", tmp_path / "joining"
    often = {"ROAMCAST_TEST_OFTEN": "0.3", "ROAMCAST_TEST_JOINING": str(joining)}
    reference = Campaign(tmp_path / "timed", tmp_path / "timed-calls", "local[2]")
    began = time.monotonic()
    assert reference.end().endswith("finished\n")
    usual = time.monotonic() - began
    killed, while_joining = 0, 0
    while killed < 20 or while_joining < 5:
        before, made = done(out), calls_of(calls) if calls.is_dir() else []
        joining.unlink(missing_ok=True)
        ahead = {"ROAMCAST_TEST_AHEAD": "1"} if killed // 4 % 2 else {}
        campaign = Campaign(out, calls, "local[2]", **often, **ahead)
        what = ("driver", "worker", "group", "compaction")[killed % 4]
        if what == "compaction":
            while campaign.process.poll() is None and not joining.exists():
                time.sleep(0.002)
            time.sleep(random.uniform(0.0, 0.1))
            campaign.kill(random.choice(("driver", "group")))
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                campaign.process.wait(random.uniform(0.2, 1.0) * usual)
            campaign.kill(what)
        result = campaign.end()
        campaign.wait_until_gone()
        assert_same_for_delta(out)
        killed += 1
        while_joining += "finished" not in result and joining.exists()
        for run in before:
            assert calls_of(calls).count(run) == made.count(run), f"{run} was done and simulated again"
        if "finished" in result:
            assert_same(out, whole)
            store = CampaignFolder(out)
            known = sorted(store.snapshot().runs())
            with store.lock():  # start over, all but a few
                Committer(None, store).drop(frozenset(known[: random.randrange(12, 24)]))
    last = Campaign(out, calls, "local[2]")
    assert last.end().endswith("finished\n")
    assert_same(out, whole)
    print(f"{killed} kills, {while_joining} while batches were joined")
