"""Running a campaign from plan to verdicts in one Spark session; it can be resumed at any moment."""

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
from roamcast.pipeline.committing.run_cells import find_cells
from roamcast.pipeline.measuring.incremental import IncrementalMetrics
from roamcast.pipeline.running.early_runs import EarlyRuns, choose_short
from roamcast.pipeline.running.simulate import find_installed, make_tasks, simulate
from roamcast.pipeline.running.task import SIMULATOR
from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse, count_processors
from roamcast.pipeline.spark.executors import on_this_machine, warm_slots, warm_up
from roamcast.pipeline.spark.session import open_session
from roamcast.pipeline.warm.client import use_warm
from roamcast.results.results_folder import PlanStatus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTEMPTS = 2
"Number of attempts to replace damaged facts."


@dataclass
class ProgressListener:
    """Callbacks for messages and progress; the defaults do nothing."""

    say: Callable[[str], object] = lambda _: None
    "Called with a line for the user."
    watch: Callable[[Progress], object] = lambda _: None
    "Called with the progress of the simulation about ten times a second."


@dataclass
class StageTimes:
    """The time that the stages of a campaign took."""

    seconds: dict[str, float] = field(default_factory=dict)
    "Elapsed time by stage [s]."
    simulated: int = 0
    "Number of runs simulated by this command."

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        """Add the time of the block to `stage`."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - began


class CampaignRunner:
    """Runs the stages of one campaign, together or one at a time."""

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
        self.cells = find_cells(campaign.title, self.plan.places)
        self._failed: set[str] = set()
        "Runs that failed before Spark had started; this command does not repeat them."

    def run(self, where: SparkOptions | str | None = None, **notes: Any) -> StageTimes:
        """Run all stages in a new Spark session; `notes` are written to campaign.json.

        No session is started if there is nothing to do.
        """
        with self.prepare(**notes):
            count = len(self.plan.runs)
            survey = self.survey()
            if self.is_finished(survey):
                self.listener.say(f"all {count} runs are done and measured: nothing to do")
                return self.account
            cluster = where if isinstance(where, SparkOptions) else SparkOptions(where)
            began = perf_counter()
            if cluster.warm is not WarmUse.NEVER:
                cluster = use_warm(cluster, self.listener.say)
            doing = "using the" if cluster.warm is WarmUse.ATTACHED else "starting Spark:"
            self.listener.say(f"{count} runs planned; {doing} {cluster} ...")
            self._report_progress(survey)
            with self._begin(cluster, survey) as ahead, open_session(cluster, hasty=True) as spark:
                self.account.seconds["session"] = perf_counter() - began
                with self.account.time("simulate"):
                    ended = ahead.finish()
                    self._failed = {run for run, status in ended.items() if status != "done"}
                    self.account.simulated += len(ended) - len(self._failed)
                    survey = self.survey()
                if (self._todo(survey) or not on_this_machine(spark)) and not warm_slots(spark):
                    with self.account.time("session"):
                        warm_up(spark, say=self.listener.say, preload=find_installed(self.plan.runs))
                self.work(spark, survey)
        return self.account

    def _begin(self, cluster: SparkOptions, survey: PlanStatus) -> EarlyRuns:
        """Start short runs while an embedded session starts; none if Spark runs elsewhere."""
        slots = 0 if cluster.remote else count_processors(cluster.master)
        todo = self._todo(survey)
        runs = choose_short(todo) if slots and not survey.damaged else []
        batches = list(make_tasks(runs, self.store, self.campaign.limits, max(slots, 1), runner=self.runner))
        progress = Progress(runs, slots)
        watch = self._watch(todo)

        def report(outcome: Mapping[str, Any]) -> None:
            progress.update([outcome], monotonic())
            watch(progress)

        def then() -> None:
            if len(runs) == len(todo):
                self._commit_early()

        return EarlyRuns(batches, slots, report, then)

    def _commit_early(self) -> None:
        """Commit and measure finished runs in this process; errors are ignored and occur again on Spark."""
        with suppress(Exception):
            self._commit(self._committer(None))
            self.measure(None, self.survey())

    def _todo(self, survey: PlanStatus) -> list[PlannedRun]:
        """Return the runs that are neither finished nor failed in this command."""
        ended = survey.done.keys() | survey.staged.keys() | self._failed
        return [run for run in self.plan.runs if run.id not in ended]

    def _watch(self, todo: Sequence[PlannedRun]) -> Callable[[Progress], object]:
        """Return the progress callback for `todo`; the other planned runs count as finished."""
        planned = len(self.plan.runs)
        failed = len(self._failed)

        def watch(progress: Progress) -> None:
            progress.planned, progress.earlier_failed = planned, failed
            progress.earlier = planned - len(todo) - failed
            self.listener.watch(progress)

        return watch

    @contextmanager
    def prepare(self, **notes: Any) -> Iterator[None]:
        """Lock the folder, write the campaign and its plan, and finally remove files that are not valid."""
        self.store.create()
        with self.store.lock():
            self.store.tidy()
            self.store.write_campaign(self.campaign, **notes)
            self.store.write_plan(self.plan)
            yield
            self.store.tidy()  # not after an error: a commit may still be under way in its thread

    def work(self, spark: SparkSession, survey: PlanStatus | None = None) -> None:
        """Simulate and commit missing runs, then measure, summarise and judge."""
        if survey is None:
            survey = self.survey()
            self._report_progress(survey)
        with self.account.time("simulate"):
            survey = self.simulate(spark, survey)
        self.evaluate(spark, survey)

    def survey(self) -> PlanStatus:
        """Return the status of the planned runs."""
        return self.store.survey(run.id for run in self.plan.runs)

    def is_finished(self, survey: PlanStatus) -> bool:
        """Return whether every run is committed with its present cell and no table is stale."""
        if len(survey.done) != len(self.plan.runs) or self.store.stale():
            return False
        return not self._committer(None).count_relabelled(self.store.snapshot().batches.values())

    def simulate(self, spark: SparkSession, survey: PlanStatus) -> PlanStatus:
        """Simulate and commit every missing run; return the new status."""
        committer = self._committer(spark)
        if survey.damaged:
            self._repair(committer)
            survey = self.survey()  # most runs of a damaged batch may be intact
        before = len(survey.done) + len(survey.staged)
        for _ in range(_ATTEMPTS):
            known = [(run, survey.done[run.id].cpu) for run in self.plan.runs if run.id in survey.done]
            todo = self._todo(survey)
            with committer.commit_meanwhile(self.listener.say):
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
        committer.relabel()
        committer.compact()
        self.account.simulated += len(survey.done) - before
        return survey

    def _committer(self, spark: SparkSession | None) -> Committer:
        return Committer(spark, self.store, self.cells)

    def _commit(self, committer: Committer) -> dict[str, str]:
        """Commit all staged runs; return the problem of each damaged run."""
        staged = self.store.staging.survey()
        ready = {run: manifest for run, manifest in staged.items() if manifest["status"] == "done"}
        damaged = committer.commit(ready)
        self._report_damage(damaged)
        return damaged

    def _repair(self, committer: Committer, suspects: Iterable[str] = ()) -> None:
        """Remove unreadable runs from batches with damaged files and from batches of `suspects`."""
        snapshot = self.store.snapshot()
        names = set(self.store.damaged_batches(snapshot))
        wanted = set(suspects)
        names |= {batch.name for batch in snapshot.batches.values() if wanted & batch.runs.keys()}
        committer.repair(sorted(names))

    def evaluate(self, spark: SparkSession, survey: PlanStatus) -> None:
        """Measure new runs, then update the tables that are stale."""
        from roamcast.pipeline.measuring.derive import derive

        for name, table in make_tables(self.campaign, self.plan.places).items():
            self.store.write_table(name, table)
        with self.account.time("measure"):
            survey = self.measure(spark, survey)
        derive(spark, self.store, self.account.time)

    def measure(self, spark: SparkSession | None, survey: PlanStatus) -> PlanStatus:
        """Write the tables `runs` and `metrics`; unreadable runs are reported and simulated again."""
        for attempt in range(_ATTEMPTS):
            self.store.write_table("runs", runs_table(self.plan, survey))
            unreadable = IncrementalMetrics(self.store, self.plan, self.campaign.measure).work(
                spark, survey.done.keys(), self.listener.say
            )
            if not unreadable:
                break
            self._report_damage(unreadable)
            if attempt + 1 < _ATTEMPTS:
                self._repair(self._committer(spark), unreadable)
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
    """Return the table `runs`: the status of each planned run."""
    columns: dict[str, list[Any]] = {name: [] for name in RUNS.names}
    for run in plan.runs:
        row = survey.failed.get(run.id) or {"status": "missing"}
        if (done := survey.done.get(run.id)) is not None:
            row = {key: getattr(done, key) for key in ("wall", "cpu", "memory", "rows", "size")}
            row["status"] = "done"
        row |= {"run": run.id, "error": row.get("error", "")}
        for name, column in columns.items():
            column.append(row.get(name))
    return pa.Table.from_pydict(columns, RUNS)
