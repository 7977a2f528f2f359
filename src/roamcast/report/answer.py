"""Which protocol serves a scenario best, in words: the answer that a comparison is asked for.

Delivery decides. Where two means are within a point of each other and their difference is within its
interval, they count as equal and the fewer messages per delivery decide.
"""

from __future__ import annotations

from dataclasses import dataclass

from roamcast.metrics.declarations import METRICS
from roamcast.report.ranking import Place, find_difference, join, rank
from roamcast.report.result import Result, Row, with_interval

SAME = 0.01
"Delivery rates that differ by no more, and not beyond their interval, are taken for equal."


@dataclass(frozen=True)
class Answer:
    """The protocol that serves best, those that may be as good, and why."""

    best: str
    ties: list[str]
    "Others whose delivery cannot be told from the best's."
    undecided: bool
    "Whether a tie is so only because the seeds spread too widely to tell."
    sentences: list[str]
    "The answer first, then what speaks against it."


def answer(result: Result, place: Place, protocols: list[str]) -> Answer | None:
    """The answer at one point of a sweep; None where there are no two protocols to compare."""
    rates = {p: row for p in protocols if (row := result.values.get((*place, p, "delivery_rate")))}
    if len(rates) < 2:
        return None
    marks = {p: mark for p, (_, mark) in rank(result, place, "delivery_rate", protocols).items()}
    first = max(rates, key=lambda p: (rates[p]["mean"], -protocols.index(p)))
    equal = [p for p in rates if marks[p] and rates[first]["mean"] - rates[p]["mean"] <= SAME]
    best = min(equal, key=lambda p: (_cost(result, place, p), protocols.index(p)))
    ties = [p for p in rates if marks[p] and p != best]
    undecided = any(_wide(result, place, p, best) for p in ties)
    told = [f"{best} serves this scenario best: {_serves(result, place, best)}."]
    if ties:
        told.append(_tell_ties(ties, rates[best]["count"], undecided))
    told += _tell_others(result, place, protocols, best)
    return Answer(best, ties, undecided, told)


def _cost(result: Result, place: Place, protocol: str) -> float:
    row = result.values.get((*place, protocol, "transmissions_per_delivery"))
    return row["mean"] if row else float("inf")


def _wide(result: Result, place: Place, one: str, other: str) -> bool:
    """Whether the difference of two delivery rates is known less well than to a tenth."""
    row = find_difference(result, place, "delivery_rate", (one, other))
    return row is None or row["half"] is None or row["half"] > 0.1


def _serves(result: Result, place: Place, protocol: str) -> str:
    parts = [f"it delivers {percent(result.values[(*place, protocol, 'delivery_rate')])} of what was wanted"]
    if delay := result.values.get((*place, protocol, "delay_mean")):
        parts.append(f"after {with_interval(delay['mean'], delay['half'])} s on the mean")
    if cost := result.values.get((*place, protocol, "transmissions_per_delivery")):
        parts.append(f"for {with_interval(cost['mean'], cost['half'])} messages per delivery")
    return ", ".join(parts)


def _tell_ties(ties: list[str], seeds: int, undecided: bool) -> str:
    who = f"{join(ties)} {'ties' if len(ties) == 1 else 'tie'} with it in delivery"
    if not undecided:
        return f"{who}: the differences are within their intervals."
    over = f"{seeds} seeds spread" if seeds > 1 else "one seed tells"
    return f"{who}, but {over} too {'widely' if seeds > 1 else 'little'} to tell: more seeds would decide."


def _tell_others(result: Result, place: Place, protocols: list[str], best: str) -> list[str]:
    """Who is better than the best at something else, and what that costs in delivery."""
    found: dict[str, list[str]] = {}
    for metric, word in (("delay_mean", "quicker"), ("transmissions_per_delivery", "cheaper")):
        ranked = rank(result, place, metric, protocols)
        if ranked.get(best, ("", ""))[1]:
            continue
        leader = next((p for p, (_, mark) in ranked.items() if mark == "best"), None)
        if leader is not None:
            unit = METRICS[metric].unit or "messages per delivery"
            found.setdefault(leader, []).append(f"{word} ({ranked[leader][0]} {unit})")
    return [
        f"{other} is {' and '.join(what)}, but delivers "
        f"{percent(result.values[(*place, other, 'delivery_rate')])}."
        for other, what in found.items()
    ]


def percent(row: Row) -> str:
    """A share as a person says it."""
    within = f" ± {100 * row['half']:.1f}" if row["half"] is not None else ""
    return f"{100 * row['mean']:.1f}{within} %"
