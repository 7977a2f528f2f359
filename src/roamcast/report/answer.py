"""Which protocol serves a scenario best, in words: the answer that a comparison is asked for.

Delivery decides. If delivery rates are equivalent within two percentage points, the protocol with fewer
messages per delivery wins. The answer names a best protocol only if it is significantly better than every
other; else it names those that may be best.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from statistics import median

from roamcast.metrics.declarations import METRICS
from roamcast.report.numbers import FEW, Row, format_estimate, join_names, percent
from roamcast.report.ranking import Place, find_gap, find_leaders
from roamcast.report.result import CampaignResult

ALIKE = 0.02
"Delivery rates whose difference surely is no larger are taken for equal."

_RATE, _COST = "delivery_rate", "messages_per_delivery"


@dataclass(frozen=True)
class Answer:
    """The protocol that serves best, if one does, and why."""

    best: str | None
    ties: list[str] = field(default_factory=list)
    "Those that may be best, where more than one may."
    undecided: bool = False
    "Whether the seeds are too few, or spread too widely, to tell."
    sentences: list[str] = field(default_factory=list)
    "The answer first, then what speaks against it."


def answer(result: CampaignResult, place: Place, protocols: list[str]) -> Answer:
    """The answer at one point of a sweep."""
    rates = {p: row for p in protocols if (row := result.values.get((*place, p, _RATE)))}
    if refusal := _no_answer(result, place, protocols, rates):
        return refusal
    leaders = find_leaders(result, place, _RATE, protocols)
    if len(leaders) == 1:
        return _one_best(result, place, protocols, leaders[0], rates)
    seeds = min(row["count"] for row in rates.values())
    if not _alike(result, place, leaders):
        return Answer(None, leaders, True, [_cannot_tell(leaders, rates, seeds)])
    return _cheapest(result, place, protocols, leaders, rates)


def _no_answer(
    result: CampaignResult, place: Place, protocols: list[str], rates: dict[str, Row]
) -> Answer | None:
    """Why nobody can be best, if nobody can."""
    undecided = False
    if not rates:
        measured = any(key[:2] == place for key in result.values)
        why = "nobody wanted anything that was published" if measured else "no run is measured"
        told = f"There is nothing to compare: {why}."
    elif len(protocols) == 1:
        told = _alone(result, place, protocols[0], rates)
    elif not any(row["mean"] > 0 for row in rates.values()):
        told = "Nobody serves this scenario: nothing arrived that was wanted."
    elif len(rates) < 2 or min(row["count"] for row in rates.values()) < FEW:
        undecided = True
        told = _too_few(rates, min(row["count"] for row in rates.values()))
    else:
        return None
    return Answer(None, undecided=undecided, sentences=[told])


def _one_best(
    result: CampaignResult, place: Place, protocols: list[str], best: str, rates: dict[str, Row]
) -> Answer:
    told = _headline(result, place, protocols, best)
    seeds = result.by_seed(*place, best, _RATE)
    worst = min(seeds, key=lambda seed: seeds[seed])
    if seeds[worst] < rates[best]["mean"] - 0.1:
        told.append(f"Its worst seed, {worst}, got {100 * seeds[worst]:.1f} %.")
    second = max((p for p in rates if p != best), key=lambda p: (rates[p]["mean"], -protocols.index(p)))
    gap = find_gap(result, place, _RATE, (best, second))
    if gap is not None:
        points = f"{100 * gap.mean:.1f} ± {100 * gap.half:.1f} points"
        told.append(f"{second} comes next: seed by seed it delivers {points} less.")
    return Answer(best, sentences=told + _compare_others(result, place, protocols, best))


def _cheapest(
    result: CampaignResult, place: Place, protocols: list[str], leaders: list[str], rates: dict[str, Row]
) -> Answer:
    """Of several that deliver alike, the one that needs the fewest messages, if that is sure."""
    cheapest = find_leaders(result, place, _COST, leaders)
    if len(cheapest) != 1:
        told = f"{join_names(leaders)} serve this scenario equally well: they deliver the same to two points"
        return Answer(
            None, leaders, sentences=[f"{told}, and none is surely cheaper.", _list(leaders, rates)]
        )
    best = cheapest[0]
    others = [p for p in leaders if p != best]
    head = _headline(result, place, protocols, best)
    verb = "delivers" if len(others) == 1 else "deliver"
    same = f"{join_names(others)} {verb} the same to two points, for more messages."
    return Answer(best, leaders, sentences=[*head, same, *_compare_others(result, place, protocols, best)])


def _headline(result: CampaignResult, place: Place, protocols: list[str], best: str) -> list[str]:
    """Who serves best: in how many seeds no other delivers more, the median seed, and the means."""
    rates = {p: result.by_seed(*place, p, _RATE) for p in protocols}
    own = rates[best]
    won = sum(all(other.get(seed, 0.0) <= rate for other in rates.values()) for seed, rate in own.items())
    return [
        f"{best} serves this scenario best: in {won} of {len(own)} seeds no other delivers more, and the"
        f" median seed gets {100 * median(own.values()):.1f} % of what was wanted.",
        f"Over all seeds {_serves(result, place, best)}.",
    ]


def _alone(result: CampaignResult, place: Place, protocol: str, rates: dict[str, Row]) -> str:
    if not rates[protocol]["mean"]:
        return f"{protocol} delivers nothing of what was wanted; it is compared with nobody."
    return f"{protocol} is compared with nobody: {_serves(result, place, protocol)}."


def _too_few(rates: dict[str, Row], seeds: int) -> str:
    how_many = "One seed is" if seeds == 1 else f"{seeds} seeds are"
    return (
        f"{how_many} too few to say who serves this scenario best; take {FEW} or more. "
        f"{_list(list(rates), rates)}"
    )


def _cannot_tell(leaders: list[str], rates: dict[str, Row], seeds: int) -> str:
    return (
        f"{seeds} seeds do not decide whether {join_names(leaders, 'or')} serves this scenario best. "
        f"{_list(leaders, rates)}"
    )


def _list(names: list[str], rates: dict[str, Row]) -> str:
    told = [f"{p} {percent(rates[p])}" for p in names if p in rates]
    return f"Delivered of what was wanted: {join_names(told)}."


def _alike(result: CampaignResult, place: Place, leaders: list[str]) -> bool:
    """Whether the intervals leave no room for a difference in delivery that matters."""
    pairs = list(combinations(leaders, 2))
    gaps = [find_gap(result, place, _RATE, pair, len(pairs)) for pair in pairs]
    return all(gap is not None and abs(gap.mean) + gap.half <= ALIKE for gap in gaps)


def _serves(result: CampaignResult, place: Place, protocol: str) -> str:
    parts = [f"it delivers {percent(result.values[*place, protocol, _RATE])} of what was wanted"]
    if delay := result.values.get((*place, protocol, "delay_mean")):
        parts.append(f"after {format_estimate(delay, unit='s')} on the mean")
    if cost := result.values.get((*place, protocol, _COST)):
        parts.append(f"for {format_estimate(cost)} messages per delivery")
    return ", ".join(parts)


def _compare_others(result: CampaignResult, place: Place, protocols: list[str], best: str) -> list[str]:
    """Who is surely better than the best at something else, and what that costs in delivery."""
    found: dict[str, list[str]] = {}
    for metric, word in (("delay_mean", "quicker"), (_COST, "cheaper")):
        leaders = find_leaders(result, place, metric, protocols)
        if not leaders or best in leaders:
            continue
        leader = min(leaders, key=lambda p: result.values[*place, p, metric]["mean"])
        unit = METRICS[metric].unit or "messages per delivery"
        told = format_estimate(
            result.values[*place, leader, metric], unit=unit if metric == "delay_mean" else ""
        )
        found.setdefault(leader, []).append(f"{word} ({told}{' messages' if metric == _COST else ''})")
    return [
        f"{other} is {' and '.join(what)}, but delivers {percent(result.values[*place, other, _RATE])}."
        for other, what in found.items()
        if (*place, other, _RATE) in result.values
    ]
