"""Incremental update of the table `metrics`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.campaign.plan import CampaignPlan
from roamcast.campaign.tables import METRICS_TABLE
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.definition import digest_definitions
from roamcast.metrics.metric_input import RunSettings, beacons_among
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.measuring.measure import measure
from roamcast.pipeline.spark.spread import spark_or_local
from roamcast.routing.catalogue import roles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LITTLE = 1_000_000
"Number of rows of facts that one process measures in a quarter of a second."


class IncrementalMetrics:
    """Updates the table `metrics` of a campaign: only new runs and changed definitions are measured."""

    def __init__(self, store: CampaignFolder, plan: CampaignPlan, constants: MetricConstants) -> None:
        self.store = store
        beacons = {router: beacons_among(roles(router)) for router in {run.router for run in plan.runs}}
        self.settings = {
            run.id: RunSettings(run.nodes, run.warmup, run.radio_range, run.header, beacons[run.router])
            for run in plan.runs
        }
        self.constants = constants

    def work(
        self, spark: SparkSession | None, done: Collection[str], say: Callable[[str], object]
    ) -> dict[str, str]:
        """Measure new runs among `done`, and changed metrics of the others; write the table.

        Return the problems of unreadable runs, which the table does not contain.
        """
        defined = digest_definitions(self.constants)
        table, told = self.store.read_metrics()
        known = {row["run"]: row for row in table.to_pylist() if row["run"] in done}
        anew = [name for name in METRICS if told.get(name) != defined[name]]
        if len(anew) == len(METRICS):
            known = {}
        new = [run for run in done if run not in known]
        snapshot = self.store.snapshot()
        rows: list[dict[str, Any]] = []
        for runs, names in ((new, list(METRICS)), (list(known), anew)):
            if runs and names:
                which = "" if len(names) == len(METRICS) else f" ({len(names)} metrics defined anew)"
                say(f"measuring {len(runs)} runs{which} ...")
                chosen = {run: self.settings[run] for run in runs}
                rows_of = snapshot.runs()
                little = sum(rows_of[run].rows for run in runs) < _LITTLE
                found = measure(
                    spark_or_local(spark, little),
                    self.store.facts,
                    snapshot,
                    chosen,
                    constants=self.constants,
                    names=names,
                )
                rows += found.select(["run", "trouble", *names]).to_pylist()
        trouble = {row["run"]: row["trouble"] for row in rows if row["trouble"]}
        for row in rows:
            known[row["run"]] = known.get(row["run"], {}) | row
        whole = [row for run, row in known.items() if run not in trouble]
        kept = [{name: row[name] for name in METRICS_TABLE.names} for row in whole]
        self.store.write_table("metrics", pa.Table.from_pylist(kept, METRICS_TABLE), defined)
        return trouble
