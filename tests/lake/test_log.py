"""The log by itself: what counts after its entries, by checkpoints or without, and what it refuses."""

import pytest

from roamcast.lake.log import CHECKPOINT_EVERY, Batch, Commit, CommitLog, CommittedRun, LakeError, Snapshot
from roamcast.lake.storage import StorageUrl


def batch(number):
    return Batch(f"b{number}", {f"run{number}": CommittedRun(rows=number, size=1)}, {})


def filled(folder, entries):
    log, snapshot = CommitLog(StorageUrl(str(folder))), Snapshot()
    for number in range(entries):
        snapshot = log.append(snapshot, Commit([batch(number)]))
    return log, snapshot


@pytest.mark.parametrize("entries", [0, 1, CHECKPOINT_EVERY - 1, CHECKPOINT_EVERY, 2 * CHECKPOINT_EVERY + 3])
def test_whoever_reads_reads_no_more_entries_than_lie_between_checkpoints(tmp_path, entries, monkeypatch):
    log, written = filled(tmp_path, entries)
    assert log.length() == entries
    assert written.number == entries - 1
    asked = []
    entry = CommitLog.entry
    monkeypatch.setattr(CommitLog, "entry", lambda self, number: asked.append(number) or entry(self, number))
    assert CommitLog(log.folder).read() == written
    assert asked == list(range(entries - entries % CHECKPOINT_EVERY, entries))


def test_a_checkpoint_ahead_of_the_entries_is_not_believed(tmp_path):
    log, written = filled(tmp_path, CHECKPOINT_EVERY)
    (tmp_path / f"{CHECKPOINT_EVERY - 1:08d}.json").unlink()
    assert CommitLog(log.folder).read().number == CHECKPOINT_EVERY - 2
    assert len(CommitLog(log.folder).read().batches) == len(written.batches) - 1


def test_of_two_who_commit_at_once_one_reads_on_and_tries_again(tmp_path):
    log, snapshot = filled(tmp_path, 1)
    assert log.append(snapshot, Commit([batch(1)])) is not None
    assert log.append(snapshot, Commit([batch(2)])) is None
    seen = []
    then = log.commit(lambda now: seen.append(now.number) or Commit([batch(2)]), snapshot)
    assert seen == [1]
    assert then.runs().keys() == {"run0", "run1", "run2"}
    assert log.commit(lambda now: None) == then


def test_a_log_that_loses_or_doubles_a_run_is_refused():
    held = Snapshot().after(Commit([batch(0), batch(1)]))
    joined = Batch("both", batch(0).runs | batch(1).runs, {})
    assert held.after(Commit([joined], ["b0", "b1"])).runs() == held.runs()
    with pytest.raises(LakeError, match="removes the batch b2, which does not exist"):
        held.after(Commit(remove=["b2"]))
    with pytest.raises(LakeError, match="adds the batch b1 twice"):
        held.after(Commit([batch(1)]))
    with pytest.raises(LakeError, match="has the run run0 twice"):
        held.after(Commit([joined], ["b1"]))


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]"])
def test_an_unreadable_checkpoint_is_passed_over(tmp_path, content):
    log, written = filled(tmp_path, 2 * CHECKPOINT_EVERY + 3)
    newest, oldest = sorted(tmp_path.glob("checkpoint-*"), reverse=True)
    newest.write_bytes(content)
    assert CommitLog(log.folder).read() == written
    oldest.write_bytes(content)
    assert CommitLog(log.folder).read() == written


def test_a_log_that_was_begun_anew_is_read_anew(tmp_path):
    log, written = filled(tmp_path / "first", 3)
    other, anew = filled(tmp_path / "second", 1)
    assert other.read(written) == anew
    assert log.read(anew) == written
