"""Law: no broadcast storm."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that the number of frames stays below a sustained rate plus a burst.

    Histories with limits that are too small are excluded, and so are forged frames if advertisements have no
    serials (`advert_serials`, off as published): nodes forward a forged advertisement of a nonexistent node
    and subscribe to it in cycles, until the hop limit is reached.
    """
    defenceless = record.history.hostile and not record.serials
    if not record.stormed or record.history.cramped or defenceless:
        return None
    last = record.transmissions[-1]
    frames, name = len(record.transmissions), type(last.message).__name__
    return f"{frames} frames by {last.time:.1f} s, the last of them a {name}"
