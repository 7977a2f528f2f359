"""Metrics of dissemination by groups: how fast, over how many channels, and how much of it for nothing.

What only routers know they tell as states: a level holds until another is told; a count rises by itself and
begins at nothing when a node starts anew.
"""

from __future__ import annotations

import numpy as np

from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput, Reals
from roamcast.metrics.ratio import divide, mean

DISSEMINATION = MetricSet()
"By name, in the order in which tables show them."


@DISSEMINATION.metric("Throughput", unit="1/s", better="more")
def throughput(of: MetricInput) -> Value:
    """expected pairs delivered per second, from the first publication to the last such delivery"""
    return divide(len(of.pairs.delays), of.pairs.seconds)


@DISSEMINATION.metric("Event bytes", unit="B", better="less")
def bytes_event(of: MetricInput) -> Value:
    """sizes of the messages that are events, summed over their frames"""
    return of.transmissions.volumes["event"]


@DISSEMINATION.metric("Control bytes", unit="B", better="less")
def bytes_control(of: MetricInput) -> Value:
    """sizes of all other messages (subscriptions, routing, control), summed over their frames"""
    return of.transmissions.bytes - of.transmissions.volumes["event"]


@DISSEMINATION.metric("Channels")
def channels(of: MetricInput) -> Value:
    """the most channels or groups that a source sent to at once, mean over sources that had any"""
    most = _most(of, "channels")
    return mean(most[most > 0])


@DISSEMINATION.metric("Forwarding groups", better="less")
def forwarding_groups(of: MetricInput) -> Value:
    """the most channels or groups that a node forwarded for at once, mean over all nodes"""
    return divide(float(np.sort(_most(of, "forwarding_groups")).sum()), of.setting.nodes)


@DISSEMINATION.metric("Noise", better="less")
def noise(of: MetricInput) -> Value:
    """events that came on a channel or group to a member of it with nobody who wanted them"""
    return _risen(of, "noise")


@DISSEMINATION.metric("False joins", better="less")
def false_joins(of: MetricInput) -> Value:
    """answers to a join request by brokers with nobody who wanted what it asked about"""
    return _risen(of, "false_joins")


def _most(of: MetricInput, name: str) -> Reals:
    """The highest that a level was at each node that told it, from the warm-up on."""
    node, time, value = of.states(name)
    later = np.append(node[1:] == node[:-1], False) if len(node) else np.zeros(0, bool)
    following = np.append(time[1:], 0.0) if len(node) else np.zeros(0)
    holds = (time >= of.setting.warmup) | ~later | (following > of.setting.warmup)
    nodes = np.unique(node[holds])
    most = np.zeros(len(nodes))
    np.maximum.at(most, np.searchsorted(nodes, node[holds]), value[holds])
    return most


def _risen(of: MetricInput, name: str) -> int:
    """By how much a count rose at all nodes together, from the warm-up on."""
    node, time, value = of.states(name)
    if not len(node):
        return 0
    before = np.where(np.append(False, node[1:] == node[:-1]), np.append(0.0, value[:-1]), 0.0)
    rise = np.where(value >= before, value - before, value)
    return int(rise[time >= of.setting.warmup].sum())
