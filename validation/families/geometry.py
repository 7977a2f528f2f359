"""Saturated flows between nodes at rest: chains, hidden and exposed terminals, capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from validation import ns2, ours
from validation.plan import Plan, Topic
from validation.report import Check


@dataclass(frozen=True)
class Layout:
    """Who stands where, and which flows go along which nodes."""

    name: str
    places: list[tuple[float, float]]
    paths: list[list[int]]
    flows: tuple[str, ...] = ("the flow",)
    rts: int = 0


TEXT = """\
Nodes at rest, saturated flows of 512 B at 2 Mb/s, ARP on both sides, forty runs a side of 20 s. A chain has a
node every 200 m and RTS throughout (Li et al. 2001: a long chain passes a seventh of one hop). Hidden:
senders 600 m apart do not sense each other, and the second is 400 m from the first one's receiver. Exposed:
two neighbours send away from each other. Capture: one receiver, a sender at 40 m and one at 200 m on the
other side; of two frames that begin together the nearer one's comes first and is 24 dB stronger."""

NO_RTS = 3000


def chain(hops: int) -> Layout:
    """So many hops of 200 m."""
    name = f"chain of {hops} hop{'s' if hops > 1 else ''}"
    return Layout(name, [(200.0 * k, 0.0) for k in range(hops + 1)], [list(range(hops + 1))])


def on_a_line(name: str, places: tuple[float, ...], flows: tuple[str, ...], rts: int) -> Layout:
    """Two flows of one hop on a line: from the first place to the second, from the third to the fourth."""
    return Layout(name, [(x, 0.0) for x in places], [[0, 1], [2, 3]], flows, rts)


LAYOUTS = [
    *(chain(hops) for hops in range(1, 7)),
    on_a_line("hidden terminal", (0, 200, 600, 800), ("disturbed", "disturbing"), NO_RTS),
    on_a_line("hidden terminal, RTS", (0, 200, 600, 800), ("disturbed", "disturbing"), 0),
    on_a_line("exposed terminals", (200, 0, 400, 600), ("to the left", "to the right"), NO_RTS),
    on_a_line("exposed terminals, RTS", (200, 0, 400, 600), ("to the left", "to the right"), 0),
    Layout(
        "capture",
        [(0.0, 0.0), (40.0, 0.0), (240.0, 0.0)],
        [[0, 1], [2, 1]],
        ("from near", "from afar"),
        NO_RTS,
    ),
]


def _flows(plan: Plan) -> Iterator[Check]:
    for layout in LAYOUTS:
        seeds = plan.seeds(6001, 40)
        pairs = plan.each(seeds, partial(_run, plan, layout))
        for flow, name in enumerate(layout.flows if pairs else ()):
            numbers = [[pair[side][flow] for pair in pairs] for side in (0, 1)]
            subject = layout.name if len(layout.flows) == 1 else f"{layout.name}: {name}"
            yield Check(subject, "packets/s", *numbers, 0.017, True, planned=len(seeds))


def _run(plan: Plan, layout: Layout, seed: int) -> tuple[list[float], list[float]]:
    us, them = plan.kept.both(
        ours.flows, ns2.flows, layout.places, layout.paths, plan.seconds(20), seed, rts=layout.rts
    )
    return us, them


TOPICS = (
    Topic(
        "Chains, hidden and exposed terminals, capture",
        "ns-2",
        TEXT,
        _flows,
    ),
)
