"""Which protocol is best at what: the best mean, and whoever cannot be told from it."""

from __future__ import annotations

from roamcast.metrics.declarations import METRICS
from roamcast.report.result import Result, Row, with_interval

Place = tuple[str, str]
"A sweep, and a point of it."

SIDE_BY_SIDE = (
    *("delivery_rate", "delay_mean", "delay_p95", "messages", "transmissions_per_delivery"),
    *("airtime", "energy"),
)
"The metrics that a comparison shows."

HEADLINES = ("delivery_rate", "delay_mean", "transmissions_per_delivery")
"The metrics that its picture shows."


def rank(result: Result, place: Place, metric: str, protocols: list[str]) -> dict[str, tuple[str, str]]:
    """For each protocol with a value: the value in words, and `best`, `tie` (with the best) or nothing."""
    rows = {p: row for p in protocols if (row := result.values.get((*place, p, metric)))}
    if not rows:
        return {}
    sign = -1 if METRICS[metric].better == "more" else 1
    best = min(rows, key=lambda p: (sign * rows[p]["mean"], protocols.index(p)))
    ties = {p for p in rows if p != best and _tie(result, place, metric, (p, best))}
    return {
        p: (with_interval(row["mean"], row["half"]), "best" if p == best else "tie" if p in ties else "")
        for p, row in rows.items()
    }


def _tie(result: Result, place: Place, metric: str, pair: tuple[str, str]) -> bool:
    row = find_difference(result, place, metric, pair)
    return row is None or row["half"] is None or abs(row["mean"]) <= row["half"]


def find_difference(result: Result, place: Place, metric: str, pair: tuple[str, str]) -> Row | None:
    """The row of the table `differences` for two protocols, whichever is named first."""
    for row in result.tables["differences"]:
        same = (row["sweep"], row["point"], row["metric"]) == (*place, metric)
        if same and {row["protocol"], row["other"]} == set(pair):
            return row
    return None


def join(names: list[str]) -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
