"""The comparisons themselves: each runs both sides and says how far apart they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean

from validation import bianchi, grounds, ns2, ours, reactive
from validation.ns2 import Outcome
from validation.report import Check, Section

PAYLOAD = 512
MOVEMENTS = (2, 3, 4)
"In the first movement the shop is out of reach nine tenths of the time: there is little to compare."

SILENT = {"link_feedback": False}
"Word of failed links is ignored."

Say = Callable[[str], None]


def mean(runs: list[Outcome]) -> Outcome:
    """Several runs as one."""
    return Outcome(
        delivery=fmean(run.delivery for run in runs),
        delay=fmean(run.delay for run in runs),
        median=fmean(run.median for run in runs),
        transmissions=round(fmean(run.transmissions for run in runs)),
        routing=round(fmean(run.routing for run in runs)),
    )


def pair(say: Say, quick: bool) -> Section:
    """A saturated sender and its receiver against the anchors."""
    checks = []
    for rts, anchor in ((False, 320.5), (True, 263.4)):
        say(f"saturated pair, {'with' if rts else 'without'} RTS")
        rate = ours.cell(
            2, 20 if quick else 100, 1, payload=PAYLOAD, broadcast=False, rts=rts, senders=1, capture=10
        )
        checks.append(Check(f"{'with' if rts else 'without'} RTS", "packets/s", rate, anchor, 0.01, True))
    return Section(
        "A saturated pair",
        "known",
        "One sender, one receiver, 512 B of payload at 2 Mb/s (1 Mb/s basic rate). By hand, without RTS: "
        "DIFS 50 + mean backoff 300 + data 2456 + SIFS 10 + ACK 304 = 3120 µs. ns-3 measures 321.1 and "
        "263.9.",
        checks,
    )


def cells(say: Say, quick: bool) -> Section:
    """Saturated cells against the mean-field analysis, with ns-2 as a third opinion."""
    checks = []
    seconds = 20 if quick else 60
    for stations in (5, 20) if quick else (5, 10, 20, 50):
        for name, access, how in (
            ("broadcast", bianchi.broadcast(PAYLOAD), {"broadcast": True, "rts": False}),
            ("unicast", bianchi.unicast(PAYLOAD, rts=False), {"broadcast": False, "rts": False}),
            ("unicast, RTS", bianchi.unicast(PAYLOAD, rts=True), {"broadcast": False, "rts": True}),
        ):
            say(f"saturated cell of {stations}, {name}")
            model = bianchi.saturate(stations, access)
            rate = ours.cell(stations, seconds, 1, payload=PAYLOAD, **how)
            third = ns2.cell(stations, seconds, 1, payload=PAYLOAD, **how)
            subject = f"{stations} stations, {name}"
            checks.append(Check(subject, "frames/s", rate, model.per_second, 0.05, True, f"{third:.4g}"))
    return Section(
        "Saturated cells",
        "analysis",
        "All stations hear each other, capture is off, everyone always has a 512 B frame to send. The "
        "analysis is Bianchi's mean field carried out for ns-2's rules (`validation/bianchi.py` derives "
        "it): counters freeze while the medium is busy, seven attempts, EIFS and then DIFS after a "
        "collision. A frame counts when it got through; a broadcast, when it reached one of the others, "
        "averaged over them. ns-2 loses some of its time to ARP at the start, which we do not have.",
        checks,
        third="ns-2",
    )


def _flood_checks(subject: str, us: Outcome, them: Outcome) -> Iterator[Check]:
    yield Check(subject, "delivery", us.delivery, them.delivery, 0.03, False)
    yield Check(subject, "transmissions", us.transmissions, them.transmissions, 0.05, True)
    yield Check(subject, "mean delay, s", us.delay, them.delay, 0.20, True)


def flooding(say: Say, quick: bool, folder: Path) -> Section:
    """Flooding against ns-2's, in the district and in the field."""
    checks: list[Check] = []
    seconds = 60.0 if quick else 200.0
    for movement in MOVEMENTS[:1] if quick else MOVEMENTS:
        ground = ours.lay_out(grounds.district(seconds), movement, folder)
        for pattern, sends, runs in (
            ("even", grounds.evenly(seconds, 0.3125), 1),
            ("bursts of 8", grounds.in_bursts(seconds, 2.5, 8), 2 if quick else 6),
        ):
            subject = f"district {movement}, {pattern}"
            say(f"flooding, {subject}, {runs} run(s) each")
            seeds = range(100 * movement, 100 * movement + runs)
            us = mean([ours.flood(ground, sends, seed) for seed in seeds])
            them = mean([ns2.flood(ground, sends, seed) for seed in seeds])
            checks.extend(_flood_checks(subject, us, them))
    seconds = 20.0 if quick else 40.0
    for movement in (1,) if quick else (1, 2, 3):
        ground = ours.lay_out(grounds.field(seconds), movement, folder)
        sends = grounds.by_many(seconds, 10, 0.5, ground.nodes, movement)
        say(f"flooding, field {movement}")
        seeds = range(100 * movement, 100 * movement + (1 if quick else 3))
        us = mean([ours.flood(ground, sends, seed, rates=(11e6, 11e6)) for seed in seeds])
        them = mean([ns2.flood(ground, sends, seed, rates=(11e6, 11e6)) for seed in seeds])
        checks.extend(_flood_checks(f"field {movement}", us, them))
    return Section(
        "Flooding",
        "ns-2",
        "The same movement file and the same schedule of 512 B publications for both; waits of up to 10 ms "
        "before a repetition. District: movements 2 to 4, since in movement 1 the shop is out of reach "
        "nine tenths of the time; 51 nodes on 1000 x 500 m, 200 s, 2 Mb/s (broadcasts at 1 Mb/s), one "
        "flood every 0.3125 s or eight at once every 2.5 s. Floods in bursts collide a great deal and a "
        "single run's delivery scatters by 0.015, so six runs a side are averaged. Field: 200 nodes at "
        "140/km², ten publishers of 0.5/s each, 11 Mb/s, 40 s, three runs a side averaged. Now and then a "
        "flood dies at its first hop, where nobody repeats what nobody heard: each costs half a percent of "
        "delivery, and the two sides lose different ones. Transmissions are counted where the router (the "
        "agent) sends.\n\n"
        "Three things had to be set right before the numbers agreed. ns-2's queue puts packets of message "
        "agents at its head, the last first, unless `Prefer_Routing_Protocols` is 0 *before* the nodes are "
        "made; that shortens mean delays in bursts by 5 %. The generator of the agents' waits needs a seed "
        "of its own, or it repeats the backoffs of the link. And delays on the air had to be rounded up to "
        "nanoseconds: rounded down, a detour could be shorter than the straight way, and stations lost "
        "backoff slots.",
        checks,
    )


def dsdv(say: Say, quick: bool, folder: Path) -> Section:
    """DSDV unicast against ns-2's."""
    checks: list[Check] = []
    seconds = 120.0 if quick else 300.0
    since = seconds / 4
    for movement in MOVEMENTS[:1] if quick else MOVEMENTS:
        ground = ours.lay_out(grounds.district(seconds), movement, folder)
        for pattern in ("all", "turns"):
            sends = grounds.copies(seconds, pattern, movement)
            subject = f"district {movement}, {'to all at once' if pattern == 'all' else 'in turns'}"
            say(f"DSDV, {subject}")
            seeds = range(100 * movement, 100 * movement + (2 if quick else 5))
            us = mean([ours.unicast(ground, sends, s, protocol=SILENT, since=since) for s in seeds])
            them = mean([ns2.unicast(ground, sends, s, feedback=False, since=since) for s in seeds])
            checks.append(Check(subject, "delivery", us.delivery, them.delivery, 0.05, False))
            checks.append(Check(subject, "routing messages", us.routing, them.routing, 0.20, True))
    return Section(
        "DSDV",
        "ns-2",
        "The shop sends 512 B copies to ten walkers over DSDV: one to each of them every 2.5 s, or to one "
        "after the other every 0.3125 s; 300 s, the first quarter not counted, five runs a side averaged. "
        "Word of failed links is ignored on both sides (`link_feedback = false`), which is ns-2's default: "
        "with `use_mac_ 1`, Debian's ns-2 did not finish this scenario in ten minutes of CPU, which "
        "otherwise takes it one second. ns-2 asks by ARP before it first talks to a neighbour and keeps one "
        "packet meanwhile; we have no ARP. It costs ns-2 a few packets a run.",
        checks,
    )


def all_sections(say: Say, quick: bool, folder: Path) -> Iterable[Section]:
    """Every comparison, the quick ones first."""
    yield pair(say, quick)
    yield flooding(say, quick, folder)
    yield dsdv(say, quick, folder)
    yield reactive.section(say, quick, folder, "AODV")
    yield reactive.section(say, quick, folder, "DSR")
    yield cells(say, quick)
