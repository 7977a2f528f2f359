"""Ranking of protocols by a metric: which one is best, and which others may be equally good.

The protocols that may be best are found by elimination: of all pairs of those that are left, the most
significant one is tested at 5 % divided by the number of pairs; if it passes, the worse of the two is out. So
a protocol that is as good as the best is eliminated in at most 5 % of comparisons, however many compete and
although the data choose the best (the model confidence set of Hansen, Lunde and Nason, with Bonferroni's
bound). Pairs are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import log
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from roamcast.report.comparing.goals import SHOWN
from roamcast.report.comparing.more_seeds import PairedDifferences
from roamcast.report.numbers import FEW, Row, format_estimate
from roamcast.report.result import CampaignResult
from roamcast.results.intervals import CONFIDENCE, difference_interval, p_value

Place = tuple[str, str]
"A sweep and one of its points."

SIDE_BY_SIDE = (
    *("delivery_rate", "delivery_rate_reachable", "delay_common", "delay_mean", "delay_p95"),
    *("messages", "messages_per_delivery", "airtime", "airtime_per_delivery", "energy"),
)
"The metrics in the table of a comparison."

ALIKE = 0.02
"Delivery rates are equivalent if the interval of their difference lies within this bound."

HEADLINES = ("delivery_rate", "delay_common", "messages_per_delivery")
"The metrics in the figure of a comparison."

_OF_DELIVERED = frozenset(("delay_mean", "delay_p50", "delay_p90", "delay_p95", "delay_p99", "delay_max"))
"Delays over each protocol's own deliveries: no protocol is best at them, because the pairs differ."


class MetricGap(NamedTuple):
    """The difference of a metric between two protocols over common seeds, ± half of its interval."""

    mean: float
    half: float


def rank(
    result: CampaignResult, place: Place, metric: str, protocols: list[str]
) -> dict[str, tuple[str, str]]:
    """Return value and mark of each protocol with a value: `best`, `tie` (several may be best) or "".

    Nobody is best alone, with few seeds, or without delivering anything.
    """
    rows = {p: row for p in protocols if (row := result.values.get((*place, p, metric)))}
    leaders = find_leaders(result, place, metric, protocols)
    mark = "best" if len(leaders) == 1 else "tie"
    return {p: (format_estimate(row), mark if p in leaders else "") for p, row in rows.items()}


def find_leaders(result: CampaignResult, place: Place, metric: str, protocols: list[str]) -> list[str]:
    """Return the protocols that may be best at `metric`; empty if none can be best."""
    if metric in _OF_DELIVERED and len(protocols) > 1:
        return []
    means = {
        p: row["mean"]
        for p in protocols
        if (row := result.values.get((*place, p, metric))) and _serves(result, place, p)
    }
    known = [p for p in protocols if (*place, p, metric) in result.values]
    if len(known) < 2 or not means or any(_few(result, place, p, metric) for p in means):
        return []
    sign = -1 if SHOWN[metric].better == "more" else 1
    ordered = sorted(means, key=lambda p: (sign * means[p], protocols.index(p)))
    found = {
        (better, worse): _chance(result, place, metric, (better, worse), sign)
        for better, worse in combinations(ordered, 2)
    }
    return [p for p in protocols if p in eliminate(ordered, found)]


def eliminate(candidates: list[str], chances: Mapping[tuple[str, str], float]) -> list[str]:
    """Return the candidates that may be best; `chances` has the p-value of each pair, better one first."""
    left = list(candidates)
    while len(left) > 1:
        pairs = [pair for pair in chances if pair[0] in left and pair[1] in left]
        surest = min(pairs, key=lambda pair: chances[pair])
        if chances[surest] > (1 - CONFIDENCE) / len(pairs):
            break
        left.remove(surest[1])
    return left


def _chance(result: CampaignResult, place: Place, metric: str, pair: tuple[str, str], sign: int) -> float:
    """Return the p-value of the hypothesis that the first of `pair`, with the better mean, is not better."""
    found = find_differences(result, place, metric, pair)
    if found is None or sign * found.mean > 0:
        return 1.0
    return p_value(*found)


def find_differences(
    result: CampaignResult, place: Place, metric: str, pair: tuple[str, str]
) -> PairedDifferences | None:
    """Return the paired differences of two protocols; None with fewer than two seeds.

    Amounts above zero are compared by the logarithms of their ratios, seed by seed: one bad seed with a
    hundred times the delay widens the interval of the differences until it holds zero, though every seed says
    the same.
    """
    if SHOWN[metric].scale == "amount":
        ours, theirs = (result.by_seed(*place, protocol, metric) for protocol in pair)
        common = ours.keys() & theirs.keys()
        if len(common) > 1 and all(ours[seed] > 0 and theirs[seed] > 0 for seed in common):
            ratios = sorted(log(ours[seed] / theirs[seed]) for seed in common)
            return PairedDifferences(fmean(ratios), stdev(ratios), len(ratios))
    row = _difference(result, place, metric, pair)
    if row is None or row["deviation"] is None:
        return None
    return PairedDifferences(row["mean"], row["deviation"], row["count"], row["trials"])


def _serves(result: CampaignResult, place: Place, protocol: str) -> bool:
    """Return whether the protocol delivers anything; otherwise it is best at nothing."""
    rate = result.values.get((*place, protocol, "delivery_rate"))
    return rate is None or rate["mean"] > 0


def _few(result: CampaignResult, place: Place, protocol: str, metric: str) -> bool:
    return bool(result.values[*place, protocol, metric]["count"] < FEW)


def find_gap(
    result: CampaignResult, place: Place, metric: str, pair: tuple[str, str], together: int = 1
) -> MetricGap | None:
    """Return how much more the first of `pair` has; `together` is the number of intervals (Bonferroni)."""
    row = _difference(result, place, metric, pair)
    if row is None or row["deviation"] is None:
        return None
    numbers = (row["mean"], row["deviation"], row["count"], row["trials"])
    of = (np.array([np.nan if number is None else number], np.float64) for number in numbers)
    lower, upper = difference_interval(*of, together=together)
    return MetricGap(row["mean"], float(upper[0] - lower[0]) / 2)


def _difference(result: CampaignResult, place: Place, metric: str, pair: tuple[str, str]) -> Row | None:
    """Return the paired differences of two protocols: the first minus the second."""
    row = result.differences.get((*place, metric, *pair))
    if row is None and (row := result.differences.get((*place, metric, *pair[::-1]))) is not None:
        return row | {"mean": -row["mean"]}
    return row
