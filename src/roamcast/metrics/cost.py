"""Metrics of cost: what was sent and lost on the way, and what nodes had to remember."""

from __future__ import annotations

from roamcast.metrics.constants import Energy
from roamcast.metrics.measured import Measured, Sent
from roamcast.metrics.metric import Group, Value
from roamcast.metrics.ratio import divide, mean
from roamcast.routing.router import Drop

COST = Group()
"By name, in the order in which tables show them."

_OF_ROUTER = frozenset(reason.name.lower() for reason in Drop)


@COST.metric("Messages", better="less")
def messages(of: Measured) -> Value:
    """messages that nodes sent, each once whatever the link's retries"""
    return of.sent.categories.total()


@COST.metric("Event messages", better="less")
def messages_event(of: Measured) -> Value:
    """of these, events"""
    return of.sent.categories["event"]


@COST.metric("Subscription messages", better="less")
def messages_subscription(of: Measured) -> Value:
    """of these, subscriptions"""
    return of.sent.categories["subscription"]


@COST.metric("Routing messages", better="less")
def messages_routing(of: Measured) -> Value:
    """of these, routing and advertisements"""
    return of.sent.categories["routing"]


@COST.metric("Control messages", better="less")
def messages_control(of: Measured) -> Value:
    """of these, control (ACK, NACK, PING ...)"""
    return of.sent.categories["control"]


@COST.metric("Messages given up", better="less")
def messages_failed(of: Measured) -> Value:
    """unicast messages that the link gave up"""
    return of.sent.failed


@COST.metric("Frames", better="less")
def frames(of: Measured) -> Value:
    """data frames put on the air, retries counted"""
    return of.sent.frames


@COST.metric("Bytes", unit="B", better="less")
def bytes(of: Measured) -> Value:
    """sizes of the messages, summed over their frames"""
    return of.sent.bytes


@COST.metric("Airtime", unit="s", better="less")
def airtime(of: Measured) -> Value:
    """spent on data and RTS frames, summed over nodes"""
    return of.sent.airtime


@COST.metric("Normalised overhead", better="less")
def normalised_overhead(of: Measured) -> Value:
    """messages, an event message weighing gamma others"""
    return of.sent.categories.total() + (of.constants.gamma - 1) * of.sent.categories["event"]


@COST.metric("Messages per event", better="less")
def overhead_per_event(of: Measured) -> Value:
    """messages per event published"""
    return divide(of.sent.categories.total(), of.pairs.publications)


@COST.metric("Messages per delivery", better="less")
def transmissions_per_delivery(of: Measured) -> Value:
    """messages per expected pair delivered"""
    return divide(of.sent.categories.total(), len(of.pairs.delays))


@COST.metric("Energy", unit="J", better="less")
def energy(of: Measured) -> Value:
    """Feeney's linear model over all frames; receivers of a frame are the sender's neighbours, on the mean
    over nodes and time"""
    if of.neighbours is None or of.setting.header is None:
        return None
    return _spend(of.sent, of.neighbours, of.setting.header, of.constants.energy)


@COST.metric("Neighbours")
def neighbours(of: Measured) -> Value:
    """nodes in radio range of a node, mean over nodes and time"""
    return of.neighbours


@COST.metric("Drops")
def drops(of: Measured) -> Value:
    """messages that went no further, with a recorded cause"""
    return of.causes.total()


@COST.metric("Lost by the link", better="less")
def drops_link(of: Measured) -> Value:
    """of these, lost by the link: collision, retry limit, queue"""
    return sum(count for cause, count in of.causes.items() if cause not in _OF_ROUTER)


@COST.metric("Table entries", better="less")
def table_entries(of: Measured) -> Value:
    """entries in all tables of a node's router, mean over nodes and samples"""
    return mean(of.held.entries)


@COST.metric("Table entries, most", better="less")
def table_entries_max(of: Measured) -> Value:
    """the most entries that a node held at a sample"""
    return int(of.held.entries.max()) if len(of.held.entries) else None


@COST.metric("Table bytes", unit="B", better="less")
def table_bytes(of: Measured) -> Value:
    """bytes that these entries hold, mean over nodes and samples"""
    return mean(of.held.bytes)


@COST.metric("Table bytes, most", unit="B", better="less")
def table_bytes_max(of: Measured) -> Value:
    """the most bytes that a node held at a sample"""
    return int(of.held.bytes.max()) if len(of.held.bytes) else None


def _spend(sent: Sent, near: float, header: int, cost: Energy) -> float:
    """Joules for all frames, where each is heard by `near` neighbours."""
    broadcast = sent.broadcast_bytes + header * sent.broadcast_frames
    unicasts = sent.frames - sent.broadcast_frames
    unicast = sent.bytes + header * sent.frames - broadcast
    microjoules = (
        cost.broadcast_send_per_byte * broadcast
        + cost.broadcast_send_per_frame * sent.broadcast_frames
        + near * cost.broadcast_receive_per_byte * broadcast
        + near * cost.broadcast_receive_per_frame * sent.broadcast_frames
        + (cost.unicast_send_per_byte + cost.unicast_receive_per_byte) * unicast
        + (cost.unicast_send_per_frame + cost.unicast_receive_per_frame) * unicasts
        + max(near - 1, 0.0) * (cost.overhear_per_byte * unicast + cost.overhear_per_frame * unicasts)
    )
    return microjoules / 1e6
