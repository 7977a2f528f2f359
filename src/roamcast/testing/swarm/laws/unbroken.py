"""No exception."""

from __future__ import annotations

from roamcast.testing.swarm.record import Record


def check(record: Record) -> str | None:
    """Whatever happens, no router raises."""
    if record.error is None:
        return None
    return record.error.strip().splitlines()[-1]
