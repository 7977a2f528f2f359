"""Nothing lost, nothing doubled: commits and compactions that end at any step, and drivers that meet."""

import itertools
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_lake import (
    Killed,
    content,
    delta_content,
    expected,
    ready,
    stage,
    stage_packed,
    steps,
    unseen,
)

from roamcast.facts.pack import PACK
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing import compaction
from roamcast.pipeline.committing.commit import Committer

RUNS = [f"{number:020x}" for number in range(1, 12)]


def open_store(folder):
    store = CampaignFolder(folder)
    store.create()
    (store.folder / "campaign.json").write(b"{}")
    return store


def recover(folder):
    """What the next command does first."""
    store = CampaignFolder(folder)
    store.tidy()
    Committer(None, store).commit(ready(store))
    return store


def files_of(folder):
    return {file for file in folder.rglob("*") if file.is_file()}


def check(folder, runs):
    """The lake holds each of `runs` once, row for row, for every reader, and no file besides."""
    for table in ("deliveries", "drops"):
        assert content(folder, table) == expected(runs, table)
        assert delta_content(folder, table) == expected(runs, table)
    assert delta_content(folder, "runs").keys() == set(runs)
    batches = CampaignFolder(folder).snapshot().batches.values()
    named = {folder / "facts" / table / f"{b.name}.parquet" for b in batches for table in b.files}
    named |= {folder / "facts" / "runs" / batch.record for batch in batches}
    found = {file for file in files_of(folder / "facts") if file.suffix == ".parquet"}
    assert {file for file in found if file.parent.name != "_delta_log"} == named
    assert not any((folder / "staged").iterdir())


def end_at(number, act):
    """Let `act` end before its step `number`; whether it would have gone on."""

    def before(at, _):
        if at == number:
            raise Killed

    with steps(before):
        try:
            act()
        except Killed:
            return True
    return False


def test_a_commit_that_ends_at_any_step_loses_nothing_and_doubles_nothing(tmp_path):
    number = 0
    going_on = True
    while going_on:
        folder = tmp_path / str(number)
        store = open_store(folder)
        for run in RUNS[:3]:
            stage(store, run)
        going_on = end_at(number, lambda store=store: Committer(None, store).commit(ready(store)))
        recover(folder).tidy()
        check(folder, RUNS[:3])
        number += 1
    assert number > 8


def test_a_compaction_that_ends_at_any_step_loses_nothing_and_doubles_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction.choose, "__defaults__", (3, compaction.LARGE))
    number = 0
    going_on = True
    while going_on:
        folder = tmp_path / str(number)
        store = open_store(folder)
        for run in RUNS[:4]:
            stage(store, run)
            Committer(None, store).commit(ready(store))
        assert len(store.snapshot().batches) == 4
        going_on = end_at(number, lambda store=store: Committer(None, store).compact())
        store = recover(folder)
        Committer(None, store).compact()
        store.tidy()
        check(folder, RUNS[:4])
        assert len(store.snapshot().batches) == 2
        number += 1
    assert number > 4


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
def test_of_two_drivers_that_commit_the_same_runs_one_does(tmp_path, moment):
    stores = open_store(tmp_path), CampaignFolder(tmp_path)
    for run in RUNS[:4]:
        stage(stores[0], run)
    taken = ready(stores[0])

    commits = itertools.count()

    def before(_, what):  # another comes first, at the last moment
        if what == "commit_files" and next(commits) == moment:
            with unseen():
                Committer(None, stores[1]).commit({run: taken[run] for run in RUNS[:2]})

    with steps(before):
        assert Committer(None, stores[0]).commit(taken) == {}
    stores[0].tidy()
    check(tmp_path, RUNS[:4])
    assert len(stores[0].snapshot().batches) == 2 or moment == 3


def test_a_damaged_staged_run_is_told_and_the_others_are_committed(tmp_path):
    store = open_store(tmp_path)
    for run in RUNS[:5]:
        stage(store, run)
    flipped, short, gone, odd = (tmp_path / "staged" / f"run={run}" for run in RUNS[:4])
    content_ = bytearray((flipped / "deliveries.parquet").read_bytes())
    content_[len(content_) // 2] ^= 1
    (flipped / "deliveries.parquet").write_bytes(content_)
    (short / "drops.parquet").write_bytes((short / "drops.parquet").read_bytes()[:-5])
    (gone / "drops.parquet").unlink()
    (odd / "manifest.json").write_text('{"status": "do')
    assert store.survey(RUNS[:5]).damaged == {RUNS[3]: "its manifest cannot be read"}
    result = Committer(None, store).commit(ready(store))
    assert result[RUNS[0]] == "deliveries.parquet does not match its digest"
    assert "bytes, not" in result[RUNS[1]]
    assert result[RUNS[2]] == "drops.parquet is gone"
    assert store.survey(RUNS[:5]).missing == RUNS[:4]
    assert content(tmp_path, "deliveries").keys() == {RUNS[4]}


def test_packed_runs_are_committed_as_others_are(tmp_path):
    store = open_store(tmp_path)
    for number, run in enumerate(RUNS[:6]):
        (stage_packed if number % 2 else stage)(store, run)
    stage_packed(store, RUNS[6], {}, about='{"scenario": "quiet"}')
    assert Committer(None, store).commit(ready(store)) == {}
    for table in ("deliveries", "drops"):
        assert content(tmp_path, table) == expected(RUNS[:6], table)
    about = content(tmp_path, "about")
    assert about == {run: [{"told": "{}"}] for run in RUNS[1:6:2]} | {
        RUNS[6]: [{"told": '{"scenario": "quiet"}'}]
    }
    assert [store.snapshot().runs()[run].rows for run in RUNS[:7]] == [4] * 6 + [0]
    assert not any((tmp_path / "staged").iterdir())


def test_a_damaged_pack_is_told_and_the_others_are_committed(tmp_path):
    store = open_store(tmp_path)
    for run in RUNS[:4]:
        stage_packed(store, run)
    flipped, short, gone = (tmp_path / "staged" / f"run={run}" / PACK for run in RUNS[:3])
    hurt = bytearray(flipped.read_bytes())
    hurt[len(hurt) // 2] ^= 1
    flipped.write_bytes(hurt)
    short.write_bytes(short.read_bytes()[:-5])
    gone.unlink()
    result = Committer(None, store).commit(ready(store))
    assert result[RUNS[0]] == f"{PACK} does not match its digest"
    assert "bytes, not" in result[RUNS[1]]
    assert result[RUNS[2]] == f"{PACK} is gone"
    assert store.survey(RUNS[:4]).missing == RUNS[:3]
    assert content(tmp_path, "deliveries").keys() == {RUNS[3]}


def test_damage_in_the_lake_costs_the_runs_that_it_touches_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("roamcast.lake.batch.GROUP_ROWS", 3)  # so that a row group is a run's
    store = open_store(tmp_path)
    for run in RUNS[:6]:
        stage(store, run)
    Committer(None, store).commit(ready(store))
    [name] = store.snapshot().batches
    file = tmp_path / "facts" / "deliveries" / f"{name}.parquet"
    hurt = bytearray(file.read_bytes())
    hurt[30] ^= 255  # in the first page of the first run
    file.write_bytes(hurt)
    lost = Committer(None, store).repair([name])
    assert lost.keys() == {RUNS[0]} and f"deliveries/{name}.parquet cannot be read" in lost[RUNS[0]]
    store.tidy()
    check(tmp_path, RUNS[1:6])
    assert store.survey(RUNS[:6]).missing == [RUNS[0]]
    [name] = store.snapshot().batches
    (tmp_path / "facts" / "drops" / f"{name}.parquet").unlink()
    assert store.survey(RUNS[:6]).damaged.keys() == set(RUNS[1:6])
    Committer(None, store).repair(list(store.damaged_batches(store.snapshot())))
    assert not store.snapshot().batches


def test_runs_are_taken_out_and_the_rest_stays(tmp_path):
    store = open_store(tmp_path)
    for group in (RUNS[:3], RUNS[3:6], RUNS[6:7]):
        for run in group:
            stage(store, run)
        Committer(None, store).commit(ready(store))
    Committer(None, store).drop(frozenset([RUNS[1], RUNS[6]]))
    store.tidy()
    check(tmp_path, [RUNS[0], *RUNS[2:6]])
    assert len(store.snapshot().batches) == 2


ACTIONS = st.one_of(
    st.tuples(st.just("stage"), st.sets(st.sampled_from(RUNS), min_size=1, max_size=4)),
    st.tuples(st.just("commit"), st.integers(0, 25), st.integers(0, 12)),
    st.tuples(st.just("compact"), st.integers(0, 25), st.integers(0, 12)),
    st.tuples(st.just("drop"), st.sets(st.sampled_from(RUNS), min_size=1, max_size=2)),
)


@given(st.lists(ACTIONS, min_size=2, max_size=7))
@settings(max_examples=25, deadline=None)
@example([("stage", {RUNS[0], RUNS[1]}), ("commit", 25, 5), ("stage", {RUNS[2]}), ("commit", 4, 2)])
def test_any_history_of_commits_crashes_and_drivers_ends_with_each_run_once(tmp_path_factory, history):
    folder = tmp_path_factory.mktemp("lake")
    kept = compaction.choose.__defaults__
    compaction.choose.__defaults__ = (2, compaction.LARGE)
    try:
        _play(folder, history)
    finally:
        compaction.choose.__defaults__ = kept


def _play(folder, history):
    """The slow twin is a set: what was staged is there, unless it was dropped since."""
    open_store(folder)
    there = set()
    for what, *how in history:
        store, other = CampaignFolder(folder), CampaignFolder(folder)
        if what == "stage":
            for run in how[0] - there:
                stage(store, run)
            there |= how[0]
        elif what == "drop":
            Committer(None, recover(folder)).drop(frozenset(how[0]))
            there -= how[0]
        else:
            _meet(store, other, what, *how)
        seen = content(folder, "deliveries")
        assert seen.keys() <= there and seen == expected(seen, "deliveries")
    recover(folder).tidy()
    check(folder, sorted(there))


def _meet(store, other, what, ends, meets):
    """One driver acts, and ends before its step `ends`; before step `meets` another does all that it can."""

    def before(at, _):
        if at == ends:
            raise Killed
        if at == meets:
            with unseen():
                second = Committer(None, other)
                second.commit(ready(other))
                second.compact()

    first = Committer(None, store)
    with suppress(Killed), steps(before):
        if what == "commit":
            first.commit(ready(store))
        first.compact()


def test_a_folder_of_the_older_layout_is_told_in_a_line(tmp_path):
    (tmp_path / "runs" / "run=1").mkdir(parents=True)
    with pytest.raises(Exception, match=r"is of an older layout .* run the campaign into another folder"):
        CampaignFolder(tmp_path).create()
