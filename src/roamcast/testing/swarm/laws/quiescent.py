"""Law: nothing happens after all nodes have left."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that no message, drop, delivery or state is recorded after all nodes have left."""
    for name in ("transmissions", "belated", "receptions", "drops", "deliveries", "states"):
        for row in getattr(record, name):
            if row.time > record.left_at:
                return f"after all nodes had left at {record.left_at:.1f} s there was {row}"
    return None
