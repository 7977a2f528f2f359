"""A campaign from plan to verdict, in one Spark session, resumable at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.pipeline.campaign import Campaign
from roamcast.pipeline.claims import make_tables
from roamcast.pipeline.cluster import Cluster
from roamcast.pipeline.executors import warm_up
from roamcast.pipeline.plan import Plan, make_plan
from roamcast.pipeline.progress import Progress, estimate
from roamcast.pipeline.session import briefly, open_session
from roamcast.pipeline.simulate import simulate
from roamcast.pipeline.store import Store, Survey
from roamcast.pipeline.tables import RUNS, TABLES, spark_schema
from roamcast.pipeline.task import SIMULATOR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Listener:
    """Who hears how a campaign goes; the default hears nothing."""

    say: Callable[[str], object] = lambda _: None
    "A line about what happens now."
    watch: Callable[[Progress], object] = lambda _: None
    "How far the simulation is, about ten times a second."


@dataclass
class Account:
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


class Conductor:
    """Takes one campaign through its stages; each stage may be done alone."""

    def __init__(
        self,
        campaign: Campaign,
        store: Store,
        listener: Listener | None = None,
        *,
        runner: str = SIMULATOR,
    ) -> None:
        self.campaign = campaign
        self.store = store
        self.listener = listener or Listener()
        self.runner = runner
        self.account = Account()
        self.plan: Plan = make_plan(campaign)

    def conduct(self, where: Cluster | str | None = None, **notes: Any) -> Account:
        """Everything, in a session of its own; `notes` are kept beside the campaign."""
        with self.prepare(**notes):
            count = len(self.plan.runs)
            self.listener.say(f"{count} runs planned; starting Spark ({where or 'here'}) ...")
            began = perf_counter()
            with open_session(where) as spark:
                warm_up(spark, say=self.listener.say)
                self.account.seconds["session"] = perf_counter() - began
                self.work(spark)
        return self.account

    @contextmanager
    def prepare(self, **notes: Any) -> Iterator[None]:
        """Hold the folder, and keep in it what was asked."""
        self.store.create()
        with self.store.lock():
            self.store.tidy()
            self.store.write_campaign(self.campaign, **notes)
            self.store.write_plan(self.plan)
            yield

    def work(self, spark: SparkSession) -> None:
        """simulate what is missing, then measure, summarise and judge."""
        survey = self.survey()
        self._tell(survey)
        with self.account.time("simulate"):
            survey = self.simulate(spark, survey)
        self.listener.say(f"measuring {len(survey.done)} runs ...")
        self.evaluate(spark, survey)

    def survey(self, verify: bool = True) -> Survey:
        """What of the plan is done."""
        return self.store.survey((run.id for run in self.plan.runs), verify)

    def simulate(self, spark: SparkSession, survey: Survey) -> Survey:
        """Do every planned run that is not done; the folder's new state."""
        todo = [run for run in self.plan.runs if run.id not in survey.done]
        known = [(run, survey.done[run.id]["cpu"]) for run in self.plan.runs if run.id in survey.done]
        simulate(
            spark,
            self.store,
            todo,
            self.campaign.limits,
            costs=estimate(todo, known),
            watch=self.listener.watch,
            runner=self.runner,
        )
        after = self.survey(verify=False)
        self.account.simulated = len(after.done) - len(survey.done)
        return after

    def evaluate(self, spark: SparkSession, survey: Survey) -> None:
        """measure, summarise and judge what is done, each into its table."""
        from roamcast.pipeline.judge import judge
        from roamcast.pipeline.measure import measure
        from roamcast.pipeline.summarise import compare, summarise

        for name, table in make_tables(self.campaign, self.plan).items():
            self.store.write_table(name, table)
        self.store.write_table("runs", runs_table(self.plan, survey))
        seeds = len(self.campaign.seed_list)
        with self.account.time("measure"):
            done = self._frame(spark, "runs").where("status = 'done'")
            chosen = self._frame(spark, "plan").join(done, "run")
            self._keep("metrics", measure(chosen, self.store.runs, self.campaign.measure))
        metrics, points = self._frame(spark, "metrics"), self._frame(spark, "points")
        with self.account.time("summarise"):
            self._keep("summary", summarise(metrics, points, seeds))
            self._keep("differences", compare(metrics, points, seeds))
        with self.account.time("judge"):
            checks, terms = self._frame(spark, "checks"), self._frame(spark, "terms")
            self._keep("verdicts", judge(metrics, checks, terms, seeds))

    def _frame(self, spark: SparkSession, name: str) -> DataFrame:
        file = self.store.table_file(name)
        return spark.read.schema(spark_schema(TABLES[name])).parquet(str(file))

    def _keep(self, name: str, frame: DataFrame) -> None:
        with briefly(f"making the table {name!r}"):
            table = frame.toArrow()
        self.store.write_table(name, table)

    def _tell(self, survey: Survey) -> None:
        if survey.damaged:
            shown = "; ".join(f"{run}: {what}" for run, what in list(survey.damaged.items())[:3])
            more = f" and {len(survey.damaged) - 3} more" if len(survey.damaged) > 3 else ""
            self.listener.say(f"{len(survey.damaged)} damaged, to be simulated again: {shown}{more}")
        if survey.failed:
            self.listener.say(f"{len(survey.failed)} failed before, to be tried again")
        if survey.done:
            self.listener.say(f"{len(survey.done)} of {len(self.plan.runs)} runs are done already")


def runs_table(plan: Plan, survey: Survey) -> pa.Table:
    """The table `runs`: what became of each planned run."""
    rows = []
    for run in plan.runs:
        manifest = survey.done.get(run.id) or survey.failed.get(run.id) or {"status": "missing", "files": {}}
        row = {key: manifest.get(key) for key in ("status", "wall", "cpu", "memory", "rows")}
        size = sum(file["size"] for file in manifest["files"].values()) if run.id in survey.done else None
        rows.append(row | {"run": run.id, "error": manifest.get("error", ""), "size": size})
    return pa.Table.from_pylist(rows, RUNS)
