"""A campaign from plan to verdict, in one Spark session, resumable at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import make_tables
from roamcast.campaign.plan import CampaignPlan, PlannedRun, make_plan
from roamcast.campaign.progress import Progress, estimate
from roamcast.campaign.tables import RUNS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.measuring.incremental import IncrementalMetrics
from roamcast.pipeline.running.early_runs import EarlyRuns, choose_short
from roamcast.pipeline.running.simulate import find_installed, make_tasks, simulate
from roamcast.pipeline.running.task import SIMULATOR
from roamcast.pipeline.spark.cluster import SparkOptions, count_processors
from roamcast.pipeline.spark.executors import embedded, warm_up
from roamcast.pipeline.spark.session import open_session
from roamcast.results.results_folder import PlanStatus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTEMPTS = 2
"How often damage is met before it is an error."


@dataclass
class ProgressListener:
    """Who hears how a campaign goes; the default hears nothing."""

    say: Callable[[str], object] = lambda _: None
    "A line about what happens now."
    watch: Callable[[Progress], object] = lambda _: None
    "How far the simulation is, about ten times a second."


@dataclass
class StageTimes:
    """What conducting a campaign took."""

    seconds: dict[str, float] = field(default_factory=dict)
    "By stage."
    simulated: int = 0
    "Runs done now, not before."

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        """Count what happens in the block to `stage`."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - began


class CampaignRunner:
    """Takes one campaign through its stages; each stage may be done alone."""

    def __init__(
        self,
        campaign: Campaign,
        store: CampaignFolder,
        listener: ProgressListener | None = None,
        *,
        runner: str = SIMULATOR,
    ) -> None:
        self.campaign = campaign
        self.store = store
        self.listener = listener or ProgressListener()
        self.runner = runner
        self.account = StageTimes()
        self.plan: CampaignPlan = make_plan(campaign)
        self._failed: set[str] = set()
        "Runs that failed before Spark was there: this command does not try them again."

    def run(self, where: SparkOptions | str | None = None, **notes: Any) -> StageTimes:
        """Everything, in a session of its own; `notes` are kept beside the campaign.

        There is no session if there is nothing to do.
        """
        with self.prepare(**notes):
            count = len(self.plan.runs)
            survey = self.survey()
            if self.is_finished(survey):
                self.listener.say(f"all {count} runs are done and measured: nothing to do")
                return self.account
            cluster = where if isinstance(where, SparkOptions) else SparkOptions(where)
            self.listener.say(f"{count} runs planned; starting Spark ({where or 'here'}) ...")
            self._report_progress(survey)
            began = perf_counter()
            with self._begin(cluster, survey) as ahead, open_session(cluster, hasty=True) as spark:
                self.account.seconds["session"] = perf_counter() - began
                with self.account.time("simulate"):
                    ended = ahead.finish()
                    self._failed = {run for run, status in ended.items() if status != "done"}
                    self.account.simulated += len(ended) - len(self._failed)
                    survey = self.survey()
                if self._todo(survey) or not embedded(spark):
                    with self.account.time("session"):
                        warm_up(spark, say=self.listener.say, preload=find_installed(self.plan.runs))
                self.work(spark, survey)
        return self.account

    def _begin(self, cluster: SparkOptions, survey: PlanStatus) -> EarlyRuns:
        """Short runs, under way while an embedded session starts; none where Spark is elsewhere."""
        slots = 0 if cluster.remote else count_processors(cluster.master)
        todo = self._todo(survey)
        runs = choose_short(todo) if slots and not survey.damaged else []
        portions = make_tasks(runs, self.store, self.campaign.limits, max(slots, 1), runner=self.runner)
        progress = Progress(runs, slots)
        watch = self._watch(todo)

        def hear(told: Mapping[str, Any]) -> None:
            progress.update([told], monotonic())
            watch(progress)

        def then() -> None:
            if len(runs) == len(todo):
                self._commit_early()

        return EarlyRuns(portions, slots, hear, then)

    def _commit_early(self) -> None:
        """Commit and measure here what is done; what hinders that is met again, and told, on Spark."""
        with suppress(Exception):
            self._commit(Committer(None, self.store))
            self.measure(None, self.survey())

    def _todo(self, survey: PlanStatus) -> list[PlannedRun]:
        """What is neither done nor failed just now."""
        ended = survey.done.keys() | survey.staged.keys() | self._failed
        return [run for run in self.plan.runs if run.id not in ended]

    def _watch(self, todo: Sequence[PlannedRun]) -> Callable[[Progress], object]:
        """The listener's watch, for runs of `todo`: the rest of the plan counts as ended."""
        planned = len(self.plan.runs)
        failed = len(self._failed)

        def watch(progress: Progress) -> None:
            progress.planned, progress.earlier_failed = planned, failed
            progress.earlier = planned - len(todo) - failed
            self.listener.watch(progress)

        return watch

    @contextmanager
    def prepare(self, **notes: Any) -> Iterator[None]:
        """Hold the folder, keep in it what was asked, and in the end remove files that do not count."""
        self.store.create()
        with self.store.lock():
            self.store.tidy()
            self.store.write_campaign(self.campaign, **notes)
            self.store.write_plan(self.plan)
            yield
            self.store.tidy()  # not after an error: a commit may still be under way in its thread

    def work(self, spark: SparkSession, survey: PlanStatus | None = None) -> None:
        """simulate what is missing and commit it, then measure, summarise and judge."""
        if survey is None:
            survey = self.survey()
            self._report_progress(survey)
        with self.account.time("simulate"):
            survey = self.simulate(spark, survey)
        self.evaluate(spark, survey)

    def survey(self) -> PlanStatus:
        """What of the plan is done."""
        return self.store.survey(run.id for run in self.plan.runs)

    def is_finished(self, survey: PlanStatus) -> bool:
        """Whether every run is committed, and every table made from what is there."""
        return len(survey.done) == len(self.plan.runs) and not self.store.stale()

    def simulate(self, spark: SparkSession, survey: PlanStatus) -> PlanStatus:
        """Do and commit every planned run that is not done; the folder's new state."""
        committer = Committer(spark, self.store)
        if survey.damaged:
            self._repair(committer)
            survey = self.survey()  # of a batch with damage, most runs may be whole
        before = len(survey.done) + len(survey.staged)
        for _ in range(_ATTEMPTS):
            known = [(run, survey.done[run.id]["cpu"]) for run in self.plan.runs if run.id in survey.done]
            todo = self._todo(survey)
            with committer._busy(self.listener.say):
                simulate(
                    spark,
                    self.store,
                    todo,
                    self.campaign.limits,
                    costs=estimate(todo, known),
                    watch=self._watch(todo),
                    runner=self.runner,
                )
            damaged = self._commit(committer)
            survey = self.survey()
            if not damaged:
                break
        committer.compact()
        self.account.simulated += len(survey.done) - before
        return survey

    def _commit(self, committer: Committer) -> dict[str, str]:
        """Commit all that is staged; what is wrong with what could not be."""
        staged = self.store.staging.survey()
        ready = {run: manifest for run, manifest in staged.items() if manifest["status"] == "done"}
        damaged = committer.commit(ready)
        self._report_damage(damaged)
        return damaged

    def _repair(self, committer: Committer, suspects: Iterable[str] = ()) -> None:
        """Take out of the lake what cannot be read in batches with a file amiss and of `suspects`."""
        snapshot = self.store.snapshot()
        names = set(self.store.damaged_batches(snapshot))
        wanted = set(suspects)
        names |= {batch.name for batch in snapshot.batches.values() if wanted & batch.runs.keys()}
        committer.repair(sorted(names))

    def evaluate(self, spark: SparkSession, survey: PlanStatus) -> None:
        """measure what is new, then summarise and judge it, each into its table; what is as it was stays."""
        from roamcast.pipeline.measuring.derive import derive

        for name, table in make_tables(self.campaign, self.plan.places).items():
            self.store.write_table(name, table)
        with self.account.time("measure"):
            survey = self.measure(spark, survey)
        derive(spark, self.store, self.account.time)

    def measure(self, spark: SparkSession | None, survey: PlanStatus) -> PlanStatus:
        """Make the tables `runs` and `metrics`; a run that cannot be read is told, and simulated again."""
        for attempt in range(_ATTEMPTS):
            self.store.write_table("runs", runs_table(self.plan, survey))
            trouble = IncrementalMetrics(self.store, self.plan, self.campaign.measure).work(
                spark, survey.done.keys(), self.listener.say
            )
            if not trouble:
                break
            self._report_damage(trouble)
            if attempt + 1 < _ATTEMPTS:
                self._repair(Committer(spark, self.store), trouble)
                survey = self.simulate(spark, self.survey())
        return survey

    def _report_progress(self, survey: PlanStatus) -> None:
        self._report_damage(survey.damaged)
        if survey.failed:
            self.listener.say(f"{len(survey.failed)} failed before, to be tried again")
        if done := len(survey.done) + len(survey.staged):
            self.listener.say(f"{done} of {len(self.plan.runs)} runs are done already")

    def _report_damage(self, damaged: Mapping[str, str]) -> None:
        if damaged:
            shown = "; ".join(f"{run}: {what}" for run, what in list(damaged.items())[:3])
            more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
            self.listener.say(f"{len(damaged)} damaged, to be simulated again: {shown}{more}")


def runs_table(plan: CampaignPlan, survey: PlanStatus) -> pa.Table:
    """The table `runs`: what became of each planned run."""
    rows = []
    for run in plan.runs:
        told = survey.done.get(run.id) or survey.failed.get(run.id) or {"status": "missing"}
        row = {key: told.get(key) for key in ("status", "wall", "cpu", "memory", "rows", "size")}
        rows.append(row | {"run": run.id, "error": told.get("error", "")})
    return pa.Table.from_pylist(rows, RUNS)
