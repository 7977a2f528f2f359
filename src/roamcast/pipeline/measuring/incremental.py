"""Incremental update of the table `metrics`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from roamcast.campaign.lineage import digest_rows
from roamcast.campaign.plan import CampaignPlan
from roamcast.campaign.tables import LINEAGE, METRICS_TABLE
from roamcast.fingerprint import package_version
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.definition import digest_definitions
from roamcast.metrics.metric_input import RunSettings, beacons_among, lora_powers
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.measuring.measure import is_small, measure
from roamcast.pipeline.spark.spread import spark_or_local
from roamcast.routing.catalogue import roles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IncrementalMetrics:
    """Updates the table `metrics` of a campaign: only new runs and changed definitions are measured."""

    def __init__(self, store: CampaignFolder, plan: CampaignPlan, constants: MetricConstants) -> None:
        self.store = store
        beacons = {router: beacons_among(roles(router)) for router in {run.router for run in plan.runs}}
        self.settings = {
            run.id: RunSettings(
                *(run.nodes, run.warmup, run.radio_range, run.header, beacons[run.router]),
                lora_powers(json.loads(run.scenario)) if '"lora"' in run.scenario else None,
            )
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
        table, definitions = self.store.read_metrics()
        anew = [name for name in METRICS if definitions.get(name) != defined[name]]
        known = _select(table, done) if len(anew) < len(METRICS) else METRICS_TABLE.empty_table()
        runs = known["run"].to_pylist()
        unreadable: dict[str, str] = {}
        if anew and runs:
            again = self._measure(spark, runs, anew, say, unreadable).sort_by("run")
            known = _select(known, set(runs) - unreadable.keys()).sort_by("run")
            columns = [(again if name in anew else known)[name] for name in METRICS_TABLE.names]
            known = pa.Table.from_arrays(columns, schema=METRICS_TABLE)
        if new := sorted(set(done).difference(runs)):
            found = self._measure(spark, new, list(METRICS), say, unreadable)
            known = pa.concat_tables([known.select(METRICS_TABLE.names).cast(METRICS_TABLE), found])
        self.store.write_table("metrics", known, defined)
        self._write_lineage(known["run"].to_pylist(), digest_rows(defined), set(runs) if not anew else set())
        return unreadable

    def _write_lineage(self, runs: list[str], definitions: str, unchanged: set[str]) -> None:
        """Write the table `lineage`; the runs `unchanged` were measured before."""
        known = self.store.read_lineage()
        committed = self.store.snapshot().runs()
        now = package_version()
        measured = [known.get(run, "") if run in unchanged else now for run in runs]
        columns = {
            "run": runs,
            "version": [committed[run].version for run in runs],
            "definitions": [definitions] * len(runs),
            "measured_by": measured,
        }
        self.store.write_table("lineage", pa.Table.from_pydict(columns, LINEAGE))

    def _measure(
        self,
        spark: SparkSession | None,
        runs: list[str],
        names: list[str],
        say: Callable[[str], object],
        unreadable: dict[str, str],
    ) -> pa.Table:
        """Return the metrics `names` of the readable ones among `runs`; add the others to `unreadable`."""
        which = "" if len(names) == len(METRICS) else f" ({len(names)} metrics defined anew)"
        say(f"measuring {len(runs)} runs{which} ...")
        snapshot = self.store.snapshot()
        rows_of = snapshot.runs()
        found = measure(
            spark_or_local(spark, is_small(rows_of[run] for run in runs)),
            self.store.facts,
            snapshot,
            {run: self.settings[run] for run in runs},
            constants=self.constants,
            names=names,
        )
        bad = found.filter(pc.is_valid(found["error"])).select(["run", "error"])
        unreadable |= {row["run"]: row["error"] for row in bad.to_pylist()}
        readable = found.filter(pc.is_null(found["error"])) if len(bad) else found
        return readable.select(METRICS_TABLE.names).cast(METRICS_TABLE)


def _select(rows: pa.Table, runs: Collection[str]) -> pa.Table:
    """Return the rows of `runs`."""
    return rows.filter(pc.is_in(rows["run"], pa.array(list(runs), pa.string())))
