"""Run histories of consecutive seeds until a deadline; report each law that a protocol breaks once."""

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


def explore(
    protocols: Sequence[str],
    seed: int,
    *,
    seconds: float = 0.0,
    shrinking: float = 60.0,
    tell: Callable[[LawViolation], None] = lambda finding: None,
) -> Exploration:
    """Run the histories of `seed` and the following seeds for `seconds` [s].

    A history that is unfinished at the end does not count. With 0 seconds, run the history of `seed` once for
    each protocol. A violation is shrunk for at most `shrinking` [s], which may exceed the time limit, and
    passed to `tell`.
    """
    found = Exploration(seed, dict.fromkeys(protocols, 0), [])
    known: set[tuple[str, str]] = set()
    deadline = time.monotonic() + seconds if seconds else inf
    for place in count():
        for protocol in protocols:
            if place and not seconds:
                return found
            try:
                broken = judge_all(draw(seed + place, protocol), deadline=deadline)
            except TimeUpError:
                return found
            if time.monotonic() > deadline:
                return found
            found.histories[protocol] += 1
            for finding in broken:
                if (protocol, finding.law) not in known:
                    known.add((protocol, finding.law))
                    small = shrink(finding, seconds=shrinking)
                    found.findings.append(small)
                    tell(small)
    return found
