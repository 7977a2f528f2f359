"""Which protocol is best at what: the best mean, unless the seeds cannot tell it from another's."""

from __future__ import annotations

from math import log
from statistics import fmean, stdev
from typing import NamedTuple

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.measuring.statistics import student
from roamcast.report.result import Result
from roamcast.report.rounding import FEW, tell

Place = tuple[str, str]
"A sweep, and a point of it."

SIDE_BY_SIDE = (
    *("delivery_rate", "delay_mean", "delay_p95", "messages", "transmissions_per_delivery"),
    *("airtime", "energy"),
)
"The metrics that a comparison shows."

HEADLINES = ("delivery_rate", "delay_mean", "transmissions_per_delivery")
"The metrics that its picture shows."


class Gap(NamedTuple):
    """How much more one protocol has of a metric than another, seed by seed, and how sure that is."""

    mean: float
    half: float

    @property
    def real(self) -> bool:
        """Whether the interval leaves no doubt that there is one."""
        return abs(self.mean) > self.half


def rank(result: Result, place: Place, metric: str, protocols: list[str]) -> dict[str, tuple[str, str]]:
    """For each protocol with a value: the value in words, and `best`, `tie` (several may be best) or nothing.

    Nobody is best alone, with few seeds, or without delivering anything.
    """
    rows = {p: row for p in protocols if (row := result.values.get((*place, p, metric)))}
    leaders = find_leaders(result, place, metric, protocols)
    mark = "best" if len(leaders) == 1 else "tie"
    return {p: (tell(row), mark if p in leaders else "") for p, row in rows.items()}


def find_leaders(result: Result, place: Place, metric: str, protocols: list[str]) -> list[str]:
    """The protocol of the best mean and all that may be as good; empty if nobody can be best."""
    means = {
        p: row["mean"]
        for p in protocols
        if (row := result.values.get((*place, p, metric))) and _serves(result, place, p)
    }
    known = [p for p in protocols if (*place, p, metric) in result.values]
    if len(known) < 2 or not means or any(_few(result, place, p, metric) for p in means):
        return []
    sign = -1 if METRICS[metric].better == "more" else 1
    first = min(means, key=lambda p: (sign * means[p], protocols.index(p)))
    beaten = [
        other
        for other in means
        if other != first and _is_better(result, place, metric, (first, other), len(means) - 1)
    ]
    return [p for p in protocols if p in means and p not in beaten]


def _is_better(result: Result, place: Place, metric: str, pair: tuple[str, str], comparisons: int) -> bool:
    """Whether the seeds leave no doubt that the first of `pair`, whose mean is better, is.

    Amounts above zero are compared by their ratios, seed by seed: one bad seed with a hundred times the delay
    widens the interval of the differences until it holds zero, though every seed says the same.
    """
    if METRICS[metric].scale == "amount":
        ours, theirs = (result.by_seed(*place, protocol, metric) for protocol in pair)
        common = ours.keys() & theirs.keys()
        if len(common) > 1 and all(ours[seed] > 0 and theirs[seed] > 0 for seed in common):
            ratios = sorted(log(ours[seed] / theirs[seed]) for seed in common)
            sign = 1 if METRICS[metric].better == "more" else -1
            half = student(len(ratios), comparisons) * stdev(ratios) / len(ratios) ** 0.5
            return bool(sign * fmean(ratios) > half)
    gap = find_gap(result, place, metric, pair, comparisons)
    return gap is not None and gap.real


def _serves(result: Result, place: Place, protocol: str) -> bool:
    """Whether it delivers anything; what delivers nothing is best at nothing."""
    rate = result.values.get((*place, protocol, "delivery_rate"))
    return rate is None or rate["mean"] > 0


def _few(result: Result, place: Place, protocol: str, metric: str) -> bool:
    return bool(result.values[*place, protocol, metric]["count"] < FEW)


def find_gap(
    result: Result, place: Place, metric: str, pair: tuple[str, str], comparisons: int
) -> Gap | None:
    """How much more the first of `pair` has; `comparisons` such intervals hold together in 95 of 100 cases.

    Where many are compared with the best, one of many differences passes its own interval by chance: so the
    intervals are as much wider as Bonferroni asks for.
    """
    for sign, (one, other) in ((1, pair), (-1, pair[::-1])):
        row = result.differences.get((*place, metric, one, other))
        if row is not None:
            if row["half"] is None:
                return None
            wider = student(row["count"], comparisons) / student(row["count"])
            return Gap(sign * row["mean"], row["half"] * wider)
    return None
