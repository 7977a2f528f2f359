"""A history before the laws: which of them it breaks, and how that is told."""

from __future__ import annotations

import msgspec

from roamcast.routing.router import Router
from roamcast.testing.swarm.history import History, write
from roamcast.testing.swarm.laws import LAWS
from roamcast.testing.swarm.play import play_twice

WIDTH = 96
"Characters of a history on one line of its test."


class Finding(msgspec.Struct, frozen=True):
    """A law that a history breaks."""

    law: str
    told: str
    history: History
    error: str | None = None
    "The traceback, where there was an exception."


def judge(history: History, router: type[Router] | None = None) -> Finding | None:
    """Play a history twice; the first law that is broken, if one is."""
    record = play_twice(history, router)
    for name, check in LAWS.items():
        told = check(record)
        if told is not None:
            return Finding(name, told, history, record.error)
    return None


def as_test(finding: Finding) -> str:
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
