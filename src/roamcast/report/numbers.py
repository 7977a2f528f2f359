"""Numbers as a person reads them: with as many places as they deserve, and with what the seeds leave open."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

FEW = 5
"With fewer seeds no interval is told: the seeds themselves are shown."

_LOPSIDED = 1.15
"An interval is told by its ends where one is so much further from the mean than the other."


def short(value: float | None) -> str:
    """A number with three digits, or whole."""
    if value is None:
        return "-"
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def with_interval(value: float | None, half: float | None) -> str:
    """A mean and half its interval, to the same place."""
    if value is None or half is None:
        return short(value)
    places = _places(max(abs(value), half))
    return f"{value:,.{places}f} ± {half:,.{places}f}"


def format_estimate(row: Row, value: str = "mean", factor: float = 1.0, unit: str = "") -> str:
    """A row's number with its interval; with few seeds, with the least and the most of them in brackets."""
    number = row[value]
    if number is None:
        return "-"
    after = f" {unit}" if unit else ""
    around = _around(row)
    if around is None:
        few = " (no finite interval)" if row["count"] >= FEW else ""
        return f"{short(number * factor)}{after}{few}"
    lower, upper = (end * factor for end in around)
    number *= factor
    ends = sorted((number - lower, upper - number))
    few = row["count"] < FEW
    if not few and ends[1] <= _LOPSIDED * ends[0] + 1e-12:
        return f"{with_interval(number, ends[1])}{after}"
    places = _places(max(abs(number), abs(upper), abs(lower)))
    told = f"{lower:,.{places}f} to {upper:,.{places}f}"
    return f"{number:,.{places}f}{after} " + (f"[{told}{after}]" if few else f"({told}{after})")


def _around(row: Row) -> tuple[float, float] | None:
    """The ends of a row's interval, or the least and the most of few seeds; None where there are none."""
    names = ("least", "most") if row["count"] < FEW else ("lower", "upper")
    lower, upper = (row[name] for name in names)
    return None if row["count"] < 2 or lower is None or upper is None else (lower, upper)


def percent(row: Row) -> str:
    """A share as a person says it."""
    return format_estimate(row, factor=100.0, unit="%") if row["mean"] is not None else "-"


def _places(size: float) -> int:
    return 3 if size < 1 else 2 if size < 10 else 1 if size < 1000 else 0


def join_names(names: list[str], last: str = "and") -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
