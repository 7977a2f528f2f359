"""A watcher measures what commits bring, tells what it cannot read, and is alone."""

import pytest
from invented_commits import commit
from test_conduct import COUNT, campaign

from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.lock import hold
from roamcast.pipeline.watching import commits
from roamcast.pipeline.watching.watch import Watcher, WatchError
from roamcast.results.errors import CampaignFolderError


@pytest.fixture
def planned(tmp_path):
    """A campaign of four runs, of which none is done."""
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    conductor = CampaignRunner(
        campaign(seeds=1, claims={}, sweeps={"people": sweep}), CampaignFolder(tmp_path / "out")
    )
    with conductor.prepare(command="x"):
        pass
    return conductor


def test_what_a_commit_brings_is_measured_once_if_it_is_still_there(planned):
    said = []
    watcher = Watcher(str(planned.store.folder), say=said.append)
    watcher._prepare()
    runs = [run.id for run in planned.plan.runs]
    commit(planned, planned.plan.runs[:3])
    watcher.measured = watcher._measure(None, [runs[0], runs[1], runs[3]])  # the last one is not committed
    assert watcher.measured == {runs[0], runs[1]} and watcher.so_far == 2
    watcher.measured = watcher._measure(None, [runs[1], runs[2]])
    assert watcher.measured == set(runs[:3]) and watcher.so_far == 3
    assert said == ["measuring 2 runs ...", "measuring 1 runs ..."]
    assert [row["status"] for row in watcher.store.read_table("runs").to_pylist()].count("done") == 3


def test_rows_that_cannot_be_read_are_told_with_what_to_do(planned):
    runs = planned.plan.runs
    commit(planned, runs)
    (batch,) = planned.store.snapshot().batches
    file = (planned.store.facts / "deliveries" / f"{batch}.parquet").local
    file.write_bytes(b"?" * file.stat().st_size)  # its length tells nothing
    watcher = Watcher(str(planned.store.folder))
    watcher._prepare()
    with pytest.raises(WatchError) as raised:
        watcher._measure(None, [run.id for run in runs[:2]])
    assert str(raised.value).startswith("2 runs cannot be read, the first: ")
    assert str(raised.value).endswith(f"; see: roamcast campaign verify {planned.store.folder}")


def test_only_one_watches(planned):
    watcher = Watcher(str(planned.store.folder))
    watcher.place.make_folder()
    with hold(watcher.place), pytest.raises(CampaignFolderError, match="is watching this campaign"):
        watcher.watch(None, once=True)  # it does not come to asking Spark


def test_the_source_of_our_own_is_called_as_it_is_asked_for():
    source = commits.CommitStream({"path": "some/folder"})
    assert source.name() == commits.FORMAT and source.schema() == "entry long, run string"
    assert source.streamReader(None).folder == "some/folder"
