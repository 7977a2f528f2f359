"""History after history, seed after seed, until time is up; each law that a protocol breaks is told once."""

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
    """How it went."""

    seed: int
    "The first of the seeds; the others follow it."
    histories: dict[str, int]
    "How many were played of each protocol."
    findings: list[LawViolation]


def explore(
    protocols: Sequence[str],
    seed: int,
    *,
    seconds: float = 0.0,
    shrinking: float = 60.0,
    tell: Callable[[LawViolation], None] = lambda finding: None,
) -> Exploration:
    """Play the histories of `seed` and of those after it until so many seconds have passed, and leave out the
    last if it has not ended by then. With 0 seconds play that of `seed` for each protocol.

    A finding is shrunken for `shrinking` seconds at most, beyond the time if need be, and handed to `tell`.
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
