"""A campaign's stages and what is said of them, without Spark: runs are invented, tables are not judged."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from invented_facts import invent
from small_lake import ready, stage
from test_conduct import COUNT, campaign

from roamcast.pipeline import conduct as conducting
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.conduct import Account, Conductor, Listener, runs_table
from roamcast.pipeline.measuring import derive as deriving
from roamcast.pipeline.store import Store, Survey


def asked():
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    return campaign(seeds=1, claims={}, sweeps={"people": sweep})


class World:
    """A campaign of four runs whose simulation stages facts at once; `spoil` is called after each time."""

    def __init__(self, folder, monkeypatch):
        self.said, self.simulated, self.costs, self.derived, self.sessions = [], [], [], [], []
        self.spoil = lambda: None
        self.store = Store(folder)
        self.conductor = Conductor(asked(), self.store, Listener(say=self.said.append), runner="some:runner")
        monkeypatch.setattr(conducting, "simulate", self._simulate)
        monkeypatch.setattr(conducting, "open_session", self._open)
        monkeypatch.setattr(
            conducting, "warm_up", lambda spark, say: self.sessions.append(f"{spark} is warm") or say("warm")
        )
        monkeypatch.setattr(deriving, "derive", lambda *given: self.derived.append(given))

    def _simulate(self, spark, store, todo, limits, *, costs, watch, runner):
        assert runner == "some:runner" and limits == self.conductor.campaign.limits
        self.simulated.append([run.id for run in todo])
        self.costs.append(costs)
        for run in todo:
            stage(store, run.id, invent(int(run.id, 16) % 1000))
        self.spoil()

    @contextmanager
    def _open(self, where):
        self.sessions.append(where)
        yield None

    @property
    def runs(self):
        return [run.id for run in self.conductor.plan.runs]

    def batch(self):
        return min(self.store.snapshot().batches.values(), key=lambda each: each.name)


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "out", monkeypatch)


def test_a_campaign_is_planned_simulated_measured_and_derived_in_one_session(world):
    account = world.conductor.conduct("local[2]", command="some command")
    assert world.sessions == ["local[2]", "None is warm"]
    assert world.said == [
        "4 runs planned; starting Spark (local[2]) ...",
        "warm",
        "measuring 4 runs ...",
    ]
    assert account.simulated == 4 and account.seconds.keys() == {"session", "simulate", "measure"}
    assert all(0 <= took < 100 for took in account.seconds.values())
    assert world.store.read_campaign() == (world.conductor.campaign, {"command": "some command"})
    assert len(world.store.read_table("metrics")) == 4
    assert {row["status"] for row in world.store.read_table("runs").to_pylist()} == {"done"}
    ((spark, store, seeds, time),) = world.derived
    assert (spark, store, seeds, time) == (None, world.store, 1, account.time)


def test_a_finished_campaign_starts_no_session(world, monkeypatch):
    world.conductor.conduct()
    assert world.said[0] == "4 runs planned; starting Spark (here) ..."
    world.said.clear()
    monkeypatch.setattr(world.store, "stale", frozenset)
    assert world.conductor.conduct().simulated == 4
    assert world.said == ["all 4 runs are done and measured: nothing to do"] and len(world.sessions) == 2
    monkeypatch.setattr(world.store, "stale", lambda: frozenset(["summary"]))
    world.conductor.conduct()
    assert len(world.sessions) == 4 and world.simulated[-1] == []


def test_what_is_done_or_staged_is_not_simulated_and_what_it_took_tells_what_is_longest(world):
    with world.conductor.prepare():
        stage(world.store, world.runs[0], invent(0))
        Committer(None, world.store).commit(ready(world.store))
        stage(world.store, world.runs[1], invent(1))
        world.conductor.work(None)
    assert world.said[0] == "2 of 4 runs are done already"
    assert world.simulated == [world.runs[2:]]
    assert world.conductor.account.simulated == 2
    sizes = {run.id: run.duration * run.nodes for run in world.conductor.plan.runs}
    first = world.runs[0]
    assert world.costs == [
        {run: pytest.approx(0.1 * sizes[run] / sizes[first]) for run in world.runs[2:]}  # it took 0.1 s
    ]


def test_a_run_that_was_damaged_before_it_was_committed_is_simulated_again(world):
    def spoil():
        if len(world.simulated) == 1:
            (world.store.staging.run_folder(world.runs[3]) / "drops.parquet").remove()

    world.spoil = spoil
    world.conductor.conduct()
    assert world.simulated == [world.runs, [world.runs[3]]]
    assert f"1 damaged, to be simulated again: {world.runs[3]}: drops.parquet is gone" in world.said
    assert world.conductor.account.simulated == 4 and len(world.store.read_table("metrics")) == 4


def test_damage_that_comes_again_and_again_is_left_as_it_is(world):
    world.spoil = (world.store.staging.run_folder(world.runs[3]) / "drops.parquet").remove
    world.conductor.conduct()
    assert world.simulated == [world.runs, [world.runs[3]]]
    assert len(world.store.read_table("metrics")) == 3


def test_damage_in_the_lake_is_taken_out_told_and_simulated_again(world):
    world.conductor.conduct()
    batch = world.batch()
    (world.store.facts / "drops" / f"{batch.name}.parquet").remove()
    gone = [f"{run}: drops/{batch.name}.parquet is gone" for run in world.runs[:3]]
    world.said.clear()
    before = world.conductor.account.simulated
    world.conductor.conduct()
    assert sorted(world.simulated[1]) == sorted(batch.runs)
    assert world.said[1:3] == [
        "warm",
        f"4 damaged, to be simulated again: {'; '.join(gone)} and 1 more",
    ]
    assert world.conductor.account.simulated - before == 4


def test_a_run_that_cannot_be_measured_is_simulated_again(world, monkeypatch):
    troubles = [{}, {}]

    class Measuring:
        def __init__(self, store, plan, constants):
            assert (store, plan) == (world.store, world.conductor.plan)

        def work(self, spark, done, say):
            assert len(world.store.read_table("runs")) == 4
            if len(troubles) == 2:
                batch = world.batch()
                file = world.store.facts / "drops" / f"{batch.name}.parquet"
                file.local.write_bytes(b"?" * file.local.stat().st_size)  # its length tells nothing
                troubles[0] = dict.fromkeys(batch.runs, "cannot be read")
            return troubles.pop(0)

    monkeypatch.setattr(conducting, "Measuring", Measuring)
    world.conductor.conduct()
    assert len(world.simulated) == 2 and set(world.simulated[1]) <= set(world.runs)
    assert any("damaged, to be simulated again" in line for line in world.said) and not troubles
    assert len(world.conductor.survey().done) == 4


def test_what_is_known_of_a_folder_is_told(world):
    tell = world.conductor._tell
    tell(Survey())
    assert world.said == []
    tell(Survey(failed={"a": {}, "b": {}}, staged={"c": {}}, done={"d": {}, "e": {}}))
    assert world.said == ["2 failed before, to be tried again", "3 of 4 runs are done already"]
    world.said.clear()
    tell(Survey(damaged={str(number): f"what {number}" for number in range(3)}))
    tell(Survey(damaged={str(number): f"what {number}" for number in range(5)}))
    shown = "0: what 0; 1: what 1; 2: what 2"
    assert world.said == [
        f"3 damaged, to be simulated again: {shown}",
        f"5 damaged, to be simulated again: {shown} and 2 more",
    ]


def test_the_table_of_runs_tells_what_became_of_each(world):
    done, failed, *_ = world.runs
    took = {"status": "done", "wall": 2.0, "cpu": 1.0, "memory": 5, "rows": 7, "size": 9, "error": ""}
    survey = Survey(done={done: took}, failed={failed: {"status": "failed", "error": "why"}})
    rows = {row["run"]: row for row in runs_table(world.conductor.plan, survey).to_pylist()}
    assert rows[done] == took | {"run": done}
    assert (rows[failed]["status"], rows[failed]["error"], rows[failed]["rows"]) == ("failed", "why", None)
    assert {rows[run]["status"] for run in world.runs[2:]} == {"missing"}
    assert {rows[run]["error"] for run in world.runs[2:]} == {""}


def test_what_a_stage_takes_is_added_up(monkeypatch):
    clock = iter([10.0, 13.0, 20.0, 24.0])
    monkeypatch.setattr(conducting, "perf_counter", lambda: next(clock))
    account = Account()
    with account.time("some"):
        pass
    with pytest.raises(KeyError), account.time("some"):
        raise KeyError
    assert account.seconds == {"some": 7.0}


@pytest.mark.parametrize(
    ("stale", "made"),
    [
        ([], []),
        (["summary"], ["summary"]),
        (["differences", "verdicts"], ["differences", "verdicts"]),
        (["summary", "differences", "verdicts", "metrics"], ["summary", "differences", "verdicts"]),
    ],
)
def test_a_table_is_derived_if_it_is_stale(monkeypatch, stale, made):
    kept, stages = [], []
    store = SimpleNamespace(
        stale=lambda: frozenset(stale),
        frame=lambda spark, name: name,
        write_table=lambda name, table: kept.append((name, table)),
    )

    def standing_for(name):
        return lambda *given: SimpleNamespace(toArrow=lambda: (name, *given))

    for name in ("summarise", "compare", "judge"):
        monkeypatch.setattr(deriving, name, standing_for(name))

    @contextmanager
    def time(stage):
        stages.append((stage, len(kept)))
        yield

    deriving.derive("spark", store, 5, time)
    assert kept == [
        (name, answer)
        for name, answer in (
            ("summary", ("summarise", "metrics", "points", 5)),
            ("differences", ("compare", "metrics", "points", 5)),
            ("verdicts", ("judge", "metrics", "checks", "terms", 5)),
        )
        if name in made
    ]
    assert [stage for stage, _ in stages] == ["summarise", "judge"]
