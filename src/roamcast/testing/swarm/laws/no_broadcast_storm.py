"""No storm."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Frames do not multiply without end: beyond a pace at which every node tells everyone something each
    second there is room for a burst, but not for a storm. Excused are tables that were drawn too small, and
    forged frames where advertisements have no serials (`advert_serials`, off as published): a forged one of a
    node that does not exist is told on, and subscribed to in circles, until its hops reach their limit."""
    defenceless = record.history.hostile and not record.serials
    if not record.stormed or record.history.cramped or defenceless:
        return None
    last = record.transmissions[-1]
    frames, name = len(record.transmissions), type(last.message).__name__
    return f"{frames} frames by {last.time:.1f} s, the last of them a {name}"
