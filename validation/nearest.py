"""How many more runs would decide the open rows of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

NAMED = 5
"Number of rows that the page names."
INTERVAL = re.compile(r"([+-][\d.]+) ± ([\d.]+)")


class Undecided(NamedTuple):
    """An open row of the page."""

    more: int
    "Runs a side that would decide it, if mean difference and scatter stayed as they are."
    name: str
    verdict: str
    "The verdict that it would get."


def undecided(row: Sequence[str]) -> Undecided | None:
    """Return what would decide a written row; None if it is decided, or if no number of runs would do.

    The half-width of an interval is taken to shrink with the square root of the number of runs.
    """
    interval = INTERVAL.match(row[5])
    if row[8].rstrip(" |") != "open" or interval is None:
        return None
    runs, bound = int(row[2].split()[0]), float(row[7].split()[0])
    apart, margin = abs(float(interval[1])), float(interval[2])
    if apart == bound:
        return None
    needed = round(runs * (margin / (bound - apart)) ** 2, 6)  # 40.000000000000001 is 40
    more = max(1, ceil(needed) - runs)
    return Undecided(more, f"{row[0]} ({row[1]})", "agrees" if apart < bound else "APART")


def tell_nearest(rows: Iterable[Sequence[str]]) -> str:
    """Return a sentence with the open rows that the fewest further runs would decide."""
    found = sorted(filter(None, map(undecided, rows)))[:NAMED]
    if not found:
        return "Nearest to a verdict: no row is open."
    named = "; ".join(f"{each.name}: {each.more} more ({each.verdict})" for each in found)
    return f"Nearest to a verdict, by the runs needed if difference and scatter stay as they are: {named}."
