"""Metrics of requests: what was answered, how late, from where, and at what cost."""

from __future__ import annotations

import numpy as np

from roamcast.metrics.measured import Measured
from roamcast.metrics.metric import Group, Value
from roamcast.metrics.ratio import divide, mean

REQUESTS = Group()
"By name, in the order in which tables show them."


@REQUESTS.metric("Requests")
def requests(of: Measured) -> Value:
    """requests made"""
    return len(of.asked.satisfied)


@REQUESTS.metric("Requests satisfied", better="more", scale="share", trials=("requests",))
def satisfied_rate(of: Measured) -> Value:
    """share of the requests that were satisfied before they expired, were abandoned or the run ended"""
    return divide(int(of.asked.satisfied.sum()), len(of.asked.satisfied))


@REQUESTS.metric("Response delay", unit="s", better="less")
def response_delay(of: Measured) -> Value:
    """from a request to what satisfied it, mean over satisfied requests"""
    return mean(of.asked.delay)


@REQUESTS.metric("Response delay, median", unit="s", better="less")
def response_delay_p50(of: Measured) -> Value:
    """median of that delay"""
    return float(np.percentile(of.asked.delay, 50)) if len(of.asked.delay) else None


@REQUESTS.metric("Response delay, 95th percentile", unit="s", better="less")
def response_delay_p95(of: Measured) -> Value:
    """95th percentile of that delay"""
    return float(np.percentile(of.asked.delay, 95)) if len(of.asked.delay) else None


@REQUESTS.metric("Requests answered fresh", scale="share", trials=("requests", "satisfied_rate"))
def fresh_rate(of: Measured) -> Value:
    """share of the satisfied requests whose event was published after the request, not cached"""
    return divide(int(of.asked.fresh.sum()), len(of.asked.fresh))


@REQUESTS.metric("Requests answered from a cache", scale="share", trials=("requests", "satisfied_rate"))
def hit_rate(of: Measured) -> Value:
    """share of the satisfied requests whose event was published before the request, and kept by someone"""
    return divide(int((~of.asked.fresh).sum()), len(of.asked.fresh))


@REQUESTS.metric("Overhead", better="less")
def overhead(of: Measured) -> Value:
    """messages that nodes sent, except beacons: messages whose role in the facts is `beacons`"""
    return of.sent.categories.total() - beacons(of)


@REQUESTS.metric("Overhead, normalised", better="less")
def overhead_normalised(of: Measured) -> Value:
    """the same, an event message weighing gamma others"""
    extra = (of.constants.gamma - 1) * of.sent.categories["event"]
    return of.sent.categories.total() - beacons(of) + extra


@REQUESTS.metric("Overhead per request", better="less")
def overhead_per_request(of: Measured) -> Value:
    """that overhead, not normalised, per request made"""
    return divide(of.sent.categories.total() - beacons(of), len(of.asked.satisfied))


def beacons(of: Measured) -> int:
    """Return the number of messages whose role is to say that a node is there."""
    return sum(of.sent.kinds[kind] for kind in of.setting.beacons)
