"""Watching a campaign: metrics and verdicts of the runs committed so far, until the campaign is finished.

The stream has the runs that each commit adds. `IncrementalMetrics` measures them into the watcher's own
tables (`DIR/watch/tables`), and tables that depend on these are updated. Spark's checkpoint
(`DIR/watch/checkpoint`) records processed commits. After a kill the last commits are processed again, and
their runs are measured already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import nullcontext
from threading import Event
from typing import TYPE_CHECKING

from roamcast.campaign.checks import make_tables
from roamcast.campaign.lineage import digest_rows
from roamcast.campaign.plan import CampaignPlan
from roamcast.errors import UserError
from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import runs_table
from roamcast.pipeline.lock import hold
from roamcast.pipeline.measuring.derive import derive
from roamcast.pipeline.measuring.incremental import IncrementalMetrics
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.watching.commits import follow
from roamcast.results.results_folder import PlanStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

WATCH_FOLDER = "watch"
_TRIGGER = "1 second"
_POLL_INTERVAL = 1.0
"Polling interval [s]."

_ATTEMPTS = 3
"Number of attempts to measure a run, whose rows a compaction may move."


class WatchError(UserError):
    """A campaign that cannot be watched."""


class Watcher:
    """Watches one campaign folder; writes only to its folder `watch`.

    `show` is called about once a second, `publish` after each update of the tables.
    """

    def __init__(
        self,
        folder: str,
        *,
        checkpoint: str | None = None,
        say: Callable[[str], object] = lambda _: None,
        show: Callable[[Watcher], object] = lambda _: None,
        publish: Callable[[Watcher], object] = lambda _: None,
    ) -> None:
        campaigns = CampaignFolder(folder)
        campaigns.check_layout()
        self.campaign, self.notes = campaigns.read_campaign()
        self.campaigns = campaigns
        self.store = CampaignFolder(folder, f"{WATCH_FOLDER}/tables")
        self.place = campaigns.folder / WATCH_FOLDER
        if checkpoint is None and self.place.scheme == "s3":
            raise WatchError(
                f"{folder}: Spark itself cannot write there; give it a folder of its own with --checkpoint"
            )
        # A folder for this campaign alone, because it is removed when all commits are to be read again.
        named = f"roamcast-{digest_rows(str(self.place))}"
        self.checkpoint = StorageUrl(checkpoint) / named if checkpoint else self.place / "checkpoint"
        self.say, self.show, self.publish = say, show, publish
        self._definition = self._read_definition()
        self.plan = CampaignPlan.read(campaigns.read_table("plan"), campaigns.read_table("points"))
        self.survey = PlanStatus()
        self.measured: frozenset[str] = frozenset()
        self._made: frozenset[str] = frozenset()
        self._trouble: UserError | None = None

    def watch(self, spark: SparkSession, *, once: bool = False) -> None:
        """Update the tables until the campaign is finished.

        With `once`, return when the runs that are committed now are measured.
        """
        self.place.make_folder()
        with hold(self.place, "watching this campaign"):
            if self._prepare():
                self.refresh(spark, ())
            trigger = {"availableNow": True} if once else {"processingTime": _TRIGGER}
            with format_error("watching"):
                query = (
                    follow(spark, self.store.folder)
                    .writeStream.foreachBatch(self._process_batch)
                    .option("checkpointLocation", _url(self.checkpoint))
                    .trigger(**trigger)
                    .start()
                )
                try:
                    self._follow(query, once)
                except Exception:  # after Ctrl-C, the session ends, and the query with it
                    query.stop()
                    raise
                query.stop()
            self.refresh(spark, ())
            self.show(self)

    @property
    def finished(self) -> bool:
        """Whether every run is measured or has failed, and no command is repeating failed runs."""
        survey = self.survey
        waiting = survey.missing or survey.staged or survey.done.keys() - self.measured
        return not waiting and (not survey.failed or self.campaigns.holder() is None)

    @property
    def so_far(self) -> int | None:
        """The number of measured runs; None if the campaign is finished."""
        return None if self.finished else len(self.measured)

    def refresh(self, spark: SparkSession, brought: Collection[str]) -> None:
        """Measure the runs `brought`, and update every stale table."""
        self.measured = self._measure(spark, brought)
        derive(spark, self.store, lambda _: nullcontext())
        self.publish(self)
        self._made = self.measured

    def refresh_status(self) -> PlanStatus:
        """Read the status of the campaign; raise `WatchError` if its definition has changed."""
        if self._read_definition() != self._definition:
            raise WatchError(f"{self.store.folder}: the campaign has changed; start the command again")
        self.survey = self.store.survey(run.id for run in self.plan.runs)
        return self.survey

    def _measure(self, spark: SparkSession, brought: Collection[str]) -> frozenset[str]:
        for _ in range(_ATTEMPTS):
            survey = self.refresh_status()
            self.store.write_table("runs", runs_table(self.plan, survey))
            known = set(self.store.read_metrics()[0]["run"].to_pylist())
            wanted = (known | set(brought)) & survey.done.keys()
            measuring = IncrementalMetrics(self.store, self.plan, self.campaign.measure)
            unreadable = measuring.work(spark, wanted, self.say)
            if not unreadable:
                return frozenset(wanted)
        run, what = next(iter(unreadable.items()))
        raise WatchError(
            f"{len(unreadable)} runs cannot be read, the first: {run}: {what}; "
            f"see: roamcast campaign verify {self.store.folder}"
        )

    def _process_batch(self, brought: DataFrame, number: int) -> None:
        """Process a batch of the stream, which may be repeated."""
        try:
            runs = [row["run"] for row in brought.collect()]
            planned = {run.id for run in self.plan.runs}
            self.refresh(brought.sparkSession, planned.intersection(runs))
        except UserError as error:
            self._trouble = error
            raise

    def _follow(self, query: StreamingQuery, once: bool) -> None:
        pause = Event()
        while query.isActive:
            self.show(self)
            pause.wait(_POLL_INTERVAL)
            if not once:
                self.refresh_status()
                if self.finished and self._made == self.measured:
                    return
        if self._trouble is not None:
            raise self._trouble
        if (error := query.exception()) is not None:
            raise error

    def _prepare(self) -> bool:
        """Remove tables and checkpoint of another plan; return whether those of this plan exist."""
        plan = self.store.table_file("plan")
        planned = self.campaigns.table_file("plan").read()
        current = plan.exists() and plan.read() == planned and self.store.table_file("metrics").exists()
        current = current and self.checkpoint.exists()
        if not current:
            (self.place / "tables").remove()
            self.checkpoint.remove()
        (self.place / "tables").make_folder()
        for name in ("plan", "points"):
            self.store.table_file(name).write(self.campaigns.table_file(name).read())
        for name, table in make_tables(self.campaign, self.plan.places).items():
            self.store.write_table(name, table)
        return current

    def _read_definition(self) -> tuple[object, bytes]:
        campaign, _ = self.campaigns.read_campaign()
        return campaign, self.campaigns.table_file("plan").read()


def _url(place: StorageUrl) -> str:
    return place.local.as_uri() if place.local is not None else str(place)
