"""Metrics of communities, for routers that report their community as the state `community`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from roamcast.metrics.metric import MetricSet, Value
from roamcast.metrics.metric_input import READS, MetricInput
from roamcast.metrics.ratio import mean

COMMUNITIES = MetricSet()
"The metrics of communities by name, in the order of tables."

STATE = "community"
ORPHAN = 3
"A community with fewer members than this is an orphan."


@COMMUNITIES.metric("Communities")
def communities(of: MetricInput) -> Value:
    """number of communities with members, mean over the time from the warm-up to the last change"""
    return _mean_over_time(of, 0)


@COMMUNITIES.metric("Orphan communities", better="less")
def orphans(of: MetricInput) -> Value:
    """number of communities with fewer than three members, mean over the same time"""
    return _mean_over_time(of, 1)


def _mean_over_time(of: MetricInput, column: int) -> float | None:
    """Return the mean of a count, weighted by the duration of each value; None if there are no values."""
    times, counts = _follow(of)
    lasted = np.diff(times)
    if not lasted.sum():
        return mean(counts[column][-1:])
    return float((lasted * counts[column][:-1]).sum() / lasted.sum())


def _follow(of: MetricInput) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the times of changes from the warm-up on [s], and the counts of communities and orphans."""
    table = of.source.read("states", *READS["states"])
    names = np.asarray(table["name"].to_pylist(), object)
    chosen = names == STATE
    time, node, value = (table[name].to_numpy()[chosen] for name in ("time", "node", "value"))
    order = np.lexsort((value, node, time))
    belongs: dict[int, float] = {}
    sizes: Counter[float] = Counter()
    few = 0
    counts: list[tuple[int, int]] = []
    times: list[float] = []
    begun = False
    for at, who, where in zip(time[order], node[order].tolist(), value[order].tolist(), strict=True):
        if at >= of.setting.warmup and not begun:
            begun = True
            if belongs:
                counts.append((len(sizes), few))
                times.append(of.setting.warmup)
        for community, change in ((belongs.get(who), -1), (where, 1)):
            if community is None:
                continue
            few -= 0 < sizes[community] < ORPHAN
            sizes[community] += change
            few += 0 < sizes[community] < ORPHAN
            if not sizes[community]:
                del sizes[community]
        belongs[who] = where
        if begun:
            counts.append((len(sizes), few))
            times.append(float(at))
    if belongs and not begun:
        counts.append((len(sizes), few))
        times.append(of.setting.warmup)
    return np.array(times), np.array(counts, np.int64).reshape(-1, 2).T
