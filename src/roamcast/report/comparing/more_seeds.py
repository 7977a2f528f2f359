"""How many more seeds would decide a tie, estimated from the paired differences of the seeds so far.

Two protocols differ significantly if the test of their paired differences passes; they are equivalent if the
interval of the difference lies within two percentage points. Both are computed for the observed mean and
deviation, with a power of 80 %: with so many seeds four of five comparisons decide, if the observed numbers
are the true ones. docs/statistics.md has simulations of how far that is so.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import NamedTuple

import numpy as np

from roamcast.results.intervals import difference_interval, student

POWER = 0.8
MOST = 10_000
"Largest number of seeds that is reported."


class PairedDifferences(NamedTuple):
    """The differences of two protocols over the seeds so far."""

    mean: float
    deviation: float
    seeds: int
    trials: float | None = None
    "Trials per run, if the differences are those of shares."


def seeds_to_tell_apart(found: PairedDifferences, together: int = 1) -> int | None:
    """Return the number of seeds that would show a difference as large as observed; None above `MOST`.

    `together` is the number of comparisons that share the error of 5 % (Bonferroni).
    """
    if found.mean == 0:
        return None
    return _least(found.seeds, lambda count: _reach(found, count, together) <= abs(found.mean))


def seeds_to_show_alike(found: PairedDifferences, within: float, together: int = 1) -> int | None:
    """Return the number of seeds that would show a difference of at most `within`; None above `MOST`."""
    return _least(found.seeds, lambda count: abs(found.mean) + _reach(found, count, together) <= within)


def _reach(found: PairedDifferences, count: int, together: int) -> float:
    """Return the half-width of the interval over `count` seeds, widened for the power."""
    from scipy.special import stdtrit

    trials = nan if found.trials is None else found.trials
    of = (np.array([number], np.float64) for number in (found.mean, found.deviation, count, trials))
    lower, upper = difference_interval(*of, together=together)
    widening = 1 + float(stdtrit(count - 1, POWER)) / student(count, together)
    return float(upper[0] - lower[0]) / 2 * widening


def _least(start: int, decides: Callable[[int], bool]) -> int | None:
    """Return the least number of seeds from `start` + 1 that decides, by doubling and halving."""
    low, high = start, max(start + 1, 2)
    while not decides(high):
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high
