"""Metrics of cost: what was sent and lost on the way, and what nodes had to remember."""

from __future__ import annotations

from roamcast.metrics.constants import EnergyModel
from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput, TransmissionTotals
from roamcast.metrics.ratio import divide, mean
from roamcast.routing.router import Drop

COST = MetricSet()
"By name, in the order in which tables show them."

_OF_ROUTER = frozenset(reason.name.lower() for reason in Drop)


@COST.metric("Messages", better="less")
def messages(of: MetricInput) -> Value:
    """messages that nodes sent, each once whatever the link's retries"""
    return of.transmissions.categories.total()


@COST.metric("Event messages", better="less")
def messages_event(of: MetricInput) -> Value:
    """of these, events"""
    return of.transmissions.categories["event"]


@COST.metric("Subscription messages", better="less")
def messages_subscription(of: MetricInput) -> Value:
    """of these, subscriptions"""
    return of.transmissions.categories["subscription"]


@COST.metric("Routing messages", better="less")
def messages_routing(of: MetricInput) -> Value:
    """of these, routing and advertisements"""
    return of.transmissions.categories["routing"]


@COST.metric("Control messages", better="less")
def messages_control(of: MetricInput) -> Value:
    """of these, control (ACK, NACK, PING ...)"""
    return of.transmissions.categories["control"]


@COST.metric("Messages given up", better="less")
def messages_failed(of: MetricInput) -> Value:
    """unicast messages that the link gave up"""
    return of.transmissions.failed


@COST.metric("Frames", better="less")
def frames(of: MetricInput) -> Value:
    """data frames put on the air, retries counted"""
    return of.transmissions.frames


@COST.metric("Bytes", unit="B", better="less")
def bytes(of: MetricInput) -> Value:
    """sizes of the messages, summed over their frames"""
    return of.transmissions.bytes


@COST.metric("Airtime", unit="s", better="less")
def airtime(of: MetricInput) -> Value:
    """spent on data and RTS frames, summed over nodes"""
    return of.transmissions.airtime


@COST.metric("Normalised overhead", better="less")
def messages_weighted(of: MetricInput) -> Value:
    """messages, an event message weighing gamma others"""
    return (
        of.transmissions.categories.total() + (of.constants.gamma - 1) * of.transmissions.categories["event"]
    )


@COST.metric("Messages per event", better="less")
def messages_per_event(of: MetricInput) -> Value:
    """messages per event published"""
    return divide(of.transmissions.categories.total(), of.pairs.publications)


@COST.metric("Messages per delivery", better="less")
def messages_per_delivery(of: MetricInput) -> Value:
    """messages per expected pair delivered"""
    return divide(of.transmissions.categories.total(), len(of.pairs.delays))


@COST.metric("Energy", unit="J", better="less")
def energy(of: MetricInput) -> Value:
    """Feeney's linear model over all frames; receivers of a frame are the sender's neighbours, on the mean
    over nodes and time"""
    if of.neighbours is None or of.setting.header is None:
        return None
    return _spend(of.transmissions, of.neighbours, of.setting.header, of.constants.energy)


@COST.metric("Neighbours")
def neighbours(of: MetricInput) -> Value:
    """nodes in radio range of a node, mean over nodes and time"""
    return of.neighbours


@COST.metric("Drops")
def drops(of: MetricInput) -> Value:
    """messages that went no further, with a recorded cause"""
    return of.causes.total()


@COST.metric("Lost by the link", better="less")
def drops_link(of: MetricInput) -> Value:
    """of these, lost by the link: collision, retry limit, queue"""
    return sum(count for cause, count in of.causes.items() if cause not in _OF_ROUTER)


@COST.metric("Table entries", better="less")
def table_entries(of: MetricInput) -> Value:
    """entries in all tables of a node's router, mean over nodes and samples"""
    return mean(of.table_samples.entries)


@COST.metric("Table entries, most", better="less")
def table_entries_max(of: MetricInput) -> Value:
    """the most entries that a node held at a sample"""
    return int(of.table_samples.entries.max()) if len(of.table_samples.entries) else None


@COST.metric("Table bytes", unit="B", better="less")
def table_bytes(of: MetricInput) -> Value:
    """bytes that these entries hold, mean over nodes and samples"""
    return mean(of.table_samples.bytes)


@COST.metric("Table bytes, most", unit="B", better="less")
def table_bytes_max(of: MetricInput) -> Value:
    """the most bytes that a node held at a sample"""
    return int(of.table_samples.bytes.max()) if len(of.table_samples.bytes) else None


def _spend(sent: TransmissionTotals, near: float, header: int, cost: EnergyModel) -> float:
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
