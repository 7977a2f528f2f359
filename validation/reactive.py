"""AODV and DSR beside ns-2's, on the same movement and traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from validation import grounds, ns2, ours
from validation.ns2 import Ground, Outcome, Send
from validation.report import Check

MOVEMENTS = (2, 3, 4)
"Of the district; in the first the shop is out of reach nine tenths of the time."
FIELDS = (1, 2, 3)
FAST = (11e6, 11e6)
RUNS = 5

Say = Callable[[str], None]


def checks(say: Say, quick: bool, folder: Path, routing: str, protocol: Mapping[str, Any]) -> Iterator[Check]:
    """Delivery, routing messages and median delay of one protocol in the district and in the field."""
    runs = 2 if quick else RUNS
    for subject, ground, sends, rates, since in _worlds(quick, folder):
        say(f"{routing}, {subject}")
        seeds = range(100, 100 + runs)
        us = _mean(
            [
                ours.unicast(
                    ground, sends, s, protocol=protocol, since=since, routing=routing.lower(), rates=rates
                )
                for s in seeds
            ]
        )
        them = _mean(
            [
                ns2.unicast(ground, sends, s, feedback=False, since=since, routing=routing, rates=rates)
                for s in seeds
            ]
        )
        yield Check(subject, "delivery", us.delivery, them.delivery, 0.05, False)
        yield Check(subject, "routing messages", us.routing, them.routing, 0.20, True)
        yield Check(subject, "median delay, s", us.median, them.median, 0.20, True)


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
