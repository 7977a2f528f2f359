"""Check a history against the laws, and write violations as tests."""

from __future__ import annotations

from math import inf

import msgspec

from roamcast.routing.router import Router
from roamcast.testing.swarm.history import History, write
from roamcast.testing.swarm.laws import LAWS
from roamcast.testing.swarm.play import play_twice

WIDTH = 96
"Maximum number of characters of the history per line of the test."


class LawViolation(msgspec.Struct, frozen=True):
    """A law that a history breaks."""

    law: str
    description: str
    history: History
    error: str | None = None
    "The traceback, if a router raised an exception."


def judge(history: History, router: type[Router] | None = None) -> LawViolation | None:
    """Return the first law that a history breaks, or None."""
    return next(iter(judge_all(history, router)), None)


def judge_all(
    history: History, router: type[Router] | None = None, *, deadline: float = inf
) -> list[LawViolation]:
    """Run a history twice; return every law that it breaks, in the order of the laws.

    Raise `TimeUpError` at `deadline`, a time of `time.monotonic` [s].
    """
    record = play_twice(history, router, deadline=deadline)
    results = {name: check(record) for name, check in LAWS.items()}
    return [
        LawViolation(name, what, history, record.error) for name, what in results.items() if what is not None
    ]


def as_test(finding: LawViolation) -> str:
    """Return the source of a test for `tests/testing/swarm/test_found.py` that passes once the law holds."""
    history = finding.history
    name = f"{history.protocol}_{history.seed}_{finding.law}".replace("-", "_")
    text = write(history)
    pieces = "".join(f"        {text[at : at + WIDTH]!r}\n" for at in range(0, len(text), WIDTH))
    return (
        f"def test_{name}():\n"
        f"    # {finding.description.splitlines()[0][:WIDTH]}\n"
        f"    history = read(\n{pieces}    )\n"
        f"    assert judge(history) is None\n"
    )
