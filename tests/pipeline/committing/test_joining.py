"""Which runs a batch takes and which task writes which table; what a task of a commit answers to trouble."""

import errno
import os
import threading
import time

import pytest
from small_lake import ready, stage

from roamcast.lake.columns import TABLES
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing import batch_tasks
from roamcast.pipeline.committing import commit as committing
from roamcast.pipeline.committing.batch_tasks import (
    MOST_BYTES,
    MOST_RUNS,
    BatchTask,
    split_batches,
    spread_tables,
    write_batch_tables,
)
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.running.simulate import DiskFull

RUNS = [f"{number:020x}" for number in range(1, 8)]


@pytest.fixture
def store(tmp_path):
    made = CampaignFolder(tmp_path)
    made.create()
    return made


def staged(*sizes):
    """Manifests of runs whose two files have so many bytes together."""
    return {
        f"{number:04d}": {"files": {"a": {"size": size - size // 3}, "b": {"size": size // 3}}}
        for number, size in enumerate(sizes)
    }


def test_a_batch_takes_so_many_runs_in_their_order():
    given = staged(*[10] * (2 * MOST_RUNS + 1))
    found = split_batches(dict(reversed(given.items())))
    assert [len(batch) for batch in found] == [MOST_RUNS, MOST_RUNS, 1]
    assert [run for batch in found for run in batch] == sorted(given)


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [
        ((MOST_BYTES, 1), [1, 1]),
        ((MOST_BYTES // 2, MOST_BYTES // 2), [2]),
        ((MOST_BYTES // 2, MOST_BYTES // 2 + 1), [1, 1]),
        ((2 * MOST_BYTES, 5, 5), [1, 2]),
        ((MOST_BYTES - 6, 3, 3, 3, MOST_BYTES - 3), [3, 2]),
    ],
)
def test_a_batch_of_several_runs_takes_so_many_bytes(sizes, counts):
    assert [len(batch) for batch in split_batches(staged(*sizes))] == counts


def test_the_long_tables_of_a_large_batch_are_tasks_of_their_own():
    assert spread_tables(batch_tasks._ALONE - 1) == [tuple(TABLES)]
    sends, drops, rest = spread_tables(batch_tasks._ALONE)
    assert (sends, drops) == (("transmissions",), ("drops",))
    assert sorted(sends + drops + rest) == sorted(TABLES)
    half = {"files": {"size": batch_tasks._ALONE // 2}}
    assert batch_tasks.spread_runs({"one": half, "two": half}) == spread_tables(batch_tasks._ALONE)


def failing(number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_task_that_finds_the_disk_full_says_so(monkeypatch, store, number):
    monkeypatch.setattr(batch_tasks, "join_staged", failing(number))
    text = write_batch_tables(store.staged, str(store.facts), BatchTask("new", ("drops",), {}))
    assert text.files == text.damaged == {} and os.strerror(number) in text.full


def test_any_other_trouble_with_the_disk_is_an_error(monkeypatch, store):
    monkeypatch.setattr(batch_tasks, "join_staged", failing(errno.EIO))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_batch_tables(store.staged, str(store.facts), BatchTask("new", ("drops",), {}))


def test_a_commit_on_a_full_disk_leaves_no_file_and_keeps_what_is_staged(monkeypatch, store):
    stage(store, RUNS[0])
    whole = batch_tasks.join_staged

    def join_some(staging, lake, table, *rest, **more):
        return failing(errno.ENOSPC)() if table == "drops" else whole(staging, lake, table, *rest, **more)

    monkeypatch.setattr(batch_tasks, "join_staged", join_some)
    with pytest.raises(DiskFull, match=r"the disk is full \(.*\); make room and run again"):
        Committer(None, store).commit(ready(store))
    assert not list(store.facts.local.glob("*/*.parquet"))
    assert ready(store).keys() == {RUNS[0]} and not store.snapshot().batches


def test_compaction_tells_how_many_batches_are_gone(monkeypatch, store):
    for run in RUNS[:5]:
        stage(store, run)
        Committer(None, store).commit(ready(store))
    groups = [[2, 3], []]

    def choose(snapshot):
        counts = groups.pop(0)
        batches = iter(snapshot.batches.values())
        return [[next(batches) for _ in range(count)] for count in counts]

    monkeypatch.setattr(committing, "choose", choose)
    assert Committer(None, store).compact() == 3
    assert sorted(len(batch.runs) for batch in store.snapshot().batches.values()) == [2, 3]
    assert store.snapshot().runs().keys() == set(RUNS[:5])


def test_what_was_joined_stays_for_who_reads_it_until_the_next_time(monkeypatch, store):
    committer = Committer(None, store)
    stage(store, RUNS[0])
    committer.commit(ready(store))
    first = store.snapshot()
    (name,) = first.batches

    def is_there():
        return any(store.facts.local.rglob(f"{name}.parquet"))

    assert committer.rewrite(store.snapshot(), [list(store.snapshot().batches.values())], frozenset())
    assert is_there()
    assert committer.rewrite(store.snapshot(), [list(store.snapshot().batches.values())], frozenset())
    assert not is_there()


def test_a_rewrite_of_batches_that_another_has_changed_is_given_up(store):
    stage(store, RUNS[0])
    Committer(None, store).commit(ready(store))
    stale = store.snapshot()
    groups = [list(stale.batches.values())]
    assert Committer(None, store).rewrite(stale, groups, frozenset())
    files = set(store.facts.local.rglob("*.parquet"))
    assert not Committer(None, store).rewrite(stale, groups, frozenset())
    assert set(store.facts.local.rglob("*.parquet")) == files


def test_a_batch_with_damage_that_nobody_finds_is_out_as_a_whole_if_there_surely_is_some(store):
    for run in RUNS[:2]:
        stage(store, run)
    Committer(None, store).commit(ready(store))
    (name,) = store.snapshot().batches
    assert Committer(None, store).repair([name]) == {}
    assert store.snapshot().runs().keys() == set(RUNS[:2])
    result = "a file with its rows does not match its digest"
    assert Committer(None, store).repair([name], surely=True) == dict.fromkeys(RUNS[:2], result)
    assert not store.snapshot().batches and not list(store.facts.local.glob("*/*.parquet"))


def test_what_is_committed_tells_what_its_run_took(store):
    manifest = stage(store, RUNS[0])
    manifest |= {"wall": 3.0, "cpu": 2.0, "memory": 7, "version": "v"}
    Committer(None, store).commit({RUNS[0]: manifest})
    done = store.snapshot().runs()[RUNS[0]]
    assert (done.rows, done.wall, done.cpu, done.memory, done.version) == (4, 3.0, 2.0, 7, "v")
    assert done.size == sum(file["size"] for file in manifest["files"].values())


def await_(what):
    """Until something is so; what never is, the test's own time limit ends."""
    while not what():
        time.sleep(0.01)


def committed(store):
    """What another process would see."""
    return CampaignFolder(store.folder).snapshot().runs().keys()


def test_what_is_staged_while_runs_go_on_is_committed_once_there_is_enough(monkeypatch, store):
    monkeypatch.setattr(committing, "_OFTEN", 2)
    with Committer(None, store).commit_meanwhile(lambda _: None):
        (thread,) = (each for each in threading.enumerate() if each.name == "commit")
        assert thread.daemon, "a commit that hangs must not keep the process"
        stage(store, RUNS[0])
        stage(store, RUNS[1])
        await_(lambda: committed(store) == set(RUNS[:2]))
        stage(store, RUNS[2])
    assert not thread.is_alive()
    assert ready(store).keys() == {RUNS[2]}, "the rest is for whoever ends the campaign"


def test_what_is_staged_does_not_wait_for_ever_and_damage_is_told_once(monkeypatch, store):
    monkeypatch.setattr(committing, "_LONGEST", 0.0)
    received = []
    store.staging.write_manifest({"run": RUNS[5], "status": "failed", "error": "x", "files": {}})
    for run in RUNS[:2]:
        stage(store, run)
    (store.staging.run_folder(RUNS[0]) / "drops.parquet").remove()
    with Committer(None, store).commit_meanwhile(received.append):
        await_(lambda: received)
        stage(store, RUNS[2])
        await_(lambda: committed(store) == set(RUNS[1:3]))
    assert received == [f"{RUNS[0]} was damaged before it was committed: drops.parquet is gone"]
    assert store.staging.read_manifest(RUNS[5])["status"] == "failed"


def test_what_the_commits_could_not_do_is_raised_when_the_runs_have_ended(monkeypatch, store):
    monkeypatch.setattr(committing, "_LONGEST", 0.0)
    stage(store, RUNS[0])
    failed = threading.Event()

    def fail(ready):
        failed.set()
        raise KeyError("of the commit")

    committer = Committer(None, store)
    monkeypatch.setattr(committer, "commit", fail)
    with pytest.raises(KeyError, match="of the commit"), committer.commit_meanwhile(lambda _: None):
        failed.wait()
    with pytest.raises(ZeroDivisionError), committer.commit_meanwhile(lambda _: None):
        raise ZeroDivisionError
    assert not [each for each in threading.enumerate() if each.name == "commit"]
