"""Law: no broadcast storm."""

from __future__ import annotations

from roamcast.routing.router import BROADCAST
from roamcast.routing.traits import Dissemination
from roamcast.testing.swarm.history import LinkRuleStep
from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that the number of frames stays below a sustained rate plus a burst.

    Histories with limits that are too small are excluded, and so are forged frames if advertisements have no
    serials (`advert_serials`, off as published): nodes forward a forged advertisement of a nonexistent node
    and subscribe to it in cycles, until the hop limit is reached. A storm of unicast frames is
    excluded if frames were forged and links duplicate frames: in a loop of forged routes the copies of a
    message double at every hop, and routers of unicast protocols rely on the link to remove duplicates.
    """
    defenceless = record.history.hostile and not record.serials
    if not record.stormed or record.history.cramped or defenceless:
        return None
    if _is_doubled_in_forged_loop(record):
        return None
    last = record.transmissions[-1]
    frames, name = len(record.transmissions), type(last.message).__name__
    return f"{frames} frames by {last.time:.1f} s, the last of them a {name}"


def _is_doubled_in_forged_loop(record: SwarmRecord) -> bool:
    """Return whether nearly all frames are unicast, frames were forged, and links duplicated frames."""
    duplicating = record.history.links.duplicate or any(
        isinstance(step, LinkRuleStep) and step.rule == "duplicate" for step in record.history.steps
    )
    addressed = record.traits.travel is Dissemination.ADDRESSED
    if not (record.history.hostile and duplicating and addressed):
        return False
    unicast = sum(aired.to != BROADCAST for aired in record.transmissions)
    return unicast > 0.95 * len(record.transmissions)
