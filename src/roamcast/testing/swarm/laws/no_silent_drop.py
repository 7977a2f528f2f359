"""Law: no event is dropped silently."""

from __future__ import annotations

from math import inf

from roamcast.routing.router import Drop, Message, NodeId, Role
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.messages import nodes_named
from roamcast.testing.swarm.record import SwarmReception, SwarmRecord
from roamcast.wire.message import unwrap


def check(record: SwarmRecord) -> str | None:
    """Check that a router delivers, forwards, answers or drops every event that it accepted.

    Events whose receiver or publisher crashes later are excluded: a router may hold an event until earlier
    ones of the publisher arrive. An event after one that its publisher evicted from a full table is excluded
    as well: the missing one never arrives. With sessions, a router may hold an event until the publisher
    acknowledges a change of subscription: excluded if a small hop limit keeps that change from the publisher.
    Copies that arrive shortly before all nodes leave are excluded: their time to wait has not passed.
    """
    if record.ended_early or record.history.hostile:
        return None
    done: dict[tuple[NodeId, int], float] = {}
    for got in record.deliveries:
        _note(done, got.node, got.publication.id, got.time)
    for aired in record.transmissions:
        _note(done, aired.node, aired.message.publication_id, aired.time)
    evicted: dict[NodeId, int] = {}
    for drop in record.drops:
        if isinstance(drop.message, Message):
            about = drop.message.publication_id
            _note(done, drop.node, about, drop.time)
            if drop.reason is Drop.TABLE_FULL and about >> 32 == drop.node:
                evicted[drop.node] = min(about, evicted.get(drop.node, about))
    for heard in record.receptions:
        message = heard.message
        if message.role is not Role.EVENT or heard.answer is not None:
            continue
        if heard.time > record.left_at - record.longest:
            continue
        if message.publication_id > evicted.get(message.publication_id >> 32, message.publication_id):
            continue
        life = record.incarnation_at(heard.node, heard.time)
        author = record.incarnation_at(message.publication_id >> 32, heard.time)
        if life is None or author is None or min(life.end, author.end) < record.left_at:
            continue
        if done.get((heard.node, message.publication_id), -inf) < heard.time and not _cut_off(record, heard):
            what = f"{type(message).__name__} of publication {message.publication_id}"
            return f"a {what} vanished in node {heard.node} at {heard.time:.3f} s"
    return None


def _cut_off(record: SwarmRecord, event: SwarmReception) -> bool:
    """Return whether all subscriptions that a node sent after an event ended at a hop limit on the way."""
    sessions = record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
    if not record.history.cramped or not sessions:
        return False
    publisher = event.message.publication_id >> 32

    def is_subscription(message: object) -> bool:
        return (
            isinstance(message, Message)
            and unwrap(message).role is Role.SUBSCRIPTION
            and {event.node, publisher} <= nodes_named(message)
        )

    return any(
        drop.time >= event.time and drop.reason is Drop.HOP_LIMIT and is_subscription(drop.message)
        for drop in record.drops
    ) and not any(
        heard.time >= event.time and heard.node == publisher and is_subscription(heard.message)
        for heard in record.receptions
    )


def _note(done: dict[tuple[NodeId, int], float], node: NodeId, about: int, time: float) -> None:
    done[node, about] = max(time, done.get((node, about), -inf))
