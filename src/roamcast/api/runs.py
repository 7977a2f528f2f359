"""`roamcast.run` and its result: metrics, facts and a figure of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.metric import Value
from roamcast.metrics.run_metrics import RunMetrics, measure, metric_input
from roamcast.metrics.summary import lines
from roamcast.routing import catalogue
from roamcast.routing.router import Router
from roamcast.routing.router_file import add_file, name_of
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class RunResult:
    """The result of one run."""

    def __init__(self, scenario: Scenario, facts: Facts) -> None:
        self.scenario = scenario
        self.facts = facts
        "The facts as Arrow tables by name: `result.facts['deliveries']`."

    @cached_property
    def metrics(self) -> RunMetrics:
        """The metrics of the run."""
        return measure(self.facts)

    @cached_property
    def measures(self) -> dict[str, Value]:
        """All metrics by name, as in campaigns (docs/tables.md)."""
        return evaluate(metric_input(self.facts))

    def to_pandas(self) -> pd.DataFrame:
        """Return all metrics as a frame of one row, with scenario, protocol and seed."""
        import pandas as pd

        run = self.facts.run
        return pd.DataFrame(
            [{"scenario": run.scenario, "protocol": run.protocol, "seed": run.seed, **self.measures}]
        )

    def plot(self) -> Figure:
        """Return a figure of expected and actual deliveries over time, and of the distribution of delays."""
        from roamcast.api.run_figure import draw_run

        return draw_run(self.facts)

    def __repr__(self) -> str:
        m = self.metrics
        share = "nothing expected" if m.delivery_rate is None else f"{100 * m.delivery_rate:.1f} % delivered"
        return (
            f"<RunResult {m.scenario}, {m.protocol}, seed {m.seed}: {share}, {m.messages['total']} messages>"
        )

    def _repr_html_(self) -> str:
        m = self.metrics
        head = f"<b>{escape(m.scenario)}</b>, {escape(m.protocol)}, seed {m.seed}"
        columns = []
        for section in lines(m):
            rows = "".join(
                f"<tr><td style='text-align:left'>{escape(name)}</td>"
                f"<td style='text-align:right'>{escape(value)}</td></tr>"
                for name, value in section
                if name != "processor time"  # it varies, and stored notebooks would change with it
            )
            columns.append(f"<td style='vertical-align:top'><table>{rows}</table></td>")
        return f"<table><caption style='text-align:left'>{head}</caption><tr>{''.join(columns)}</tr></table>"


def run(
    scenario: str | Path | Scenario,
    protocol: str | type[Router] = "flooding",
    seed: int = 1,
    settings: Iterable[str] | Mapping[str, Any] = (),
) -> RunResult:
    """Run a scenario under a protocol and return the result.

    `scenario` is a file, the name of a shipped scenario or a `Scenario`. `protocol` is a name,
    `"FILE.py:CLASS"` or a router class, which is registered under its own name. `settings` change keys of the
    scenario: `{"radio.range": "200 m"}`.
    """
    world = scenario if isinstance(scenario, Scenario) else load(locate(str(scenario)), settings)
    return RunResult(world, simulate(world, name_protocol(protocol), seed))


def name_protocol(protocol: str | type[Router]) -> str:
    """Return the name of a protocol; register a file or a class as a protocol of this process first."""
    if not isinstance(protocol, str):
        name = name_of(protocol.__name__)
        if catalogue.installed().get(name) is None or catalogue.find(name) is not protocol:
            catalogue.add(name, protocol)
        return name
    return add_file(protocol) if ".py:" in protocol else protocol
