"""AODV and DSR beside ns-2's, on the same movement and traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from roamcast.routing.unicast.aodv.parameters import NS2 as AODV
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR
from validation import grounds, ns2, ours
from validation.ns2 import Ground, Outcome, Send
from validation.report import Check, Section

MOVEMENTS = (2, 3, 4)
"Of the district; in the first the shop is out of reach nine tenths of the time."
FIELDS = (1, 2, 3)
FAST = (11e6, 11e6)
RUNS = {"district": 10, "field": 5}

MAC = {"AODV": {"arp": True, "newest_first": True}, "DSR": {"arp": True}}
"ns-2 asks by ARP; its queue for DSR keeps the order of preferred packets, that for others turns it round."

Say = Callable[[str], None]


def checks(say: Say, quick: bool, folder: Path, routing: str, protocol: Mapping[str, Any]) -> Iterator[Check]:
    """Delivery, routing messages and median delay of one protocol in the district and in the field."""
    for subject, ground, sends, rates, since in _worlds(quick, folder):
        runs = 2 if quick else RUNS[subject.split()[0]]
        say(f"{routing}, {subject}")
        seeds = range(100, 100 + runs)
        common = {"since": since, "rates": rates}
        name, mac = routing.lower(), MAC[routing]
        us = _mean(
            [
                ours.unicast(ground, sends, s, protocol=protocol, routing=name, mac=mac, **common)
                for s in seeds
            ]
        )
        them = _mean(
            [ns2.unicast(ground, sends, s, feedback=False, routing=routing, **common) for s in seeds]
        )
        yield Check(subject, "delivery", us.delivery, them.delivery, 0.05, False)
        yield Check(subject, "routing messages", us.routing, them.routing, 0.20, True)
        yield Check(subject, "median delay, s", us.median, them.median, 0.20, True)


def section(say: Say, quick: bool, folder: Path, routing: str) -> Section:
    """One protocol against ns-2's."""
    protocol, more = {"AODV": (AODV, ""), "DSR": (DSR, DSR_TEXT)}[routing]
    return Section(routing, "ns-2", TEXT + more, list(checks(say, quick, folder, routing, protocol)))


TEXT = (
    "Copies of 512 B, as for DSDV in the district; in the field of 200 nodes at 140/km² ten nodes send one "
    "every two seconds on average to one of four receivers, at 11 Mb/s, 100 s. Ours follows the mapping "
    "`NS2` of its parameters and asks by ARP as ns-2 does. The packets of ns-2 are those of CBR sources: "
    "plain UDP is not data to its AODV, which then drops it when a link fails. Routing messages are counted "
    "at every hop. One flood more or less is fifty messages in the district, and single runs differ by "
    "half, so ten runs a side are averaged there and five in the field."
)
DSR_TEXT = " ns-2's flow state is on and ours has none, so more is overheard here."


def _worlds(
    quick: bool, folder: Path
) -> Iterator[tuple[str, Ground, list[Send], tuple[float, float], float]]:
    seconds = 120.0 if quick else 300.0
    for movement in MOVEMENTS[:1] if quick else MOVEMENTS:
        ground = ours.lay_out(grounds.district(seconds), movement, folder)
        for pattern, name in (("all", "to all at once"), ("turns", "in turns")):
            sends = grounds.copies(seconds, pattern, movement)
            yield f"district {movement}, {name}", ground, sends, ns2.RATES, seconds / 4
    seconds = 30.0 if quick else 100.0
    for movement in FIELDS[:1] if quick else FIELDS:
        ground = ours.lay_out(grounds.field(seconds), movement, folder)
        sends = grounds.one_to_one(seconds, ground.nodes, movement)
        yield f"field {movement}", ground, sends, FAST, 0.0


def _mean(runs: list[Outcome]) -> Outcome:
    return replace(
        runs[0],
        delivery=fmean(run.delivery for run in runs),
        median=fmean(run.median for run in runs),
        routing=round(fmean(run.routing for run in runs)),
    )
