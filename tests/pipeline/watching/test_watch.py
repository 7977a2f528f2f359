"""Who watches a campaign sees at its end what batch makes of it, whatever happened to the watcher."""

import pytest
from invented_commits import commit
from test_conduct import COUNT, campaign

from roamcast.campaign.tables import TABLES
from roamcast.cli.app import invoke
from roamcast.errors import UserError
from roamcast.lake.runs_table import RunsTable
from roamcast.lake.snapshot import Commit
from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.committing import commit as committing
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.watching.watch import Watcher
from roamcast.report.page.page import make_page
from roamcast.report.result import CampaignResult

CLAIM = {
    "kind": "ordering",
    "says": "slow sends more",
    "sweep": "people",
    "metric": "messages",
    "protocols": ["flooding", "slow"],
}


def asked():
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    return campaign(seeds=2, claims={"order": CLAIM}, sweeps={"people": sweep})


@pytest.fixture
def planned(tmp_path):
    """A campaign of eight runs, of which none is done."""
    conductor = CampaignRunner(asked(), CampaignFolder(tmp_path / "out"))
    with conductor.prepare(command="roamcast campaign run x.toml"):
        pass
    return conductor


def compact(conductor, monkeypatch):
    """Join all batches, and remove the files that were joined."""
    monkeypatch.setattr(committing, "choose", lambda known: [[*known.batches.values()]])
    committer, snapshot = Committer(None, conductor.store), conductor.store.snapshot()
    assert committer.rewrite(snapshot, committing.choose(snapshot), frozenset())
    conductor.store.remove_batches(snapshot, snapshot.batches)


class Stopped(Exception):
    """As a kill after the tables were written, before Spark noted the batch."""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_what_is_watched_in_parts_equals_batch_though_the_watcher_ends_midway(spark, planned, monkeypatch):
    out, runs = planned.store.folder.local, planned.plan.runs
    commit(planned, runs[:3])
    commit(planned, runs[3:5])
    compact(planned, monkeypatch)
    said, seen = [], []

    def stop(watcher):
        if watcher.measured:
            seen.append(CampaignResult(watcher.store, watcher.so_far))
            raise Stopped

    with pytest.raises(UserError, match="Spark gave up watching") as why:
        Watcher(str(out), say=said.append, publish=stop).watch(spark, once=True)
    assert said == ["measuring 5 runs ..."], why.value
    (result,), (judged,) = seen, seen[0].claims
    assert not result.stale and result.marker == "5 of 8 runs so far"
    assert judged.verdict_text == f"{judged.verdict} so far"

    commit(planned, runs[5:])
    numbers = []
    last = Watcher(str(out), say=said.append, publish=lambda watcher: numbers.append(watcher.so_far))
    last.watch(spark)  # ends by itself: nothing more is to come
    assert said[1:] == ["measuring 3 runs ..."], "no run is measured twice"
    assert numbers[0] == 5 and numbers[-1] is None

    with planned.prepare(command="roamcast campaign run x.toml"):
        planned.evaluate(spark, planned.survey())
    for name in TABLES.keys() - {"quality"}:  # written by `roamcast lake check` alone
        assert last.store.table_file(name).read() == planned.store.table_file(name).read(), name
    assert make_page(CampaignResult(last.store, last.so_far)) == make_page(CampaignResult(planned.store))


def test_a_page_of_some_runs_says_so_and_is_read_again(planned):
    page = make_page(_partial(planned), follow=True)
    assert "<strong>3 of 8 runs so far.</strong>" in page
    assert '<meta http-equiv="refresh" content="5">' in page
    whole = make_page(CampaignResult(planned.store))
    assert "so far" not in whole and "refresh" not in whole


def _partial(conductor):
    result = CampaignResult(conductor.store, 3)
    result.stale = frozenset()
    result.tables["plan"] = conductor.store.read_table("plan").to_pylist()
    return result


def test_a_campaign_is_finished_when_nothing_is_missing_and_nobody_tries_again(planned, monkeypatch):
    watcher = Watcher(str(planned.store.folder))
    survey = watcher.refresh_status()
    assert len(survey.missing) == 8 and not watcher.finished
    survey.missing, survey.failed = [], {run.id: {} for run in planned.plan.runs}
    with planned.store.lock():
        assert not watcher.finished  # who runs it tries the failed ones again
    assert watcher.finished
    survey.failed, survey.done = {}, {planned.plan.runs[0].id: {}}
    assert not watcher.finished
    watcher.measured = frozenset(survey.done)
    assert watcher.finished


def test_what_stands_beside_the_checkpoint_stays(planned, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    watcher = Watcher(str(planned.store.folder), checkpoint=str(tmp_path / "mine"))
    watcher.checkpoint.make_folder()
    assert not watcher._prepare()
    assert not watcher.checkpoint.exists()
    assert (tmp_path / "mine" / "diary.txt").exists()


def test_a_watcher_ends_when_something_else_is_asked(planned):
    watcher = Watcher(str(planned.store.folder))
    other = campaign(seeds=3)
    planned.store.write_campaign(other)
    with pytest.raises(UserError, match="has changed"):
        watcher.refresh_status()


def test_a_commit_brings_its_runs_and_a_compaction_none(tmp_path):
    from roamcast.pipeline.watching.commits import CommitReader

    log = RunsTable(StorageUrl(tmp_path / "facts"))
    conductor = CampaignRunner(asked(), CampaignFolder(tmp_path))
    with conductor.prepare():
        pass
    reader = CommitReader(str(tmp_path))
    assert reader.latestOffset(reader.initialOffset(), None) == {"entry": 1}
    commit(conductor, conductor.plan.runs[:2])
    batch = next(iter(conductor.store.snapshot().batches.values()))
    moved = type(batch)("moved", batch.runs, {})
    assert log.append(log.read(), Commit(add=[moved], remove=[batch.name]))
    end = reader.latestOffset({"entry": 0}, None)
    assert end == {"entry": 3}
    (part,) = reader.partitions({"entry": 0}, end)
    rows = [row for batch in reader.read(part) for row in batch.to_pylist()]
    assert rows == [
        {"entry": 1, "run": run.id} for run in sorted(conductor.plan.runs[:2], key=lambda r: r.id)
    ]
    assert reader.partitions(end, end) == []
    with pytest.raises(UserError, match="the facts were replaced"):
        reader.latestOffset({"entry": 4}, None)


@pytest.mark.parametrize("given", [("nowhere",), (".",), ("s3://bucket/x", "--once")])
def test_a_wrong_folder_is_one_line_and_exit_code_2(given, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(StorageUrl, "read", _nothing)
    monkeypatch.setattr(StorageUrl, "list", lambda self: {})
    assert invoke(["campaign", "watch", *given]) == 2
    output = capsys.readouterr()
    assert output.err.count("\n") == 1 and "no campaign was run here" in output.err and not output.out


def _nothing(self):
    raise FileNotFoundError(str(self))
