"""Metrics of cost: messages, frames, bytes, energy, drops and the sizes of routers' tables."""

from __future__ import annotations

from roamcast.metrics.constants import EnergyModel
from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput, TransmissionTotals
from roamcast.metrics.ratio import divide, mean
from roamcast.routing.router import Drop

COST = MetricSet()
"The metrics of cost by name, in the order of tables."

_OF_ROUTER = frozenset(reason.name.lower() for reason in Drop)


@COST.metric("Messages", better="less")
def messages(of: MetricInput) -> Value:
    """messages that nodes sent; retries of the link layer do not count"""
    return of.transmissions.categories.total()


@COST.metric("Event messages", better="less")
def messages_event(of: MetricInput) -> Value:
    """of these messages, those that carry events"""
    return of.transmissions.categories["event"]


@COST.metric("Subscription messages", better="less")
def messages_subscription(of: MetricInput) -> Value:
    """of these messages, subscriptions"""
    return of.transmissions.categories["subscription"]


@COST.metric("Routing messages", better="less")
def messages_routing(of: MetricInput) -> Value:
    """of these messages, routing and advertisements"""
    return of.transmissions.categories["routing"]


@COST.metric("Control messages", better="less")
def messages_control(of: MetricInput) -> Value:
    """of these messages, control (ACK, NACK, PING ...)"""
    return of.transmissions.categories["control"]


@COST.metric("Failed unicast messages", better="less")
def messages_failed(of: MetricInput) -> Value:
    """unicast messages that the link layer discarded at its retry limit"""
    return of.transmissions.failed


@COST.metric("Frames", better="less")
def frames(of: MetricInput) -> Value:
    """data frames sent, including retries"""
    return of.transmissions.frames


@COST.metric("Frames with RTS, CTS and ACK", better="less")
def frames_link(of: MetricInput) -> Value:
    """data frames, an RTS and a CTS for each unicast data frame, and an ACK for each unicast message that
    arrived; RTS without answer are not recorded"""
    sent = of.transmissions
    unicast_frames = sent.frames - sent.broadcast_frames
    acknowledged = sent.unicast_messages - sent.failed
    return sent.frames + 2 * unicast_frames + acknowledged


@COST.metric("Bytes", unit="B", better="less")
def bytes(of: MetricInput) -> Value:
    """sizes of the messages, summed over their frames"""
    return of.transmissions.bytes


@COST.metric("Airtime", unit="s", better="less")
def airtime(of: MetricInput) -> Value:
    """time spent on sending data and RTS frames, summed over nodes"""
    return of.transmissions.airtime


@COST.metric("Weighted messages", better="less")
def messages_weighted(of: MetricInput) -> Value:
    """messages, with weight gamma for event messages and weight 1 for others"""
    return (
        of.transmissions.categories.total() + (of.constants.gamma - 1) * of.transmissions.categories["event"]
    )


@COST.metric("Messages per event", better="less")
def messages_per_event(of: MetricInput) -> Value:
    """messages per published event"""
    return divide(of.transmissions.categories.total(), of.pairs.publications)


@COST.metric("Messages per delivery", better="less")
def messages_per_delivery(of: MetricInput) -> Value:
    """messages per expected delivery that happened"""
    return divide(of.transmissions.categories.total(), len(of.pairs.delays))


@COST.metric("Airtime per delivery", unit="s", better="less")
def airtime_per_delivery(of: MetricInput) -> Value:
    """airtime per expected delivery that happened"""
    return divide(of.transmissions.airtime, len(of.pairs.delays))


@COST.metric("Energy", unit="J", better="less")
def energy(of: MetricInput) -> Value:
    """energy above that of idle radios, of all frames by Feeney's linear model, or by the powers of a LoRa
    radio; the number of receivers of a frame is the mean number of neighbours; a neighbour that discards a
    frame and consumes less than when idle counts as 0"""
    if of.setting.powers is not None and of.neighbours is not None:
        sending, receiving = of.setting.powers
        return of.transmissions.airtime * (sending + of.neighbours * receiving)
    if of.neighbours is None or of.setting.header is None:
        return None
    return _spend(of.transmissions, of.neighbours, of.setting.header, of.constants.energy)


@COST.metric("Energy per delivery", unit="J", better="less")
def energy_per_delivery(of: MetricInput) -> Value:
    """energy per expected delivery that happened"""
    spent = energy(of)
    return None if spent is None else divide(spent, len(of.pairs.delays))


@COST.metric("Neighbours")
def neighbours(of: MetricInput) -> Value:
    """nodes within radio range of a node, mean over nodes and time"""
    return of.neighbours


@COST.metric("Drops")
def drops(of: MetricInput) -> Value:
    """messages dropped or lost with a recorded cause"""
    return of.causes.total()


@COST.metric("Drops by the link layer", better="less")
def drops_link(of: MetricInput) -> Value:
    """of these drops, those of the link layer: collision, retry limit, queue"""
    return sum(count for cause, count in of.causes.items() if cause not in _OF_ROUTER)


@COST.metric("Table entries", better="less")
def table_entries(of: MetricInput) -> Value:
    """entries in all tables of a node's router, mean over nodes and samples"""
    return mean(of.table_samples.entries)


@COST.metric("Table entries, maximum", better="less")
def table_entries_max(of: MetricInput) -> Value:
    """maximum of these entries over nodes and samples"""
    return int(of.table_samples.entries.max()) if len(of.table_samples.entries) else None


@COST.metric("Table bytes", unit="B", better="less")
def table_bytes(of: MetricInput) -> Value:
    """size of these entries, mean over nodes and samples"""
    return mean(of.table_samples.bytes)


@COST.metric("Table bytes, maximum", unit="B", better="less")
def table_bytes_max(of: MetricInput) -> Value:
    """maximum of these sizes over nodes and samples"""
    return int(of.table_samples.bytes.max()) if len(of.table_samples.bytes) else None


def _spend(sent: TransmissionTotals, near: float, header: int, cost: EnergyModel) -> float:
    """Return the energy of all frames, each received by `near` neighbours [J]."""
    broadcast = sent.broadcast_bytes + header * sent.broadcast_frames
    unicasts = sent.frames - sent.broadcast_frames
    unicast = sent.bytes + header * sent.frames - broadcast
    discarded = [(size + header, frames) for size, frames in sent.unicast_sizes.items()]
    costly = [
        (size, frames)
        for size, frames in discarded
        if cost.overhear_per_byte * size + cost.overhear_per_frame > 0  # others cost less than idling
    ]
    overheard = sum(size * frames for size, frames in costly)
    overheard_frames = sum(frames for _, frames in costly)
    microjoules = (
        cost.broadcast_send_per_byte * broadcast
        + cost.broadcast_send_per_frame * sent.broadcast_frames
        + near * cost.broadcast_receive_per_byte * broadcast
        + near * cost.broadcast_receive_per_frame * sent.broadcast_frames
        + (cost.unicast_send_per_byte + cost.unicast_receive_per_byte) * unicast
        + (cost.unicast_send_per_frame + cost.unicast_receive_per_frame) * unicasts
        + max(near - 1, 0.0)
        * (cost.overhear_per_byte * overheard + cost.overhear_per_frame * overheard_frames)
    )
    return microjoules / 1e6
