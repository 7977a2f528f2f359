"""The same again."""

from __future__ import annotations

from itertools import zip_longest

from roamcast.testing.swarm.record import SwarmRecord

ROWS = ("transmissions", "receptions", "lost", "drops", "deliveries", "states", "published", "probes")


def check(record: SwarmRecord) -> str | None:
    """The same history gives the same record, row by row."""
    again = record.second
    if again is None:
        return None
    for name in ROWS:
        for number, (a, b) in enumerate(zip_longest(getattr(record, name), getattr(again, name))):
            if a != b:
                return f"{name} part at row {number}: {a} and {b}"
    if record.error != again.error:
        return "an exception only one time"
    return None
