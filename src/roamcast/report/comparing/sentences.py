"""Sentences of an answer: delivery and cost of a protocol, who comes next, how many seeds decide a tie."""

from __future__ import annotations

from itertools import combinations
from math import expm1
from typing import TYPE_CHECKING

from roamcast.report.comparing.goals import SHOWN
from roamcast.report.comparing.more_seeds import MOST, seeds_to_show_alike, seeds_to_tell_apart
from roamcast.report.numbers import Row, format_estimate, format_interval, join_names, percent
from roamcast.report.ranking import ALIKE, Place, find_differences, find_gap, find_leaders

if TYPE_CHECKING:
    from roamcast.report.result import CampaignResult

_RATE, _REACHED, _DELAY, _COST = (
    *("delivery_rate", "delivery_rate_reachable", "delay_common", "messages_per_delivery"),
)


def describe_protocol(result: CampaignResult, place: Place, protocol: str) -> str:
    """Return delivery rate, share of reachable deliveries, delay and cost of a protocol, to follow `its`."""
    values = result.values
    deadline = result.campaign.measure.deadline
    within = "" if deadline is None else f" within {deadline:g} s"
    text = f"mean delivery rate{within} is {percent(values[*place, protocol, _RATE])}"
    if reached := values.get((*place, protocol, _REACHED)):
        text += f", or {percent(reached)} of the reachable deliveries"
    costs = []
    if delay := values.get((*place, protocol, "delay_mean")):
        costs.append(f"a mean delay of {format_estimate(delay, unit='s')}")
    if cost := values.get((*place, protocol, _COST)):
        costs.append(f"{format_estimate(cost)} messages per delivery")
    return f"{text}, with {join_names(costs)}" if costs else text


def describe_gap(result: CampaignResult, place: Place, best: str, rates: dict[str, Row]) -> list[str]:
    """Return the protocol with the second highest delivery rate, and its distance."""
    second = max((p for p in rates if p != best), key=lambda p: rates[p]["mean"])
    gap = find_gap(result, place, _RATE, (best, second))
    if gap is None:
        return []
    points = format_interval(gap.mean, gap.mean - gap.half, gap.mean + gap.half, 100.0, "points")
    return [f"{second} is second: paired by seed, its delivery rate is {points} lower."]


def list_rates(names: list[str], rates: dict[str, Row]) -> str:
    """Return the delivery rates of protocols as a sentence."""
    return f"Delivery rates: {join_names([f'{p} {percent(rates[p])}' for p in names if p in rates])}."


def compare_others(result: CampaignResult, place: Place, protocols: list[str], best: str) -> list[str]:
    """Return who is significantly faster or cheaper than the best, with the delivery rate."""
    found: dict[str, list[str]] = {}
    for metric, word, unit in ((_DELAY, "faster", "s"), (_COST, "cheaper", "messages")):
        leaders = find_leaders(result, place, metric, protocols)
        if not leaders or best in leaders:
            continue
        leader = min(leaders, key=lambda p: result.values[*place, p, metric]["mean"])
        amount = format_estimate(result.values[*place, leader, metric], unit=unit)
        what = f"{amount} on common deliveries" if metric == _DELAY else f"{amount} per delivery"
        found.setdefault(leader, []).append(f"{word} ({what})")
    return [
        f"{other} is {' and '.join(what)}, but its delivery rate is "
        f"{percent(result.values[*place, other, _RATE])}."
        for other, what in found.items()
        if (*place, other, _RATE) in result.values
    ]


def suggest_seeds(result: CampaignResult, place: Place, metric: str, leaders: list[str]) -> list[str]:
    """Return how many more seeds would probably decide between `leaders`, the likely best against each."""
    known = [p for p in leaders if (*place, p, metric) in result.values]
    if len(known) < 2:
        return []
    sign = -1 if SHOWN[metric].better == "more" else 1
    first, *others = sorted(known, key=lambda p: sign * result.values[*place, p, metric]["mean"])
    together = len(list(combinations(known, 2)))
    needed: list[int | None] = []
    alike = True
    seeds = 0
    gaps = []
    for other in others:
        found = find_differences(result, place, metric, (first, other))
        if found is None:
            return []
        seeds = max(seeds, found.seeds)
        apart = seeds_to_tell_apart(found, together)
        same = seeds_to_show_alike(found, ALIKE, together) if metric == _RATE else None
        alike = alike and same is not None and (apart is None or same < apart)
        needed.append(min((each for each in (apart, same) if each is not None), default=None))
        gaps.append(_size(metric, found.mean))
    if any(each is None for each in needed):
        return [
            f"If the observed differences are true, more than {MOST:,} seeds are needed to make them "
            "significant."
        ]
    more = max(each or 0 for each in needed) - seeds
    plural = "s" if more > 1 else ""
    if alike:
        return [
            f"If the observed delivery rates are true, about {more} more seed{plural} would show with a "
            "probability of 80 % that they are equivalent within 2 points."
        ]
    return [
        f"If the observed difference ({join_names(gaps)}) is true, about {more} more seed{plural} would make "
        "it significant with a probability of 80 %."
    ]


def _size(metric: str, mean: float) -> str:
    """Return an observed difference in words: points of a share, per cent of an amount."""
    if SHOWN[metric].scale == "share":
        return f"{abs(100 * mean):.1f} points"
    return f"{100 * expm1(abs(mean)):.0f} %"
