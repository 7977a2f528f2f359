"""Runs dealt out to Spark's tasks: in which order, what is heard of them, what stops them all."""

import errno
import os
from dataclasses import replace

import pytest

from roamcast.campaign.campaign import RunLimits
from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.version import code_version
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.running.simulate import DiskFull, simulate

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

FINE = '{"name": "fine"}'
RUN = PlannedRun(
    "0" * 20, "flooding", "{}", 1, FINE, 10.0, 0.0, 250.0, 20, 10, code_version(), "{}", "command"
)
RUNS = [replace(RUN, id=f"{number:020x}", duration=10.0 + number) for number in range(4)]
LIMITS = RunLimits(time=20.0, memory=3e8)
RUNNER = "synthetic_runner:run"


def fill_the_disk(run, folder):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def store(tmp_path):
    made = CampaignFolder(tmp_path)
    made.create()
    return made


def test_the_longest_runs_go_first_and_all_that_becomes_of_them_is_heard(spark, store):
    runs = [replace(RUNS[0], scenario='{"name": "raise"}'), *RUNS[1:]]
    watched = []
    outcomes = simulate(
        spark,
        store,
        runs,
        LIMITS,
        watch=lambda progress: watched.append((progress.done, progress.failed)),
        runner=RUNNER,
    ).to_pylist()
    assert [each["run"] for each in outcomes] == [run.id for run in reversed(RUNS)]  # the order of tasks
    assert [each["status"] for each in outcomes] == ["done", "done", "done", "failed"]
    assert watched[-1] == (3, 1), "the last look is after the last word"
    assert {run: expected["status"] for run, expected in store.staging.survey().items()} == {
        each["run"]: each["status"] for each in outcomes
    }


def test_known_costs_decide_which_run_is_longest_and_equal_ones_keep_their_order(spark, store):
    runs = [RUNS[number] for number in (0, 3, 2, 1)]
    costs = dict(zip([run.id for run in runs], (1.0, 9.0, 2.0, 9.0), strict=True))
    outcomes = simulate(spark, store, runs, LIMITS, costs=costs, runner=RUNNER)
    assert outcomes["run"].to_pylist() == [RUNS[number].id for number in (3, 1, 2, 0)]


def test_a_full_disk_is_told_with_the_folder(spark, store):
    with pytest.raises(
        DiskFull, match=r"the disk is full \(.*No space left.*\); make room and run"
    ) as raised:
        simulate(spark, store, RUNS, LIMITS, runner=f"{__name__}:fill_the_disk")
    assert str(raised.value).startswith(str(store.folder))
    assert not store.staging.survey()
