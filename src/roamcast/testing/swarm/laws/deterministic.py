"""Law: a run is deterministic."""

from __future__ import annotations

from itertools import zip_longest

from roamcast.testing.swarm.record import SwarmRecord

ROWS = ("transmissions", "receptions", "lost", "drops", "deliveries", "states", "published", "probes")


def check(record: SwarmRecord) -> str | None:
    """Check that the second run of the history has the same record, row by row."""
    again = record.second
    if again is None:
        return None
    for name in ROWS:
        for number, (a, b) in enumerate(zip_longest(getattr(record, name), getattr(again, name))):
            if a != b:
                return f"{name} differ from row {number} on: {a} and {b}"
    if record.error != again.error:
        return "only one of the two runs raised this exception"
    return None
