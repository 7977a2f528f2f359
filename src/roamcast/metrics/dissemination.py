"""Metrics of dissemination by channels or groups: throughput, channels and false positives.

Some are computed from states that routers report: a level is valid until the next one is reported; a count
only increases, and starts at 0 when a node restarts.
"""

from __future__ import annotations

import numpy as np

from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import MetricInput, Reals
from roamcast.metrics.ratio import divide, mean

DISSEMINATION = MetricSet()
"The metrics of dissemination by name, in the order of tables."


@DISSEMINATION.metric("Throughput", unit="1/s", better="more")
def throughput(of: MetricInput) -> Value:
    """expected deliveries per second, from the first publication to the last of these deliveries"""
    return divide(len(of.pairs.delays), of.pairs.seconds)


@DISSEMINATION.metric("Event bytes", unit="B", better="less")
def bytes_event(of: MetricInput) -> Value:
    """sizes of the event messages, summed over their frames"""
    return of.transmissions.volumes["event"]


@DISSEMINATION.metric("Control bytes", unit="B", better="less")
def bytes_control(of: MetricInput) -> Value:
    """sizes of all other messages (subscriptions, routing, control), summed over their frames"""
    return of.transmissions.bytes - of.transmissions.volumes["event"]


@DISSEMINATION.metric("Channels")
def channels(of: MetricInput) -> Value:
    """maximum number of channels or groups that a source used at once, mean over sources that used any"""
    most = _most(of, "channels")
    return mean(most[most > 0])


@DISSEMINATION.metric("Forwarding groups", better="less")
def forwarding_groups(of: MetricInput) -> Value:
    """maximum number of channels or groups that a node forwarded at once, mean over all nodes"""
    return divide(float(np.sort(_most(of, "forwarding_groups")).sum()), of.setting.nodes)


@DISSEMINATION.metric("Noise", better="less")
def noise(of: MetricInput) -> Value:
    """events received by a member of a channel or group for which no subscription of the member matched"""
    return _risen(of, "noise")


@DISSEMINATION.metric("False joins", better="less")
def false_joins(of: MetricInput) -> Value:
    """answers to a join request by brokers without a matching subscription"""
    return _risen(of, "false_joins")


def _most(of: MetricInput, name: str) -> Reals:
    """Return the maximum of a level at each node that reported it, from the warm-up on."""
    node, time, value = of.states(name)
    later = np.append(node[1:] == node[:-1], False) if len(node) else np.zeros(0, bool)
    following = np.append(time[1:], 0.0) if len(node) else np.zeros(0)
    holds = (time >= of.setting.warmup) | ~later | (following > of.setting.warmup)
    nodes = np.unique(node[holds])
    most = np.zeros(len(nodes))
    np.maximum.at(most, np.searchsorted(nodes, node[holds]), value[holds])
    return most


def _risen(of: MetricInput, name: str) -> int:
    """Return the sum over nodes of the increase of a count from the warm-up on."""
    node, time, value = of.states(name)
    if not len(node):
        return 0
    before = np.where(np.append(False, node[1:] == node[:-1]), np.append(0.0, value[:-1]), 0.0)
    rise = np.where(value >= before, value - before, value)
    return int(rise[time >= of.setting.warmup].sum())
