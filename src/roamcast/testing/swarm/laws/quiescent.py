"""Silence after everyone has left."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """When everyone has left, nothing is sent any more and nothing happens."""
    for name in ("transmissions", "belated", "receptions", "drops", "deliveries", "states"):
        for row in getattr(record, name):
            if row.time > record.left_at:
                return f"after everyone had left at {record.left_at:.1f} s there was {row}"
    return None
