"""The city grown at constant density: overhead and delay per request of traditional CBR, the grid and CLONE.

`python -m bench.city [NODES...]`; 200, 800, 3200 and 12800 nodes take long, so 200 is the default. A row is
told as soon as its run is done. Growth, N^x, is fitted through all sizes and stands beside that of section
III's formulas, with the communities and the share of misses that were measured at each size.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import nan, sqrt
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.memory import peak_memory
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from validation.clone_model import Model

PROTOCOLS = ("cbr", "grid-cbr", "clone")
SIMULATED = 200.0
"Seconds; the first half is warm-up."
ROW = "{:<10}{:>8}{:>11}{:>9}{:>20}{:>10}{:>13}{:>9}{:>23}{:>10}"
TOLD = (
    "protocol",
    "nodes",
    "satisfied",
    "delay",
    "overhead a request",
    "an answer",
    "communities",
    "misses",
    "simulated s per CPU s",
    "memory",
)


@dataclass(frozen=True)
class Seen:
    """What came of one run."""

    satisfied: float
    delay: float
    overhead: float
    communities: float | None
    misses: float
    "Share of the answers that no cache had."
    speed: float
    "Simulated seconds per CPU second."
    memory: float
    "Gigabytes at the peak."

    @property
    def of_an_answer(self) -> float:
        """Overhead for each request that was satisfied."""
        return self.overhead / self.satisfied if self.satisfied else nan

    def predicted(self, nodes: int) -> float:
        """Messages per request by section III, all weighing the same."""
        model = Model(nodes, self.communities or nodes, self.misses, publication_size=1.0)
        spent = model.traditional() if self.communities is None else model.clone()
        return spent / (nodes / 2 / model.subscribe)


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
        *(f"protocol.{protocol}.{name}={value}" for protocol, name, value in _room(nodes, grown)),
    )


def _room(nodes: int, grown: float) -> Iterator[tuple[str, str, object]]:
    # Limits that were set for the paper's city grow with it, or they would be all that is measured.
    yield "cbr", "hop_limit", min(round(64 * grown), 255)
    yield "cbr", "subscriptions", max(2 * nodes, 4096)
    for protocol in ("grid-cbr", "clone"):
        yield protocol, "profile", '"as-published"'
        yield protocol, "hop_limit", min(round(64 * grown), 255)
        yield protocol, "served_principals", max(8 * nodes, 1024)
        for name, value in (("beacon", '"2 s"'), ("silence", '"9 s"'), ("implicit", "false")):
            yield protocol, f"gpsr.{name}", value
        yield protocol, "gpsr.hop_limit", min(round(32 * grown), 255)


def see(protocol: str, nodes: int) -> Seen:
    """Run the city of that size; its facts go to the disk, or memory would end the largest."""
    names = ("satisfied_rate", "response_delay", "overhead_per_request", "communities", "hit_rate")
    with TemporaryDirectory() as name:
        facts = simulate(load(locate("city"), settings(nodes)), protocol, 101, folder=Path(name))
        found = evaluate(metric_input(facts), names)
    rate, delay, overhead, communities, hits = (found[name] for name in names)
    return Seen(
        satisfied=float(rate or 0),
        delay=nan if delay is None else float(delay),
        overhead=float(overhead or 0),
        communities=None if communities is None else float(communities),
        misses=1 - float(hits or 0),
        speed=SIMULATED / (facts.cpu_seconds or 1),
        memory=peak_memory() / 2**30,
    )


def growth(sizes: list[int], values: list[float]) -> float:
    """x of the N^x that fits best."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def main() -> None:
    """Print a row for each size and protocol, and how overhead and delay grow."""
    sizes = sorted({int(each) for each in sys.argv[1:]}) or [200]
    rows: dict[str, list[Seen]] = {protocol: [] for protocol in PROTOCOLS}
    print(ROW.format(*TOLD))
    for nodes in sizes:
        for protocol in PROTOCOLS:
            # Each in a process of its own, so that the memory told is that of the run.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                seen = apart.submit(see, protocol, nodes).result()
            rows[protocol].append(seen)
            text = (
                f"{100 * seen.satisfied:.1f} %",
                f"{seen.delay:.2f} s",
                f"{seen.overhead:.1f}",
                f"{seen.of_an_answer:,.0f}",
                "" if seen.communities is None else f"{seen.communities:.0f}",
                f"{100 * seen.misses:.0f} %",
                f"{seen.speed:.2f}",
                f"{seen.memory:.1f} GB",
            )
            print(ROW.format(protocol, f"{nodes:,}", *text), flush=True)
    for protocol, seen in rows.items() if len(sizes) > 1 else ():
        overhead = growth(sizes, [each.overhead for each in seen])
        answer = growth(sizes, [each.of_an_answer for each in seen])
        delay = growth(sizes, [each.delay for each in seen])
        model = growth(sizes, [each.predicted(nodes) for each, nodes in zip(seen, sizes, strict=True)])
        print(
            f"{protocol}: overhead a request N^{overhead:.2f}, section III N^{model:.2f},"
            f" an answer N^{answer:.2f}; delay N^{delay:.2f}"
        )


if __name__ == "__main__":
    main()
