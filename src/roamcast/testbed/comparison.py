"""Comparison of a testbed run with the simulation of the same scenario, protocol and seed."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.facts.tables import Facts
from roamcast.metrics.run_metrics import measure
from roamcast.routing.catalogue import find

MOST_DELIVERY = 0.05
"Difference of delivery rates up to which both agree."
MOST_FRAMES = 0.15
"Relative difference of the router's messages per event up to which both agree."


class RunFigures(NamedTuple):
    """The compared figures of one run; messages are those that routers sent."""

    delivery: float | None
    delay: float | None
    "Mean delay [s]."
    duplicates: int
    frames_per_event: float | None
    "Messages of routers per publication, after the warm-up."
    link_frames_per_event: float | None
    "Messages between links (acknowledgements, greetings) per publication, after the warm-up."
    kinds: dict[str, int]
    "Messages by kind, after the warm-up."


class RunComparison(NamedTuple):
    """A simulation and a testbed run of the same scenario, protocol and seed."""

    simulated: RunFigures
    live: RunFigures

    @property
    def agrees(self) -> bool:
        """Whether delivery and messages per event agree within `MOST_DELIVERY` and `MOST_FRAMES`."""
        pairs = (
            (self.simulated.delivery, self.live.delivery),
            (self.simulated.frames_per_event, self.live.frames_per_event),
        )
        if any(one is None or other is None for one, other in pairs):
            return pairs[0] == (None, None)
        (sim, live), (frames, live_frames) = pairs
        assert sim is not None and live is not None and frames is not None and live_frames is not None
        return abs(sim - live) <= MOST_DELIVERY and abs(live_frames - frames) <= MOST_FRAMES * frames


def figures(facts: Facts) -> RunFigures:
    """Return the figures of a run."""
    metrics = measure(facts)
    routers = {message.__name__ for message in find(facts.run.protocol).messages}
    sent = facts["transmissions"]
    counted = sent["time"].to_numpy() >= facts.run.warmup
    kinds: dict[str, int] = {}
    for kind, counts in zip(sent["kind"].to_pylist(), counted.tolist(), strict=True):
        if counts:
            kinds[kind] = kinds.get(kind, 0) + 1
    of_routers = sum(count for kind, count in kinds.items() if kind in routers)
    events = metrics.publications
    return RunFigures(
        metrics.delivery_rate,
        metrics.delay_mean,
        metrics.duplicate_deliveries,
        of_routers / events if events else None,
        (sum(kinds.values()) - of_routers) / events if events else None,
        dict(sorted(kinds.items(), key=lambda item: -item[1])),
    )


def compare(simulated: Facts, live: Facts) -> RunComparison:
    """Return the figures of both runs."""
    return RunComparison(figures(simulated), figures(live))
