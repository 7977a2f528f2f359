"""A saturated sender and its receiver: known values, all rates, and the edge of the RTS threshold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from validation import ns2, ours
from validation.plan import PAYLOAD, Plan, Topic
from validation.report import Check

KNOWN = """\
One sender, one receiver, 512 B of payload at 2 Mb/s (1 Mb/s basic rate), five runs of 20 s. By hand,
without RTS: DIFS 50 + mean backoff 300 + data 2456 + SIFS 10 + ACK 304 = 3120 µs. ns-3 measures 321.1 and
263.9."""

RATES = """\
The same pair beside ns-2, with ARP on both sides; eight runs a side of 8 s. `RTS from 590 B`: the threshold
counts all headers, so a message of 512 B (590 B with them) is announced at 590 and not at 591."""

PLACES = [(0.0, 0.0), (100.0, 0.0)]
ALL_HEADERS = 20 + 58


def _anchors(plan: Plan) -> Iterator[Check]:
    for rts, anchor in ((False, 320.5), (True, 263.4)):
        subject = f"{'with' if rts else 'without'} RTS"
        seeds = plan.seeds(6101, 5)
        how = {"payload": PAYLOAD, "broadcast": False, "rts": rts, "senders": 1, "capture": 10}
        rates = plan.each(seeds, partial(plan.kept.run, ours.cell, 2, plan.seconds(20), **how))
        if not rates:
            continue
        yield Check(subject, "packets/s", rates, anchor, 0.003, True, planned=len(seeds))


def _rates(plan: Plan) -> Iterator[Check]:
    edge = PAYLOAD + ALL_HEADERS
    for subject, threshold, rates in (
        ("1 Mb/s", 3000, (1e6, 1e6)),
        ("2 Mb/s, RTS from 590 B", edge, (2e6, 1e6)),
        ("2 Mb/s, RTS from 591 B", edge + 1, (2e6, 1e6)),
        ("5.5 Mb/s", 3000, (5.5e6, 1e6)),
        ("5.5 Mb/s, RTS", 0, (5.5e6, 1e6)),
        ("11 Mb/s, basic 2 Mb/s", 3000, (11e6, 2e6)),
        ("11 Mb/s, basic 2 Mb/s, RTS", 0, (11e6, 2e6)),
        ("11 Mb/s, basic 11 Mb/s", 3000, (11e6, 11e6)),
    ):
        seeds = plan.seeds(6101, 8)
        pairs = plan.each(seeds, partial(_run, plan, threshold, rates))
        if not pairs:
            continue
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        yield Check(subject, "packets/s", *sides, 0.005, True, planned=len(seeds))


def _run(plan: Plan, rts: int, rates: tuple[float, float], seed: int) -> tuple[float, float]:
    us, them = plan.kept.both(
        ours.flows, ns2.flows, PLACES, [[0, 1]], plan.seconds(8), seed, rts=rts, rates=rates
    )
    return us[0], them[0]


TOPICS = (
    Topic(
        "A saturated pair",
        "known",
        KNOWN,
        _anchors,
    ),
    Topic(
        "A saturated pair at all rates",
        "ns-2",
        RATES,
        _rates,
    ),
)
