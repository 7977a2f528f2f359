"""Metrics of requests: what was answered, how late, from where, and at what cost."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from roamcast.metrics.measured import Measured
from roamcast.metrics.metric import Group, Value
from roamcast.metrics.ratio import divide, mean
from roamcast.routing import catalogue
from roamcast.routing.router import Role

REQUESTS = Group()
"By name, in the order in which tables show them."


@REQUESTS.metric("Requests")
def requests(of: Measured) -> Value:
    """requests made"""
    return len(of.asked.satisfied)


@REQUESTS.metric("Requests satisfied", better="more", scale="share")
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


@REQUESTS.metric("Requests answered fresh", scale="share")
def fresh_rate(of: Measured) -> Value:
    """share of the satisfied requests whose event was published after the request, not cached"""
    return divide(int(of.asked.fresh.sum()), len(of.asked.fresh))


@REQUESTS.metric("Requests answered from a cache", scale="share")
def hit_rate(of: Measured) -> Value:
    """share of the satisfied requests whose event was published before the request, and kept by someone"""
    return divide(int((~of.asked.fresh).sum()), len(of.asked.fresh))


@REQUESTS.metric("Overhead", better="less")
def overhead(of: Measured) -> Value:
    """messages that nodes sent, but for beacons: hops of advertisements, wishes, events and votes"""
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
    """Messages that only said that a node is there, of protocols in the catalogue."""
    return sum(of.sent.kinds[kind] for kind in beacon_kinds())


@lru_cache(maxsize=1)
def beacon_kinds() -> frozenset[str]:
    """The kinds of message whose role is to say that a node is there."""
    routers = [catalogue.find(name) for name in catalogue.BUILT_IN]
    spoken = [message for router in routers for message in router.messages if message.envelope is None]
    return frozenset(message.__name__ for message in spoken if message.role is Role.BEACONS)
