"""The answer to a comparison in words: which protocol serves a scenario best.

The goal decides, by default delivery. If delivery rates are equivalent within two percentage points, the
protocol with fewer messages per delivery wins. The answer names a best protocol only if it is significantly
better than every other; else it names those that may be best, and how many more seeds would decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from statistics import median

from roamcast.report.comparing.goals import GOALS, SHOWN, Goal
from roamcast.report.comparing.outliers import describe_outliers
from roamcast.report.comparing.sentences import (
    compare_others,
    describe_gap,
    describe_protocol,
    list_rates,
    suggest_seeds,
)
from roamcast.report.numbers import FEW, Row, join_names, short
from roamcast.report.ranking import ALIKE, Place, find_gap, find_leaders
from roamcast.report.result import CampaignResult

_RATE, _COST = "delivery_rate", "messages_per_delivery"


@dataclass(frozen=True)
class Answer:
    """The best protocol, if there is one, and the sentences that explain it."""

    best: str | None
    ties: list[str] = field(default_factory=list)
    "The protocols that may be best, if there are several."
    undecided: bool = False
    "Whether there are too few seeds, or their spread is too wide, for a decision."
    sentences: list[str] = field(default_factory=list)
    "The answer, then reservations."


def answer(result: CampaignResult, place: Place, protocols: list[str]) -> Answer:
    """Return the answer at one point of a sweep, by the campaign's goal."""
    rates = {p: row for p in protocols if (row := result.values.get((*place, p, _RATE)))}
    goal = GOALS[result.campaign.goal]
    if refusal := _no_answer(result, place, protocols, rates):
        return refusal
    leaders = find_leaders(result, place, goal.metric, protocols)
    if not leaders:
        none = f"There is nothing to compare by: no {goal.noun} is known of every protocol."
        return Answer(None, sentences=[none, list_rates(protocols, rates)])
    if len(leaders) == 1:
        return _one_best(result, place, protocols, leaders[0], rates)
    if goal.metric != _RATE or not _alike(result, place, leaders):
        return Answer(None, leaders, True, _cannot_tell(result, place, leaders, rates))
    return _cheapest(result, place, protocols, leaders, rates)


def _no_answer(
    result: CampaignResult, place: Place, protocols: list[str], rates: dict[str, Row]
) -> Answer | None:
    """Return the reason why no protocol can be best; None if one can."""
    undecided = False
    if not rates:
        measured = any(key[:2] == place for key in result.values)
        why = "nobody wanted anything that was published" if measured else "no run is measured"
        text = f"There is nothing to compare: {why}."
    elif len(protocols) == 1:
        text = _alone(result, place, protocols[0], rates)
    elif not any(row["mean"] > 0 for row in rates.values()):
        text = "No protocol serves this scenario: no expected delivery was made."
    elif len(rates) < 2 or min(row["count"] for row in rates.values()) < FEW:
        undecided = True
        text = _too_few(rates, min(row["count"] for row in rates.values()))
    else:
        return None
    return Answer(None, undecided=undecided, sentences=[text])


def _one_best(
    result: CampaignResult, place: Place, protocols: list[str], best: str, rates: dict[str, Row]
) -> Answer:
    goal = GOALS[result.campaign.goal]
    sentences = _headline(result, place, protocols, best, goal)
    sentences += describe_outliers(result, place, best)
    if goal.metric == _RATE:
        sentences += describe_gap(result, place, best, rates)
        sentences += compare_others(result, place, protocols, best)
    else:
        sentences += _weigh_delivery(result, place, best, rates)
    return Answer(best, sentences=sentences)


def _weigh_delivery(result: CampaignResult, place: Place, best: str, rates: dict[str, Row]) -> list[str]:
    """Return a sentence if another protocol delivers significantly more than the best one by another goal."""
    most = find_leaders(result, place, _RATE, list(rates))
    if not most or best in most or best not in rates:
        return []
    return [f"It does not deliver the most. {list_rates([*most, best], rates)}"]


def _cheapest(
    result: CampaignResult, place: Place, protocols: list[str], leaders: list[str], rates: dict[str, Row]
) -> Answer:
    """Return the protocol with significantly fewest messages among those of equivalent delivery, if any."""
    cheapest = find_leaders(result, place, _COST, leaders)
    if len(cheapest) != 1:
        equal = f"{join_names(leaders)} serve this scenario equally well: their delivery rates are equivalent"
        more = suggest_seeds(result, place, _COST, cheapest)
        return Answer(
            None,
            leaders,
            sentences=[
                f"{equal} within 2 points, and none is significantly cheaper.",
                list_rates(leaders, rates),
                *more,
            ],
        )
    best = cheapest[0]
    others = [p for p in leaders if p != best]
    head = _headline(result, place, protocols, best, GOALS["delivery"])
    rate = "delivery rate {} is" if len(others) == 1 else "delivery rates {} are"
    subject = rate.format(f"of {join_names(others)}")
    same = f"The {subject} equivalent within 2 points, with more messages per delivery."
    found = [*head, same, *describe_outliers(result, place, best)]
    return Answer(best, leaders, sentences=[*found, *compare_others(result, place, protocols, best)])


def _headline(result: CampaignResult, place: Place, protocols: list[str], best: str, goal: Goal) -> list[str]:
    """Return the headline: the best protocol, in how many seeds no other is better, median and means."""
    values = {p: result.by_seed(*place, p, goal.metric) for p in protocols}
    own = values[best]
    if goal.metric == _RATE:
        won = sum(
            all(other.get(seed, 0.0) <= rate for other in values.values()) for seed, rate in own.items()
        )
        typical = f"delivery rate{_deadline(result)} is {100 * median(own.values()):.1f} %"
    else:
        won = sum(
            all(other.get(seed, value) >= value for other in values.values()) for seed, value in own.items()
        )
        unit = SHOWN[goal.metric].unit
        amount = f"{short(median(own.values()))}{f' {unit}' if unit else ''}"
        typical = f"{goal.noun} is {amount}"
    return [
        f"{best} {goal.superlative}: in {won} of {len(own)} seeds no other protocol {goal.comparative}, and"
        f" its median {typical}.",
        f"Its {describe_protocol(result, place, best)}.",
    ]


def _deadline(result: CampaignResult) -> str:
    deadline = result.campaign.measure.deadline
    return "" if deadline is None else f" within {short(deadline)} s"


def _alone(result: CampaignResult, place: Place, protocol: str, rates: dict[str, Row]) -> str:
    if not rates[protocol]["mean"]:
        return f"{protocol} delivers nothing, and there is no other protocol to compare it with."
    return f"{protocol} is compared with no other protocol: its {describe_protocol(result, place, protocol)}."


def _too_few(rates: dict[str, Row], seeds: int) -> str:
    how_many = "One seed is" if seeds == 1 else f"{seeds} seeds are"
    return (
        f"{how_many} too few to name the best protocol; take {FEW} or more. {list_rates(list(rates), rates)}"
    )


def _cannot_tell(
    result: CampaignResult, place: Place, leaders: list[str], rates: dict[str, Row]
) -> list[str]:
    goal = GOALS[result.campaign.goal]
    seeds = min(row["count"] for row in rates.values())
    head = f"{seeds} seeds do not decide whether {join_names(leaders, 'or')} {goal.superlative}."
    return [f"{head} {list_rates(leaders, rates)}", *suggest_seeds(result, place, goal.metric, leaders)]


def _alike(result: CampaignResult, place: Place, leaders: list[str]) -> bool:
    """Return whether the intervals exclude a relevant difference in delivery."""
    pairs = list(combinations(leaders, 2))
    gaps = [find_gap(result, place, _RATE, pair, len(pairs)) for pair in pairs]
    return all(gap is not None and abs(gap.mean) + gap.half <= ALIKE for gap in gaps)
