"""A campaign goes on with what is there, mends what is damaged, and says what it does."""

import pytest
from invented_facts import invent
from small_lake import content, ready, stage
from test_conduct import COUNT, RUNNER, campaign

from roamcast.lake.snapshot import CommittedRun
from roamcast.pipeline import campaign_runner as conducting
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner, ProgressListener, StageTimes, runs_table
from roamcast.pipeline.committing.commit import Committer
from roamcast.results.results_folder import PlanStatus


def facts_of(run):
    """Facts that the runner does not make: it has another seed."""
    return invent(int(run, 16) % 1000)


@pytest.fixture
def said():
    return []


@pytest.fixture
def conductor(tmp_path, said):
    """Of a campaign of four runs, none of them done."""
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    asked = campaign(seeds=1, claims={}, sweeps={"people": sweep})
    return CampaignRunner(
        asked, CampaignFolder(tmp_path / "out"), ProgressListener(say=said.append), runner=RUNNER
    )


def batch_of(store):
    return min(store.snapshot().batches.values(), key=lambda each: each.name)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_what_is_done_or_staged_stays_and_what_was_damaged_before_its_commit_is_simulated_again(
    spark, conductor, said
):
    store, runs = conductor.store, [run.id for run in conductor.plan.runs]
    with conductor.prepare():
        stage(store, runs[0], facts_of(runs[0]))
        Committer(None, store).commit(ready(store))
        for run in runs[1:3]:
            stage(store, run, facts_of(run))
        (store.staging.run_folder(runs[2]) / "drops.parquet").remove()
        survey = conductor.simulate(spark, conductor.survey())
    assert said == [f"1 damaged, to be simulated again: {runs[2]}: drops.parquet is gone"]
    assert survey.done.keys() == set(runs)
    tables = {name: content(store.folder.local, name) for name in ("drops", "deliveries", "transmissions")}
    as_staged = {
        run
        for run in runs
        if all(rows.get(run, []) == facts_of(run)[name].to_pylist() for name, rows in tables.items())
    }
    assert as_staged == set(runs[:2]), "who was whole was not simulated"


def test_damage_in_the_lake_is_taken_out_and_told(conductor, said):
    store, runs = conductor.store, [run.id for run in conductor.plan.runs]
    with conductor.prepare():
        for run in runs:
            stage(store, run, facts_of(run))
        Committer(None, store).commit(ready(store))
        batch = batch_of(store)
        (store.facts / "drops" / f"{batch.name}.parquet").remove()
        survey = conductor.survey()
        assert survey.damaged.keys() == set(runs)
        conductor._report_progress(survey)
        conductor._repair(Committer(None, store))
    gone = [f"{run}: drops/{batch.name}.parquet is gone" for run in survey.damaged]
    assert said == [f"4 damaged, to be simulated again: {'; '.join(gone[:3])} and 1 more"]
    assert not store.snapshot().runs() and conductor.survey().missing == runs


def test_runs_whose_rows_cannot_be_read_are_taken_out_and_others_stay(conductor):
    store, runs = conductor.store, [run.id for run in conductor.plan.runs]
    with conductor.prepare():
        for some in (runs[:2], runs[2:]):
            for run in some:
                stage(store, run, facts_of(run))
            Committer(None, store).commit(ready(store))
        batch = batch_of(store)
        file = (store.facts / "drops" / f"{batch.name}.parquet").local
        file.write_bytes(b"?" * file.stat().st_size)
        assert not conductor.survey().damaged, "its length tells nothing"
        conductor._repair(Committer(None, store), list(batch.runs)[:1])
    assert conductor.survey().done.keys() == set(runs) - batch.runs.keys()


def test_what_is_known_of_a_folder_is_told(conductor, said):
    conductor._report_progress(PlanStatus())
    assert said == []
    conductor._report_progress(
        PlanStatus(failed={"a": {}, "b": {}}, staged={"c": {}}, done={"d": {}, "e": {}})
    )
    assert said == ["2 failed before, to be tried again", "3 of 4 runs are done already"]
    said.clear()
    conductor._report_progress(PlanStatus(damaged={str(number): f"what {number}" for number in range(3)}))
    assert said == ["3 damaged, to be simulated again: 0: what 0; 1: what 1; 2: what 2"]


def test_the_table_of_runs_tells_what_became_of_each(conductor):
    done, failed, *others = (run.id for run in conductor.plan.runs)
    took = {"wall": 2.0, "cpu": 1.0, "memory": 5, "rows": 7, "size": 9}
    survey = PlanStatus(
        done={done: CommittedRun(**took)}, failed={failed: {"status": "failed", "error": "why"}}
    )
    rows = {row["run"]: row for row in runs_table(conductor.plan, survey).to_pylist()}
    assert rows[done] == took | {"run": done, "status": "done", "error": ""}
    assert (rows[failed]["status"], rows[failed]["error"], rows[failed]["rows"]) == ("failed", "why", None)
    assert {(rows[run]["status"], rows[run]["error"]) for run in others} == {("missing", "")}


def test_what_a_stage_takes_is_added_up(monkeypatch):
    clock = iter([10.0, 13.0, 20.0, 24.0])
    monkeypatch.setattr(conducting, "perf_counter", lambda: next(clock))
    account = StageTimes()
    with account.time("some"):
        pass
    with pytest.raises(KeyError), account.time("some"):
        raise KeyError
    assert account.seconds == {"some": 7.0}
