"""Numbers as a person reads them, with as many places as they deserve, and with their intervals.

One notation everywhere: brackets are a 95 % confidence interval, `97.7 [95.1, 98.9] %`; parentheses are the
least and the most of fewer than five seeds, `97.7 (95.1 to 98.9) %`. Thousands are not separated in them,
because a comma separates the ends.
"""

from __future__ import annotations

from math import floor, log10
from typing import Any

Row = dict[str, Any]

FEW = 5
"With fewer seeds no interval is told: the seeds themselves are shown."


def short(value: float | None) -> str:
    """A number with three digits, or whole."""
    if value is None:
        return "-"
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def format_interval(value: float, lower: float, upper: float, factor: float = 1.0, unit: str = "") -> str:
    """A number with its 95 % interval, to two digits of its shorter side: `97.7 [95.1, 98.9] %`."""
    number, low, high = (each * factor for each in (value, lower, upper))
    places = _places(number, low, high)
    told = [f"{round(each, places):.{max(places, 0)}f}" for each in (number, low, high)]
    return f"{told[0]} [{told[1]}, {told[2]}]{f' {unit}' if unit else ''}"


def format_estimate(row: Row, value: str = "mean", factor: float = 1.0, unit: str = "") -> str:
    """A row's number with its interval in brackets; with few seeds, with their range in parentheses."""
    number = row[value]
    if number is None:
        return "-"
    after = f" {unit}" if unit else ""
    around = _around(row)
    if around is None:
        few = " (no finite interval)" if row["count"] >= FEW else ""
        return f"{short(number * factor)}{after}{few}"
    told = format_interval(number, *around, factor, unit)
    return told.replace("[", "(").replace(", ", " to ").replace("]", ")") if row["count"] < FEW else told


def _around(row: Row) -> tuple[float, float] | None:
    """The ends of a row's interval, or the least and the most of few seeds; None where there are none."""
    names = ("least", "most") if row["count"] < FEW else ("lower", "upper")
    lower, upper = (row[name] for name in names)
    return None if row["count"] < 2 or lower is None or upper is None else (lower, upper)


def percent(row: Row) -> str:
    """A share as a person says it."""
    return format_estimate(row, factor=100.0, unit="%") if row["mean"] is not None else "-"


def _places(number: float, low: float, high: float) -> int:
    """Places after the point (before it if negative) that show two digits of the interval's shorter side.

    Not more than three digits of the longer side; of a number without interval three digits.
    """
    sides = sorted(side for side in (number - low, high - number) if side > 0)
    if not sides:
        return min(2 - _order(abs(number)), 9) if number else 0
    return min(1 - _order(sides[0]), 2 - _order(sides[-1]), 9)


def _order(size: float) -> int:
    """The power of ten of a size; rounding must not make 0.01 a smaller one."""
    return floor(log10(size * (1 + 1e-9)))


def join_names(names: list[str], last: str = "and") -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
