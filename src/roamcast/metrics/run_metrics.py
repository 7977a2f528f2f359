"""The principal metrics of one run, with its scenario, protocol, seed and counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa

from roamcast.facts.folder import FactsFolder
from roamcast.facts.tables import Facts, RunManifest
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.metric_input import MetricInput, RunSettings, beacons_among, lora_powers
from roamcast.routing.router import Category


class RunMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """The principal metrics of a run; None if there is nothing to divide by.

    Each number is the metric of the same name in `roamcast.metrics.declarations`.
    """

    scenario: str
    protocol: str
    seed: int
    nodes: int
    sim_seconds: float
    delivery_rate: float | None
    delay_mean: float | None
    delay_p50: float | None
    delay_p95: float | None
    publications: int
    expected: int
    delivered: int
    false_deliveries: int
    duplicate_deliveries: int
    "The metric `duplicate_deliveries`."
    messages: dict[str, int]
    "The metrics `messages_...` by category, and their total."
    requests: int
    satisfied_rate: float | None
    response_delay: float | None
    fresh_rate: float | None
    table_entries: float | None
    table_bytes: float | None
    frames: dict[str, int]
    "Frames of the whole run by outcome."
    drops: dict[str, int]
    "Messages of the whole run that routers dropped, by reason."
    cpu_seconds: float | None
    events_processed: int

    def to_json(self) -> str:
        """Return the metrics as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as plain Python values."""
        return msgspec.structs.asdict(self)


_ALIKE = (
    *("delivery_rate", "delay_mean", "delay_p50", "delay_p95", "publications", "expected", "delivered"),
    *("false_deliveries", "requests", "satisfied_rate", "response_delay", "fresh_rate"),
    *("table_entries", "table_bytes"),
)
_CATEGORIES = [category.name.lower() for category in Category]


def measure(facts: Facts) -> RunMetrics:
    """Return the principal metrics of a run; `evaluate(metric_input(facts))` returns all metrics."""
    run = facts.run
    of = metric_input(facts)
    messages: dict[str, Any] = evaluate(of, [f"messages_{category}" for category in _CATEGORIES])
    values: dict[str, Any] = evaluate(of, (*_ALIKE, "duplicate_deliveries", "messages"))
    return RunMetrics(
        scenario=run.scenario,
        protocol=run.protocol,
        seed=run.seed,
        nodes=run.nodes,
        sim_seconds=run.duration,
        **{name: values[name] for name in _ALIKE},
        duplicate_deliveries=values["duplicate_deliveries"],
        messages={name.removeprefix("messages_"): count for name, count in messages.items()}
        | {"total": values["messages"]},
        frames=run.frames,
        drops=run.drops,
        cpu_seconds=facts.cpu_seconds,
        events_processed=run.events_processed,
    )


def metric_input(facts: Facts) -> MetricInput:
    """Return the input of metrics for the facts of a run."""
    run = facts.run
    source = facts.tables if isinstance(facts.tables, FactsFolder) else _InMemory(facts)
    return MetricInput(source, setting_of(run))


def setting_of(run: RunManifest) -> RunSettings:
    """Return the settings of a run from its manifest."""
    header = run.resolved.get("mac", {}).get("network_header")
    roles = {name: kind.role for name, kind in run.kinds.items()}
    return RunSettings(
        run.nodes, run.warmup, run.range, header, beacons_among(roles), lora_powers(run.resolved)
    )


class _InMemory:
    """A source of tables in memory."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def read(self, table: str, *columns: str) -> pa.Table:
        return self.facts[table].select(columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        yield from self.read(table, *columns).to_batches()
