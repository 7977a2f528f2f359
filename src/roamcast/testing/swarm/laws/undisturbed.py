"""Law: mild faults do not affect events of which no copy was lost."""

from __future__ import annotations

from collections import defaultdict
from math import inf

from roamcast.routing.router import BROADCAST, Drop, Message, Role
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.links import LinkModel
from roamcast.testing.records import LostMessage
from roamcast.testing.swarm.history import LinkRuleStep
from roamcast.testing.swarm.record import SwarmReception, SwarmRecord
from roamcast.wire.message import unwrap

ROUNDING = 1e-9
"Tolerance for the difference of two times [s]."


def check(record: SwarmRecord) -> str | None:
    """Check that an event published during mild faults reaches all subscribers, if no copy of it was lost.

    The network had settled before. The law does not apply if anything but broadcast events was lost since
    then: a lost advertisement, subscription or acknowledgement, or a failed link, may change routes. Nor does
    it apply, unless the router retransmits until acknowledged, to an event that a relay dropped for want of a
    route when a delayed frame arrived, or when its clock is faster than that of the node that sent the frame:
    the route may have expired during the delay, or sooner than at that node. Nor does it apply to an event
    before which one of its publisher was lost in a message of another type, such as a join request of ODMRP:
    the route of this event may have been lost with it. As for probe events, a suppressed event
    is excluded, and all events are if a router suppressed a subscription.
    """
    if record.left_at == inf or record.history.cramped or record.later_at == inf:
        return None
    if record.stuck():  # greedy forwarding alone
        return None
    suppressed = record.suppressed
    if any(message.role is Role.SUBSCRIPTION for message in suppressed):
        return None
    lost = [row for row in record.lost if row.time >= record.later_at]
    if not all(_is_broadcast_event(record, row) for row in lost):
        return None
    touched = record.forged_publications | {row.message.publication_id for row in lost}
    sessions = record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
    touched |= {message.publication_id for message in suppressed}
    if not sessions:
        touched |= _dropped_too_late(record) | _sent_after_loss(record, lost)
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    forged_nodes = record.forged_nodes if sessions else set()
    for time, publication, advertised in record.published:
        if time < record.later_at or not advertised or publication.id in touched:
            continue
        for subscription in record.subscriptions:
            if (
                not subscription.single
                and subscription.node != publication.publisher
                and forged_nodes.isdisjoint((subscription.node, publication.publisher))
                and subscription.holds(time)
                and subscription.pattern.matches(publication.event)
                and (subscription.node, publication.id) not in delivered
            ):
                return (
                    f"node {subscription.node} missed {publication.event} (publication {publication.id})"
                    f" of node {publication.publisher}, published at {time:.3f} s during mild faults,"
                    " although no copy was lost"
                )
    return None


def _dropped_too_late(record: SwarmRecord) -> set[int]:
    """Return the events that a relay dropped for want of a route at the instant a frame arrived that was
    delayed, or came from a node with a slower clock."""
    delays = any(isinstance(step, LinkRuleStep) and step.rule == "delay" for step in record.history.later)
    if not delays and not record.history.clocks:
        return set()
    unrouted = {
        (drop.node, drop.time, drop.message.publication_id)
        for drop in record.drops
        if drop.time >= record.later_at and drop.reason is Drop.NO_ROUTE and isinstance(drop.message, Message)
    }
    return {
        heard.message.publication_id
        for heard in record.receptions
        if (heard.node, heard.time, heard.message.publication_id) in unrouted
        and (_is_faster(record, heard) or (delays and _was_delayed(record, heard)))
    }


def _sent_after_loss(record: SwarmRecord, lost: list[LostMessage]) -> set[int]:
    """Return the events before which one of their publisher was lost in a message of another type."""
    types: dict[int, set[type[Message]]] = defaultdict(set)
    for aired in record.transmissions:
        types[aired.message.publication_id].add(type(unwrap(aired.message)))
    published = {publication.id: (time, publication.publisher) for time, publication, _ in record.published}
    losses = [
        (*published[row.message.publication_id], type(unwrap(row.message)))
        for row in lost
        if row.message.publication_id in published
    ]
    return {
        publication
        for publication, (time, publisher) in published.items()
        if any(
            earlier < time and source == publisher and kind not in types[publication]
            for earlier, source, kind in losses
        )
    }


def _is_faster(record: SwarmRecord, heard: SwarmReception) -> bool:
    """Return whether the clock of the receiver of a frame runs faster than its sender's."""
    clocks = record.history.clocks
    return bool(clocks) and clocks[heard.node].rate > clocks[heard.sender].rate


def _was_delayed(record: SwarmRecord, heard: SwarmReception) -> bool:
    """Return whether the frame took longer than links take without faults."""
    sent = max(
        aired.time
        for aired in record.transmissions
        if aired.time < heard.time
        and aired.node == heard.sender
        and heard.node in aired.reach
        and aired.message == heard.message
    )
    return heard.time - sent > LinkModel().delay + ROUNDING


def _is_broadcast_event(record: SwarmRecord, row: LostMessage) -> bool:
    return unwrap(row.message).role is Role.EVENT and any(
        aired.to == BROADCAST
        for aired in record.transmissions
        if aired.time == row.time and aired.node == row.node and aired.message is row.message
    )
