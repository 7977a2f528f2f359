"""A watcher and the stream that it follows, without Spark: batches are handed to it, nothing is judged."""

from types import SimpleNamespace

import pytest
from invented_facts import invent
from small_lake import ready, stage
from test_conduct import COUNT, campaign

from roamcast.lake.place import Place
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.errors import StoreError
from roamcast.pipeline.lock import hold
from roamcast.pipeline.store import Store
from roamcast.pipeline.watching import commits, watch
from roamcast.pipeline.watching.watch import Watcher, WatchError


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A campaign of four runs, of which none is done; what follows from its metrics is only noted."""
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    asked = campaign(seeds=1, claims={}, sweeps={"people": sweep})
    conductor = Conductor(asked, Store(tmp_path / "out"))
    with conductor.prepare(command="x"):
        pass
    conductor.derived = []
    monkeypatch.setattr(watch, "derive", lambda *given: conductor.derived.append(given))
    return conductor


def commit(conductor, runs):
    for run in runs:
        stage(conductor.store, run.id, invent(int(run.id, 16) % 1000))
    Committer(None, conductor.store).commit(ready(conductor.store))


def brought(*runs):
    """A batch of the stream."""
    return SimpleNamespace(collect=lambda: [{"run": run} for run in runs], sparkSession=None)


class Query:
    """A stream that hears some batches, one between two looks, and ends or fails."""

    def __init__(self, hear, batches, error=None):
        self._hear, self._batches, self._error = hear, list(batches), error
        self.stopped = 0

    @property
    def isActive(self):
        if not self._batches:
            return False
        try:
            self._hear(self._batches.pop(0), 0)
        except WatchError:
            return False
        return True

    def exception(self):
        return self._error

    def stop(self):
        self.stopped += 1


class Stream:
    """What `follow` gives, down to the query that starts."""

    def __init__(self, batches, error=None):
        self.batches, self.error, self.options, self.triggers = batches, error, {}, {}
        self.writeStream = self

    def foreachBatch(self, hear):
        self.hear = hear
        return self

    def option(self, key, value):
        self.options[key] = value
        return self

    def trigger(self, **how):
        self.triggers |= how
        return self

    def start(self):
        self.query = Query(self.hear, self.batches, self.error)
        return self.query


@pytest.fixture
def stream(monkeypatch):
    monkeypatch.setattr(watch, "_BETWEEN_LOOKS", 0.0)

    def make(*batches, error=None):
        made = Stream(batches, error)
        monkeypatch.setattr(watch, "follow", lambda spark, folder: made)
        return made

    return make


def test_what_a_commit_brings_is_measured_and_published(planned):
    shown, said = [], []
    watcher = Watcher(str(planned.store.folder), say=said.append, publish=lambda it: shown.append(it.so_far))
    watcher._prepare()
    runs = planned.plan.runs
    commit(planned, runs[:3])
    watcher._hear(brought(runs[0].id, runs[1].id, "of another plan"), 0)
    assert watcher.measured == {runs[0].id, runs[1].id} and shown == [2]
    watcher._hear(brought(runs[1].id, runs[2].id), 1)
    assert watcher.measured == {run.id for run in runs[:3]} and shown == [2, 3]
    assert said == ["measuring 2 runs ...", "measuring 1 runs ..."]
    assert [row["status"] for row in watcher.store.read_table("runs").to_pylist()].count("done") == 3
    assert planned.derived[0][:3] == (None, watcher.store, 1)
    with planned.derived[0][3]("some stage"):
        pass


def test_a_run_that_is_brought_and_gone_again_is_not_measured(planned):
    watcher = Watcher(str(planned.store.folder))
    watcher._prepare()
    watcher._hear(brought(planned.plan.runs[0].id), 0)
    assert watcher.measured == frozenset() and watcher.so_far == 0


def test_a_campaign_is_watched_until_nothing_more_is_to_come(planned, stream):
    runs = planned.plan.runs
    commit(planned, runs)
    made = stream(brought(runs[0].id, runs[1].id), brought(), brought(runs[2].id, runs[3].id), brought())
    shown = []
    watcher = Watcher(str(planned.store.folder), show=lambda it: shown.append(len(it.measured)))
    watcher.watch(None)
    assert shown == [2, 2, 4, 4]  # a look after each batch, and one at the end
    assert len(made.query._batches) == 1, "it ends by itself"
    assert watcher.finished and watcher.so_far is None and made.query.stopped == 1
    assert made.triggers == {"processingTime": "1 second"}
    assert made.options == {"checkpointLocation": watcher.checkpoint.local.as_uri()}


def test_once_means_until_the_stream_has_ended(planned, stream):
    runs = planned.plan.runs
    commit(planned, runs[:2])
    made = stream(brought(runs[0].id), brought(runs[1].id))
    watcher = Watcher(str(planned.store.folder))
    watcher.watch(None, once=True)
    assert made.triggers == {"availableNow": True} and made.query._batches == []
    assert watcher.so_far == 2


def test_a_watcher_that_begins_again_goes_on_with_its_tables(planned, stream):
    runs = planned.plan.runs
    commit(planned, runs[:2])
    stream(brought(runs[0].id, runs[1].id))
    said = []
    Watcher(str(planned.store.folder), say=said.append).watch(None, once=True)
    again = Watcher(str(planned.store.folder), say=said.append)
    again.checkpoint.make_folder()
    stream()
    again.watch(None, once=True)
    assert len(again.measured) == 2 and said == ["measuring 2 runs ..."]
    again.checkpoint.remove()
    anew = Watcher(str(planned.store.folder), say=said.append)
    anew.watch(None, once=True)
    assert anew.measured == frozenset(), "without its checkpoint all is heard anew"


def test_only_one_watches(planned, stream):
    stream()
    watcher = Watcher(str(planned.store.folder))
    watcher.place.make_folder()
    with hold(watcher.place), pytest.raises(StoreError, match="is watching this campaign"):
        watcher.watch(None, once=True)


def test_rows_that_cannot_be_read_are_looked_for_again_and_then_told(planned, stream, monkeypatch):
    runs = planned.plan.runs
    commit(planned, runs)
    tried = []

    def work(self, spark, wanted, say):
        tried.append(set(wanted))
        return {runs[0].id: "its rows are gone", runs[1].id: "others"}

    monkeypatch.setattr(watch.Measuring, "work", work)
    made = stream(brought(runs[0].id, runs[1].id))
    watcher = Watcher(str(planned.store.folder))
    with pytest.raises(WatchError) as told:
        watcher.watch(None)
    assert str(told.value) == (
        f"2 runs cannot be read, the first: {runs[0].id}: its rows are gone; "
        f"see: roamcast campaign verify {planned.store.folder}"
    )
    assert tried == [{runs[0].id, runs[1].id}] * 3 and made.query.stopped == 1


def test_what_goes_wrong_with_the_stream_is_raised(planned, stream):
    made = stream(error=KeyError("of the stream"))
    with pytest.raises(KeyError, match="of the stream"):
        Watcher(str(planned.store.folder)).watch(None)
    assert made.query.stopped == 1


def test_where_spark_cannot_read_a_source_of_our_own_follows_the_log(monkeypatch):
    registered, loaded = [], []
    reader = SimpleNamespace(load=lambda folder: loaded.append(folder) or "a stream")
    spark = SimpleNamespace(
        dataSource=SimpleNamespace(register=registered.append),
        readStream=SimpleNamespace(format=lambda name: loaded.append(name) or reader),
    )
    folder = Place("s3://bucket/campaign")
    assert commits.follow(spark, folder) == "a stream"
    assert registered == [commits.Commits] and loaded == [commits.FORMAT, str(folder)]
    assert commits.Commits.name() == commits.FORMAT
    source = commits.Commits({"path": "some/folder"})
    assert source.schema() == "entry long, run string"
    assert source.streamReader(None).folder == "some/folder"
