"""Saturated cells against the mean-field analysis, with ns-2 as a third opinion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import fmean, stdev

from validation import bianchi, ns2, ours
from validation.plan import PAYLOAD, Plan, Topic
from validation.report import Check, student

TEXT = """\
All stations hear each other, capture is off, everyone always has a 512 B frame to send. The analysis is
Bianchi's mean field carried out for ns-2's rules (`validation/bianchi.py` derives it): counters freeze
while the medium is busy, seven attempts, EIFS and then DIFS after a collision. A frame counts when it got
through; a broadcast, when it reached one of the others, averaged over them. Runs of 8 s, ten a side,
forty of broadcasts; ns-2's mean with its interval.

Fifty broadcasting stations are the extreme: a window of 31 slots that never widens, so that four frames of
five collide, and what gets through does so all or nothing at 49 receivers. Only some 40 frames a second
count, and a run of a minute scatters by 2 %."""


def _checks(plan: Plan) -> Iterator[Check]:
    seconds = plan.seconds(8)
    for stations in (5, 20) if plan.quick else (5, 10, 20, 50):
        for name, access, how in (
            ("broadcast", bianchi.broadcast(PAYLOAD), {"broadcast": True, "rts": False}),
            ("unicast", bianchi.unicast(PAYLOAD, rts=False), {"broadcast": False, "rts": False}),
            ("unicast, RTS", bianchi.unicast(PAYLOAD, rts=True), {"broadcast": False, "rts": True}),
        ):
            subject = f"{stations} stations, {name}"
            seeds = plan.seeds(6201, 40 if how["broadcast"] else 10)
            us, third = (
                plan.each(seeds, partial(plan.kept.run, side.cell, stations, seconds, payload=PAYLOAD, **how))
                for side in (ours, ns2)
            )
            model = plan.each([stations], partial(plan.kept.run, bianchi.frames_per_second, access=access))
            if len(us) < 2 or len(third) < 2 or not model:
                continue
            margin = student(len(third) - 1) * stdev(third) / len(third) ** 0.5
            note = f"{fmean(third):.4g} ± {margin:.2g}"
            yield Check(subject, "frames/s", us, model[0], 0.017, True, note, len(seeds))


TOPICS = (
    Topic(
        "Saturated cells",
        "analysis",
        TEXT,
        _checks,
        third="ns-2",
    ),
)
