"""The city grown at constant density: overhead and delay per request of traditional CBR, the grid and CLONE.

`python -m bench.city [NODES...]`; 200, 800, 3200 and 12800 nodes take long, so 200 is the default. The
growth of the overhead per request with the number of nodes, N^x, stands beside what section III predicts:
0.5 for the way to a provider (half of a side), which traditional CBR pays for every request.
"""

from __future__ import annotations

import sys
from math import log, sqrt

from rich.console import Console
from rich.table import Table

import roamcast
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.outcome import look

PROTOCOLS = ("cbr", "grid-cbr", "clone")
SIMULATED = 200.0
"Seconds; the first half is warm-up."


def settings(nodes: int) -> tuple[str, ...]:
    """The city with so many nodes, as many to the square kilometre as in the paper."""
    grown = sqrt(nodes / 200)
    hubs = max(4 * nodes // 200, 1)
    return (
        f'area.width="{2000 * grown:g} m"',
        f'area.height="{2000 * grown:g} m"',
        f"hubs.count={hubs}",
        f"workload.areas.hubs={list(range(hubs))}",
        f"nodes.walkers.count={nodes // 2}",
        f"nodes.drivers.count={nodes // 2}",
        'nodes.drivers.speed.max="2 m/s"',
        f'duration="{SIMULATED:g} s"',
        f'warmup="{SIMULATED / 2:g} s"',
        'quiet="0 s"',
    )


def main() -> None:
    """Print a row for each protocol and size, and the growth between the first size and the last."""
    sizes = [int(each) for each in sys.argv[1:]] or [200]
    table = Table(title="the city at constant density")
    told = (
        "protocol",
        "nodes",
        "satisfied",
        "delay",
        "overhead a request",
        "simulated s per CPU s",
        "growth",
    )
    for column in told:
        table.add_column(column, justify="left" if column == "protocol" else "right")
    names = ("satisfied_rate", "response_delay", "overhead_per_request")
    for protocol in PROTOCOLS:
        costs: list[float] = []
        for nodes in sizes:
            facts = roamcast.run("city", protocol, 101, settings(nodes)).facts
            found = evaluate(look(facts), names)
            costs.append(float(found["overhead_per_request"] or 0))
            growth = log(costs[-1] / costs[0]) / log(nodes / sizes[0]) if nodes > sizes[0] else 0.0
            table.add_row(
                protocol,
                f"{nodes:,}",
                f"{100 * (found['satisfied_rate'] or 0):.1f} %",
                f"{found['response_delay'] or 0:.2f} s",
                f"{costs[-1]:.1f}",
                f"{SIMULATED / (facts.cpu_seconds or 1):.1f}",
                f"N^{growth:.2f}" if growth else "",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
