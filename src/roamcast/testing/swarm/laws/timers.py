"""No endless timers."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Routers do not set timers without end: a timer that is set again at once would run for ever."""
    if record.busy is None:
        return None
    last = max((row[-1].time for row in (record.transmissions, record.receptions) if row), default=0.0)
    return f"{record.busy}, some time after {last:.1f} s"
