"""A run for people who work in Python: play a scenario, look at its metrics, dig in its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.metric import Value
from roamcast.metrics.run_metrics import RunMetrics, measure, metric_input
from roamcast.metrics.summary import lines
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate


class RunResult:
    """What came of a run."""

    def __init__(self, scenario: Scenario, facts: Facts) -> None:
        self.scenario = scenario
        self.facts = facts
        "Arrow tables by name: `result.facts['deliveries']`."

    @cached_property
    def metrics(self) -> RunMetrics:
        """The run in numbers."""
        return measure(self.facts)

    @cached_property
    def measures(self) -> dict[str, Value]:
        """Every metric by name, as campaigns have them (docs/tables.md)."""
        return evaluate(metric_input(self.facts))

    def __repr__(self) -> str:
        m = self.metrics
        share = "nothing expected" if m.delivery_rate is None else f"{100 * m.delivery_rate:.1f} % delivered"
        return f"<Result {m.scenario}, {m.protocol}, seed {m.seed}: {share}, {m.messages['total']} messages>"

    def _repr_html_(self) -> str:
        m = self.metrics
        head = f"<b>{escape(m.scenario)}</b>, {escape(m.protocol)}, seed {m.seed}"
        columns = []
        for section in lines(m):
            rows = "".join(
                f"<tr><td style='text-align:left'>{escape(name)}</td>"
                f"<td style='text-align:right'>{escape(value)}</td></tr>"
                for name, value in section
            )
            columns.append(f"<td style='vertical-align:top'><table>{rows}</table></td>")
        return f"<table><caption style='text-align:left'>{head}</caption><tr>{''.join(columns)}</tr></table>"


def run_scenario(
    scenario: str | Path | Scenario,
    protocol: str = "flooding",
    seed: int = 1,
    settings: Iterable[str] | Mapping[str, Any] = (),
) -> RunResult:
    """Run a scenario (its file, or the name of a shipped one) with `settings` changed."""
    world = scenario if isinstance(scenario, Scenario) else load(locate(str(scenario)), settings)
    return RunResult(world, simulate(world, protocol, seed))
