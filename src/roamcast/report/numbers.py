"""Formatting of numbers with their intervals.

One notation everywhere: brackets are a 95 % confidence interval, `97.7 [95.1, 98.9] %`; parentheses are the
least and the most of fewer than five seeds, `97.7 (95.1 to 98.9) %`. Thousands are not separated in them,
because a comma separates the ends.
"""

from __future__ import annotations

from math import floor, log10
from typing import Any

Row = dict[str, Any]

FEW = 5
"With fewer seeds no interval is shown, but the range of the seeds."


def short(value: float | None) -> str:
    """Return a number with three significant digits, or as an integer."""
    if value is None:
        return "-"
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def format_interval(value: float, lower: float, upper: float, factor: float = 1.0, unit: str = "") -> str:
    """Return a number with its 95 % interval, to two digits of the shorter side: `97.7 [95.1, 98.9] %`."""
    number, low, high = (each * factor for each in (value, lower, upper))
    places = _places(number, low, high)
    parts = [f"{round(each, places):.{max(places, 0)}f}" for each in (number, low, high)]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]{f' {unit}' if unit else ''}"


def format_estimate(row: Row, value: str = "mean", factor: float = 1.0, unit: str = "") -> str:
    """Return the number of a row with its interval; with few seeds, with their range in parentheses."""
    number = row[value]
    if number is None:
        return "-"
    after = f" {unit}" if unit else ""
    around = _around(row)
    if around is None:
        few = " (no finite interval)" if row["count"] >= FEW else ""
        return f"{short(number * factor)}{after}{few}"
    text = format_interval(number, *around, factor, unit)
    return text.replace("[", "(").replace(", ", " to ").replace("]", ")") if row["count"] < FEW else text


def _around(row: Row) -> tuple[float, float] | None:
    """Return the ends of a row's interval, or the range of few seeds; None if there are none."""
    names = ("least", "most") if row["count"] < FEW else ("lower", "upper")
    lower, upper = (row[name] for name in names)
    return None if row["count"] < 2 or lower is None or upper is None else (lower, upper)


def percent(row: Row) -> str:
    """Return a share as per cent."""
    return format_estimate(row, factor=100.0, unit="%") if row["mean"] is not None else "-"


def _places(number: float, low: float, high: float) -> int:
    """Return the decimal places that show two digits of the shorter side (negative: before the point).

    Not more than three digits of the longer side; of a number without interval three digits.
    """
    sides = sorted(side for side in (number - low, high - number) if side > 0)
    if not sides:
        return min(2 - _order(abs(number)), 9) if number else 0
    return min(1 - _order(sides[0]), 2 - _order(sides[-1]), 9)


def _order(size: float) -> int:
    """Return the decimal exponent of a number, rounded so that 0.01 does not become 0.001."""
    return floor(log10(size * (1 + 1e-9)))


def join_names(names: list[str], last: str = "and") -> str:
    """Return names as an enumeration in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
