"""No storm."""

from __future__ import annotations

from roamcast.testing.swarm.record import Record


def check(record: Record) -> str | None:
    """Frames do not multiply without end: beyond a pace at which every node tells everyone something each
    second there is room for a burst, but not for a storm; unless memory was drawn too small to prevent it."""
    if not record.stormed or record.history.cramped:
        return None
    last = record.aired[-1]
    return (
        f"{len(record.aired)} frames by {last.time:.1f} s, the last of them a {type(last.message).__name__}"
    )
