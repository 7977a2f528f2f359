"""What is wrong with the files of a lake, file by file and run by run, in the words that people read."""

import os

import pytest
from invented_facts import invent
from small_lake import ready, stage

from roamcast.lake.batch import table_file
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.committing.damage import find_damaged, find_lost
from roamcast.pipeline.committing.maintenance import verify
from roamcast.pipeline.lock import hold
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import find_holder

RUNS = ("00000001", "00000002", "00000003")


@pytest.fixture
def store(tmp_path):
    """Three runs, committed in one batch."""
    made = CampaignFolder(tmp_path / "out")
    made.create()
    for run in RUNS:
        stage(made, run, invent(int(run)))
    Committer(None, made).commit(ready(made))
    return made


def only_batch(store):
    [batch] = store.snapshot().batches.values()
    return batch


def test_a_lake_that_is_whole(store):
    batch = only_batch(store)
    assert find_damaged(store.facts, batch) == {} == find_lost(store.facts, batch)
    result = verify(store)
    sizes = [table_file(store.facts, table, batch.name).local.stat().st_size for table in batch.files]
    assert (result.runs, result.files, result.bytes) == (3, len(batch.files), sum(sizes))
    assert result.damaged == {} == result.lost


def test_a_file_that_is_gone_and_one_that_cannot_be_read(store):
    batch = only_batch(store)
    gone, held = (table_file(store.facts, table, batch.name) for table in ("drops", "deliveries"))
    gone.remove()
    held.local.unlink()
    held.local.mkdir()
    found = find_damaged(store.facts, batch)
    assert found.keys() == {("drops", batch.name), ("deliveries", batch.name)}
    assert found["drops", batch.name] == "is gone"
    assert found["deliveries", batch.name].startswith("cannot be read: ")
    assert find_lost(store.facts, batch).keys() == set(RUNS)


@pytest.mark.parametrize("content", [b"", b"no table at all"])
def test_a_file_that_holds_something_else_loses_all_runs(store, content):
    batch = only_batch(store)
    place = table_file(store.facts, "drops", batch.name)
    place.local.write_bytes(content)
    assert find_damaged(store.facts, batch) == {("drops", batch.name): "does not match its digest"}
    lost = find_lost(store.facts, batch)
    assert lost.keys() == set(RUNS)
    assert all(why.startswith(f"drops/{batch.name}.parquet cannot be read: ") for why in lost.values())


def test_who_holds_a_folder_is_known_and_keeps_others_out(store):
    assert find_holder(store.folder) is None
    with hold(store.folder, "testing this"):
        assert find_holder(store.folder) == os.getpid()
        assert (store.folder.local / ".lock").read_text() == f"{os.getpid()}\n"
        with (
            pytest.raises(CampaignFolderError, match=f"process {os.getpid()} is testing this"),
            hold(store.folder, "testing this"),
        ):
            pass
    assert find_holder(store.folder) is None
    with hold(store.folder):
        assert (store.folder.local / ".lock").read_text() == f"{os.getpid()}\n"
