"""Metrics of requests: satisfied requests, response delay, cache hits and overhead."""

from __future__ import annotations

import numpy as np

from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput
from roamcast.metrics.ratio import divide, mean

REQUESTS = MetricSet()
"The metrics of requests by name, in the order of tables."


@REQUESTS.metric("Requests")
def requests(of: MetricInput) -> Value:
    """requests made"""
    return len(of.requests.satisfied)


@REQUESTS.metric("Requests satisfied", better="more", scale="share", trials=("requests",))
def satisfied_rate(of: MetricInput) -> Value:
    """share of the requests that were satisfied before they expired, were abandoned or the run ended"""
    return divide(int(of.requests.satisfied.sum()), len(of.requests.satisfied))


@REQUESTS.metric("Response delay", unit="s", better="less")
def response_delay(of: MetricInput) -> Value:
    """time from a request to the event that satisfied it, mean over satisfied requests"""
    return mean(of.requests.delay)


@REQUESTS.metric("Response delay, median", unit="s", better="less")
def response_delay_p50(of: MetricInput) -> Value:
    """median of that delay"""
    return float(np.percentile(of.requests.delay, 50)) if len(of.requests.delay) else None


@REQUESTS.metric("Response delay, 95th percentile", unit="s", better="less")
def response_delay_p95(of: MetricInput) -> Value:
    """95th percentile of that delay"""
    return float(np.percentile(of.requests.delay, 95)) if len(of.requests.delay) else None


@REQUESTS.metric("Requests answered by a new event", scale="share", trials=("requests", "satisfied_rate"))
def fresh_rate(of: MetricInput) -> Value:
    """share of the satisfied requests whose event was published after the request, not cached"""
    return divide(int(of.requests.fresh.sum()), len(of.requests.fresh))


@REQUESTS.metric("Requests answered from a cache", scale="share", trials=("requests", "satisfied_rate"))
def hit_rate(of: MetricInput) -> Value:
    """share of the satisfied requests whose event was published before the request and cached"""
    return divide(int((~of.requests.fresh).sum()), len(of.requests.fresh))


@REQUESTS.metric("Overhead", better="less")
def overhead(of: MetricInput) -> Value:
    """messages that nodes sent, except beacons: messages whose role in the facts is `beacons`"""
    return of.transmissions.categories.total() - beacons(of)


@REQUESTS.metric("Overhead, normalised", better="less")
def overhead_weighted(of: MetricInput) -> Value:
    """that overhead, with weight gamma for event messages and weight 1 for others"""
    extra = (of.constants.gamma - 1) * of.transmissions.categories["event"]
    return of.transmissions.categories.total() - beacons(of) + extra


@REQUESTS.metric("Overhead per request", better="less")
def overhead_per_request(of: MetricInput) -> Value:
    """unweighted overhead per request"""
    return divide(of.transmissions.categories.total() - beacons(of), len(of.requests.satisfied))


@REQUESTS.metric("Overhead per answer", better="less")
def overhead_per_answer(of: MetricInput) -> Value:
    """unweighted overhead per satisfied request"""
    return divide(of.transmissions.categories.total() - beacons(of), int(of.requests.satisfied.sum()))


@REQUESTS.metric("Overhead per answer, normalised", better="less")
def overhead_weighted_per_answer(of: MetricInput) -> Value:
    """that overhead, with weight gamma for event messages and weight 1 for others"""
    extra = (of.constants.gamma - 1) * of.transmissions.categories["event"]
    weighted = of.transmissions.categories.total() - beacons(of) + extra
    return divide(weighted, int(of.requests.satisfied.sum()))


def beacons(of: MetricInput) -> int:
    """Return the number of messages whose role is `beacons`."""
    return sum(of.transmissions.kinds[kind] for kind in of.setting.beacons)
