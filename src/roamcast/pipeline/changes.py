"""Comparison of two campaigns at the points, protocols and seeds that both have."""

from __future__ import annotations

from collections import defaultdict
from math import sqrt
from typing import Any

import msgspec

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.results.intervals import student

Key = tuple[str, str, str]
"Sweep, point and protocol."


class MetricChange(msgspec.Struct, frozen=True):
    """A metric at a point of both campaigns: means over the common seeds."""

    sweep: str
    point: str
    protocol: str
    metric: str
    seeds: int
    before: float
    after: float
    half: float | None
    "Half-width of the interval of the mean difference, simultaneous at 95 %; None with one seed."

    @property
    def difference(self) -> float:
        """The mean of the second campaign minus that of the first."""
        return self.after - self.before

    @property
    def significant(self) -> bool | None:
        """Whether the interval excludes zero; None with one seed."""
        return None if self.half is None else abs(self.difference) > self.half


class CampaignChanges(msgspec.Struct, frozen=True):
    """The differences of two campaigns."""

    changes: list[MetricChange]
    "Metrics that differ for some seed, most significant first."
    compared: int
    "Number of pairs of runs with equal point, protocol and seed."
    same_facts: int
    "Number of these pairs with equal run ids."
    only_before: int
    "Number of cells (point, protocol, seed) that only the first campaign has measured."
    only_after: int


def compare_campaigns(before: CampaignFolder, after: CampaignFolder) -> CampaignChanges:
    """Return the differences between two campaigns."""
    one, other = _by_cell(before), _by_cell(after)
    common = sorted(one.keys() & other.keys())
    pairs: dict[tuple[Key, str], list[tuple[float, float]]] = defaultdict(list)
    for place in common:
        for metric in METRICS:
            values = one[place][metric], other[place][metric]
            if values[0] is not None and values[1] is not None:
                pairs[place[:3], metric].append(values)
    differing = {key: values for key, values in pairs.items() if any(a != b for a, b in values)}
    changes = [_weigh(*key, values, len(differing)) for key, values in differing.items()]
    changes.sort(
        key=lambda change: (not change.significant, -_significance(change), change.metric, change.point)
    )
    return CampaignChanges(
        changes=changes,
        compared=len(common),
        same_facts=sum(one[place]["run"] == other[place]["run"] for place in common),
        only_before=len(one.keys() - other.keys()),
        only_after=len(other.keys() - one.keys()),
    )


def _weigh(place: Key, metric: str, values: list[tuple[float, float]], together: int) -> MetricChange:
    count = len(values)
    differences = sorted(b - a for a, b in values)
    mean = sum(differences) / count
    half = None
    if count > 1:
        spread = sqrt(sum((each - mean) ** 2 for each in differences) / (count - 1))
        half = student(count, together) * spread / sqrt(count)
    before = sum(sorted(a for a, _ in values)) / count
    return MetricChange(*place, metric, count, before, before + mean, half)


def _significance(change: MetricChange) -> float:
    """Return the difference divided by the half-width of its interval."""
    if change.half is None:
        return 0.0
    return abs(change.difference) / change.half if change.half else float("inf")


def _by_cell(store: CampaignFolder) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    """Return the metrics of each measured run by sweep, point, protocol and seed."""
    store.check_layout()
    measured = {row["run"]: row for row in store.read_table("metrics").to_pylist()}
    return {
        (row["sweep"], row["point"], row["protocol"], row["seed"]): measured[row["run"]]
        for row in store.read_table("points").to_pylist()
        if row["run"] in measured
    }
