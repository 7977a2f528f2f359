"""In a healed network every event arrives."""

from __future__ import annotations

from math import inf

from roamcast.routing.router import Drop, Message, Role
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """When the faults have ended and all has settled, whoever wants an event that was offered gets it, or any
    one that it asked for, unless a router kept it back, or a wish, because others had repeated it."""
    if record.left_at == inf or record.history.cramped:
        return None
    kept = [
        drop.message
        for drop in record.drops
        if drop.reason is Drop.SUPPRESSED and isinstance(drop.message, Message)
    ]
    if any(message.role is Role.WISHES for message in kept):
        return None
    kept_back = {message.publication_id for message in kept}
    forged = record.forged_publications
    # Sessions are believed for good, and nothing on the air is signed: not asked is who was spoken of.
    sessions = record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
    spoken_of = record.forged_nodes if sessions else set()
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    for time, publication, offered in record.probes:
        for wish in record.subscriptions:
            if (
                offered
                and publication.id not in forged
                and publication.id not in kept_back
                and wish.node != publication.publisher
                and spoken_of.isdisjoint((wish.node, publication.publisher))
                and wish.holds(time)
                # Who asks for one event may be given another that was on its way, and is owed no more.
                and not (wish.single and wish.end < inf)
                and wish.pattern.matches(publication.event)
                and (wish.node, publication.id) not in delivered
            ):
                return (
                    f"node {wish.node} did not get {publication.event} (publication {publication.id}) of node"
                    f" {publication.publisher}, published at {time:.3f} s in the healed network"
                )
    return None
