"""A disk that is really full: a clear word, and resume works once there is room."""

import subprocess

import campaign_driver
import pytest

from roamcast.errors import UserError
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"only root may mount a small disk: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def conduct(out, spark):
    conductor = CampaignRunner(campaign_driver.CAMPAIGN, CampaignFolder(out), runner=campaign_driver.RUNNER)
    with conductor.prepare():
        conductor.work(spark)
    return conductor.account


def test_a_full_disk_stops_with_a_clear_word_and_resumes_when_there_is_room(spark, small_disk, tmp_path):
    with pytest.raises(UserError, match=r"the disk is full .*make room and run again"):
        conduct(small_disk, spark)
    store = CampaignFolder(small_disk)
    kept = len(store.snapshot().runs() | store.staging.survey())
    assert 0 < kept < 24
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    assert conduct(small_disk, spark).simulated == 24 - kept
    conduct(tmp_path / "whole", spark)
    assert campaign_driver.facts(small_disk) == campaign_driver.facts(tmp_path / "whole")
    assert campaign_driver.tables(small_disk) == campaign_driver.tables(tmp_path / "whole")
