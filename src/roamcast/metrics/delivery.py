"""Metrics of delivery: delivery rate, delay, false deliveries and duplicates."""

from __future__ import annotations

from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput
from roamcast.metrics.ratio import divide, mean

DELIVERY = MetricSet()
"The metrics of delivery by name, in the order of tables."


@DELIVERY.metric("Publications")
def publications(of: MetricInput) -> Value:
    """events published"""
    return of.pairs.publications


@DELIVERY.metric("Expected")
def expected(of: MetricInput) -> Value:
    """pairs of an event and a node whose interests matched it when it was published"""
    return of.pairs.expected


@DELIVERY.metric("Delivered", better="more")
def delivered(of: MetricInput) -> Value:
    """expected pairs that were delivered before the end of the run, and within the deadline if one is set"""
    return len(of.pairs.delays)


@DELIVERY.metric("Delivery rate", better="more", scale="share", trials=("expected",))
def delivery_rate(of: MetricInput) -> Value:
    """delivered / expected"""
    return divide(len(of.pairs.delays), of.pairs.expected)


@DELIVERY.metric("Reachable")
def reachable(of: MetricInput) -> Value:
    """expected pairs to which a path over nodes in range of each other led before the end of the run,
    whatever the protocol"""
    return of.reachable


@DELIVERY.metric("Delivered of the reachable", better="more", scale="share", trials=("reachable",))
def delivery_rate_reachable(of: MetricInput) -> Value:
    """delivered / reachable"""
    return None if of.reachable is None else divide(len(of.pairs.delays), of.reachable)


@DELIVERY.metric("Delivery rate, mean per event", better="more", scale="share", trials=("publications",))
def delivery_rate_mean(of: MetricInput) -> Value:
    """share of the expecting nodes that received an event, mean over the events that a node expected"""
    return mean(of.pairs.shares)


@DELIVERY.metric("False deliveries", better="less")
def false_deliveries(of: MetricInput) -> Value:
    """delivered pairs that were not expected"""
    return of.pairs.unexpected


@DELIVERY.metric("Duplicates", better="less")
def duplicate_deliveries(of: MetricInput) -> Value:
    """deliveries after the first of their pair"""
    return of.pairs.duplicates


@DELIVERY.metric("Delay", unit="s", better="less")
def delay_mean(of: MetricInput) -> Value:
    """time from publication to first delivery, mean over delivered pairs"""
    return mean(of.pairs.delays)


@DELIVERY.metric("Delay, median", unit="s", better="less")
def delay_p50(of: MetricInput) -> Value:
    """median of that delay"""
    return of.pairs.percentile(50)


@DELIVERY.metric("Delay, 90th percentile", unit="s", better="less")
def delay_p90(of: MetricInput) -> Value:
    """90th percentile of that delay"""
    return of.pairs.percentile(90)


@DELIVERY.metric("Delay, 95th percentile", unit="s", better="less")
def delay_p95(of: MetricInput) -> Value:
    """95th percentile of that delay"""
    return of.pairs.percentile(95)


@DELIVERY.metric("Delay, 99th percentile", unit="s", better="less")
def delay_p99(of: MetricInput) -> Value:
    """99th percentile of that delay"""
    return of.pairs.percentile(99)


@DELIVERY.metric("Delay, maximum", unit="s", better="less")
def delay_max(of: MetricInput) -> Value:
    """maximum of that delay"""
    return of.pairs.percentile(100)
