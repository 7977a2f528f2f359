"""Law: in a healed network every event is delivered."""

from __future__ import annotations

from math import inf

from roamcast.routing.router import Role
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.swarm.record import SwarmRecord
from roamcast.wire.message import unwrap


def check(record: SwarmRecord) -> str | None:
    """Check that probe events that were advertised are delivered to all matching subscriptions and requests.

    Events of which a router suppressed a repetition are excluded, and so are all events if a router
    suppressed a subscription. Probe events that a publisher held until the mild faults had begun are excluded
    if these faults lost a copy, unless the protocol retransmits events until they are acknowledged.
    """
    if record.left_at == inf or record.history.cramped or record.stuck():
        return None
    suppressed = record.suppressed
    if any(message.role is Role.SUBSCRIPTION for message in suppressed):
        return None
    kept_back = {message.publication_id for message in suppressed}
    forged = record.forged_publications
    sessions = record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
    if not sessions:
        kept_back |= _held(record) & {
            row.message.publication_id for row in record.lost if row.time >= record.later_at
        }
    # Session state does not expire and messages are not signed, so forged nodes are excluded.
    forged_nodes = record.forged_nodes if sessions else set()
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    for time, publication, advertised in record.probes:
        for subscription in record.subscriptions:
            if (
                advertised
                and publication.id not in forged
                and publication.id not in kept_back
                and subscription.node != publication.publisher
                and forged_nodes.isdisjoint((subscription.node, publication.publisher))
                and subscription.holds(time)
                # A request may have been satisfied by another event that was in transit.
                and not (subscription.single and subscription.end < inf)
                and subscription.pattern.matches(publication.event)
                and (subscription.node, publication.id) not in delivered
            ):
                return (
                    f"node {subscription.node} missed {publication.event} (publication {publication.id})"
                    f" of node {publication.publisher}, published at {time:.3f} s in the healed network"
                )
    return None


def _held(record: SwarmRecord) -> set[int]:
    """Return the publications whose publisher sent them first when the mild faults had begun."""
    first: dict[int, float] = {}
    for aired in record.transmissions:
        about = aired.message.publication_id
        if unwrap(aired.message).role is Role.EVENT and about >> 32 == aired.node:
            first.setdefault(about, aired.time)
    return {about for about, time in first.items() if time >= record.later_at}
