"""Run histories of consecutive seeds until a deadline; count violations and report the first of each kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count
from math import inf

import msgspec

from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.judge import LawViolation, judge_all
from roamcast.testing.swarm.recording_mesh import TimeUpError
from roamcast.testing.swarm.shrink import shrink


class Exploration(msgspec.Struct):
    """The result of an exploration."""

    seed: int
    "The first seed; the others follow it."
    histories: dict[str, int]
    "The number of histories that were run, by protocol."
    findings: list[LawViolation]
    "The first violation of each law by each protocol."
    violations: dict[str, dict[str, int]]
    "The number of histories that broke a law, by protocol and law."


def explore(
    protocols: Sequence[str],
    seed: int,
    *,
    seconds: float = 0.0,
    shrinking: float = 60.0,
    most: int | None = None,
    report: Callable[[LawViolation], None] = lambda finding: None,
) -> Exploration:
    """Run the histories of `seed` and the following seeds for `seconds` [s].

    A history that is unfinished at the end does not count. With 0 seconds, run the history of `seed` once for
    each protocol; with `most`, no more than so many histories of each. A violation is shrunk for at most
    `shrinking` [s], which may exceed the time limit, and passed to `report`.
    """
    found = Exploration(seed, dict.fromkeys(protocols, 0), [], {})
    deadline = time.monotonic() + seconds if seconds else inf
    for place in count() if seconds and most is None else range(most or 1):
        for protocol in protocols:
            try:
                broken = judge_all(draw(seed + place, protocol), deadline=deadline)
            except TimeUpError:
                return found
            if time.monotonic() > deadline:
                return found
            found.histories[protocol] += 1
            for finding in broken:
                of_law = found.violations.setdefault(protocol, {})
                of_law[finding.law] = of_law.get(finding.law, 0) + 1
                if of_law[finding.law] == 1:
                    small = shrink(finding, seconds=shrinking)
                    found.findings.append(small)
                    report(small)
    return found
