"""Which protocol is best at what: the best mean, and whoever cannot be told from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from roamcast.pipeline.metrics import METRICS
from roamcast.report.result import Result, with_interval

SIDE_BY_SIDE = (
    *("delivery_rate", "delay_mean", "delay_p95", "messages", "transmissions_per_delivery"),
    *("airtime", "energy"),
)
"The metrics that a comparison shows."

HEADLINES = ("delivery_rate", "delay_mean", "transmissions_per_delivery")
"The metrics that the answer is given in."


def rank(
    result: Result, place: tuple[str, str], metric: str, protocols: list[str]
) -> dict[str, tuple[str, str]]:
    """For each protocol with a value: the value in words, and `best`, `tie` or nothing."""
    rows = {p: row for p in protocols if (row := result.values.get((*place, p, metric)))}
    if not rows:
        return {}
    sign = -1 if METRICS[metric].better == "more" else 1
    best = min(rows, key=lambda p: (sign * rows[p]["mean"], protocols.index(p)))
    ties = {p for p in rows if p != best and _tie(result, place, metric, (p, best))}
    return {
        p: (
            with_interval(row["mean"], row["half"]),
            "" if p not in (best, *ties) else "tie" if ties else "best",
        )
        for p, row in rows.items()
    }


def _tie(result: Result, place: tuple[str, str], metric: str, pair: tuple[str, str]) -> bool:
    for row in _differences(result, place, metric):
        if {row["protocol"], row["other"]} == set(pair):
            return row["half"] is None or abs(row["mean"]) <= row["half"]
    return True


def _differences(result: Result, place: tuple[str, str], metric: str) -> Iterator[dict[str, Any]]:
    for row in result.tables["differences"]:
        if (row["sweep"], row["point"], row["metric"]) == (*place, metric):
            yield row


def sentences(result: Result, place: tuple[str, str], protocols: list[str]) -> list[str]:
    """The answer in words: who is best at each of the headlines, or who ties."""
    told = []
    for metric in HEADLINES:
        ranked = rank(result, place, metric, protocols)
        first = [protocol for protocol, (_, mark) in ranked.items() if mark]
        if len(ranked) < 2:
            continue
        verdict = f"{first[0]} is best" if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]} tie"
        told.append(f"{METRICS[metric].title}: {verdict}.")
    return told
