"""A history before the laws: which of them it breaks, and how that is told."""

from __future__ import annotations

from math import inf

import msgspec

from roamcast.routing.router import Router
from roamcast.testing.swarm.history import History, write
from roamcast.testing.swarm.laws import LAWS
from roamcast.testing.swarm.play import play_twice

WIDTH = 96
"Characters of a history on one line of its test."


class LawViolation(msgspec.Struct, frozen=True):
    """A law that a history breaks."""

    law: str
    told: str
    history: History
    error: str | None = None
    "The traceback, where there was an exception."


def judge(history: History, router: type[Router] | None = None) -> LawViolation | None:
    """The first law that a history breaks, if it breaks one."""
    return next(iter(judge_all(history, router)), None)


def judge_all(
    history: History, router: type[Router] | None = None, *, deadline: float = inf
) -> list[LawViolation]:
    """Play a history twice; return every law that it breaks, in the order of the laws.

    At `deadline`, by `time.monotonic`, it raises `TimeUpError`.
    """
    record = play_twice(history, router, deadline=deadline)
    told = {name: check(record) for name, check in LAWS.items()}
    return [
        LawViolation(name, what, history, record.error) for name, what in told.items() if what is not None
    ]


def as_test(finding: LawViolation) -> str:
    """A function for `tests/testing/swarm/test_found.py` that passes once the law holds."""
    history = finding.history
    name = f"{history.protocol}_{history.seed}_{finding.law}".replace("-", "_")
    text = write(history)
    pieces = "".join(f"        {text[at : at + WIDTH]!r}\n" for at in range(0, len(text), WIDTH))
    return (
        f"def test_{name}():\n"
        f"    # {finding.told.splitlines()[0][:WIDTH]}\n"
        f"    history = read(\n{pieces}    )\n"
        f"    assert judge(history) is None\n"
    )
