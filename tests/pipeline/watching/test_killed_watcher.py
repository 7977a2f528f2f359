"""A watcher beside a real campaign, both killed: at the end it has what the campaign has."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import campaign_driver
import pytest

from roamcast.campaign.tables import TABLES
from roamcast.pipeline.campaign_folder import CampaignFolder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
HERE = Path(__file__).parents[1]


STARTED = []


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    for each in STARTED:
        if each.process.poll() is None:
            each.kill()


class Process:
    """A command in a process group of its own; its lines are kept in files."""

    def __init__(self, command, log, **environment):
        self.log, self.errors = log, log.with_name(f"{log.name}.err")
        with self.log.open("wb") as out, self.errors.open("wb") as err:
            self.process = subprocess.Popen(
                command, env=os.environ | environment, stdout=out, stderr=err, start_new_session=True
            )
        STARTED.append(self)

    @property
    def said(self):
        return self.errors.read_text()

    def updates(self):
        whole = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def wait_for(self, count):
        """Until it has told of so many runs."""
        while not any(
            expected.get("so_far", {"measured": 24})["measured"] >= count for expected in self.updates()
        ):
            assert self.process.poll() is None, self.said
            time.sleep(0.05)

    def kill(self, what=signal.SIGKILL):
        if what == signal.SIGINT:
            self.process.send_signal(what)
        else:
            os.killpg(self.process.pid, what)
        return self.process.wait()


def run_campaign(out, log, seconds):
    """A campaign of 24 runs of so many seconds, one after the other, committed as they come."""
    command = [sys.executable, str(HERE / "campaign_driver.py"), str(out), "local[1]"]
    joining = str(out.with_name("joining"))
    asked = {"ROAMCAST_TEST_OFTEN": "1", "ROAMCAST_TEST_JOINING": joining, "ROAMCAST_TEST_SECONDS": seconds}
    return Process(command, log, **asked)


def watch(out, log):
    program = "from roamcast.cli import main; main()"
    words = ["campaign", "watch", str(out), "--json", "--master", "local[1]"]
    return Process([sys.executable, "-c", program, *words], log)


def test_a_watcher_that_is_killed_again_and_again_ends_with_what_batch_has(tmp_path):
    random.seed(13)
    out = tmp_path / "out"
    campaign = run_campaign(out, tmp_path / "campaign.1", "15")
    while not CampaignFolder(out).snapshot().runs():
        assert campaign.process.poll() is None, campaign.said
        time.sleep(0.1)
    first = watch(out, tmp_path / "watch.1")
    first.wait_for(1)
    assert first.kill(signal.SIGINT) == 130
    assert first.said.splitlines()[-1] == f"stopped watching; continue with: roamcast campaign watch {out}"
    assert "Traceback" not in first.said
    second = watch(out, tmp_path / "watch.2")
    second.wait_for(2)
    assert "so_far" in second.updates()[-1]
    second.kill()
    campaign.kill()
    campaign = run_campaign(out, tmp_path / "campaign.2", "0.2")
    for number in range(3, 7):
        killed = watch(out, tmp_path / f"watch.{number}")
        try:
            killed.process.wait(random.uniform(3, 30))
        except subprocess.TimeoutExpired:
            killed.kill()
    last = watch(out, tmp_path / "watch.last")
    assert last.process.wait() == 0, last.said
    assert "so_far" not in last.updates()[-1]
    assert campaign.process.wait() == 0, campaign.said
    watched = CampaignFolder(out, "watch/tables")
    for name in TABLES.keys() - {"quality"}:  # written by `roamcast lake check` alone
        assert watched.table_file(name).read() == CampaignFolder(out).table_file(name).read(), name
    assert len(watched.read_table("metrics")) == 24
    assert campaign_driver.CAMPAIGN.title in (out / "watch.html").read_text()
    assert "so far" not in (out / "watch.html").read_text()
