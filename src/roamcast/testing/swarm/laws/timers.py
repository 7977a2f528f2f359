"""Law: no endless timers."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that routers do not set timers endlessly, as by a timer that sets itself again at once."""
    if record.busy is None:
        return None
    last = max((row[-1].time for row in (record.transmissions, record.receptions) if row), default=0.0)
    return f"{record.busy}, some time after {last:.1f} s"
