"""Law: mild faults do not affect events of which no copy was lost."""

from __future__ import annotations

from math import inf

from roamcast.routing.router import BROADCAST, Drop, Message, Role
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.records import LostMessage
from roamcast.testing.swarm.history import LinkRuleStep
from roamcast.testing.swarm.record import SwarmRecord
from roamcast.wire.message import unwrap


def check(record: SwarmRecord) -> str | None:
    """Check that an event published during mild faults reaches all subscribers, if no copy of it was lost.

    The network had settled before. The law does not apply if anything but broadcast events was lost since
    then: a lost advertisement, subscription or acknowledgement, or a failed link, may change routes. Nor does
    it apply, unless the router retransmits until acknowledged, to an event that was dropped for want of a
    route while links delayed frames: the route may have expired while the frame was delayed.
    """
    if record.left_at == inf or record.history.cramped or record.later_at == inf:
        return None
    lost = [row for row in record.lost if row.time >= record.later_at]
    if not all(_is_broadcast_event(record, row) for row in lost):
        return None
    touched = record.forged_publications | {row.message.publication_id for row in lost}
    sessions = record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
    delayed = any(isinstance(step, LinkRuleStep) and step.rule == "delay" for step in record.history.later)
    excuses = {Drop.SUPPRESSED, Drop.NO_ROUTE} if delayed and not sessions else {Drop.SUPPRESSED}
    touched |= {
        drop.message.publication_id
        for drop in record.drops
        if drop.reason in excuses and isinstance(drop.message, Message)
    }
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    slandered = record.forged_nodes if sessions else set()
    for time, publication, offered in record.published:
        if time < record.later_at or not offered or publication.id in touched:
            continue
        for wish in record.subscriptions:
            if (
                not wish.single
                and wish.node != publication.publisher
                and slandered.isdisjoint((wish.node, publication.publisher))
                and wish.holds(time)
                and wish.pattern.matches(publication.event)
                and (wish.node, publication.id) not in delivered
            ):
                return (
                    f"node {wish.node} missed {publication.event} (publication {publication.id}) of node"
                    f" {publication.publisher}, published at {time:.3f} s during mild faults, although no"
                    " copy was lost"
                )
    return None


def _is_broadcast_event(record: SwarmRecord, row: LostMessage) -> bool:
    return unwrap(row.message).role is Role.EVENT and any(
        aired.to == BROADCAST
        for aired in record.transmissions
        if aired.time == row.time and aired.node == row.node and aired.message is row.message
    )
