"""95 % confidence intervals over seeds, from statistics that Spark computed; see docs/statistics.md.

All functions take and return arrays with an element per number. The bounds of a number with fewer than two
seeds are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]

CONFIDENCE = 0.95

CORRELATION = 0.05
"""Assumed correlation of two trials of one run, as long as few trials are lost. Measured on runs of the
shopping district: 0.05 (CBR) to 0.35 (RAFT-CBR)."""

_GOLDEN = (5**0.5 - 1) / 2


@cache
def student(count: int, together: int = 1) -> float:
    """Return the half-width of the interval of a mean over `count` values [standard errors].

    With `together` > 1, that many intervals hold simultaneously with the confidence of one (Bonferroni).
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1 - (1 - CONFIDENCE) / 2 / together))


def _students(count: Reals, together: int = 1) -> Reals:
    return np.array([student(int(each), together) if each > 1 else np.nan for each in count], np.float64)


def interval(
    scale: npt.NDArray[np.str_], mean: Reals, deviation: Reals, count: Reals, trials: Reals
) -> tuple[Reals, Reals]:
    """Return the bounds of the interval of each mean on its scale: share, amount, difference or any.

    `trials` is the number of trials in a run (its harmonic mean over seeds) of shares and differences.
    """
    half = _students(count) * deviation / np.sqrt(count)
    lower, upper = mean - half, mean + half
    amount = (scale == "amount") & (mean > 0)
    with np.errstate(over="ignore"):
        # Student's t of the logarithm, by the delta method: no end falls below 0.
        lower[amount] = mean[amount] * np.exp(-half[amount] / mean[amount])
        upper[amount] = mean[amount] * np.exp(half[amount] / mean[amount])
    for name, of in (("share", share_interval), ("difference", difference_interval)):
        chosen = scale == name
        lower[chosen], upper[chosen] = of(mean[chosen], deviation[chosen], count[chosen], trials[chosen])
    # Rounding must not put an end on the wrong side of the mean.
    return np.minimum(lower, mean), np.maximum(upper, mean)


def share_interval(mean: Reals, deviation: Reals, count: Reals, trials: Reals) -> tuple[Reals, Reals]:
    """Return the Korn-Graubard interval of the mean of shares: Clopper-Pearson, effective sample size.

    The spread over seeds gives the design effect. With few losses (or few successes) it
    is imprecise, so it is averaged with one assumed cluster of lost trials, of the size that follows from
    `CORRELATION`.
    """
    from scipy.special import betaincinv, ndtri

    whole = count * trials
    noise = mean * (1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(noise > 0, np.maximum(deviation**2 * trials / noise, 1.0), 1.0)
        lost = whole * np.minimum(mean, 1 - mean)
        assumed = 1 + np.maximum(trials - 1, 0) * CORRELATION
        effect = np.maximum(effect, (lost + assumed) / (lost / effect + 1))
        widening = (ndtri(0.5 + CONFIDENCE / 2) / _students(count)) ** 2
        size = whole / effect * widening
        hits = mean * size
        tail = (1 - CONFIDENCE) / 2
        lower = np.where(mean > 0, betaincinv(hits, size - hits + 1, tail), 0.0)
        upper = np.where(mean < 1, betaincinv(hits + 1, size - hits, 1 - tail), 1.0)
    unknown = ~(count > 1)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


def difference_interval(
    mean: Reals, deviation: Reals, count: Reals, trials: Reals, *, together: int = 1
) -> tuple[Reals, Reals]:
    """Return Student's interval of the mean of paired differences; for shares, at least as wide as McNemar's.

    A difference of d needs at least a share d of trials that differ: McNemar's variance is d / trials or
    more. NaN trials: the numbers are no shares.
    """
    reach = _students(count, together)
    half = reach * deviation / np.sqrt(count)
    whole = count * trials
    least = reach * np.sqrt((np.abs(mean) + reach**2 / whole) / whole)
    half = np.fmax(half, np.where(np.isnan(half), np.nan, least))
    return mean - half, mean + half


def p_value(mean: float, deviation: float, count: int, trials: float | None) -> float:
    """Return the p value of a mean paired difference of zero; agrees with `difference_interval`."""
    from scipy.special import stdtr

    if count < 2 or mean == 0:
        return 1.0
    error = deviation / count**0.5
    size = abs(mean) / error if error > 0 else float("inf")
    if trials is not None:
        size = min(size, (_GOLDEN * count * trials * abs(mean)) ** 0.5)
    return 2 * float(stdtr(count - 1, -size))


def quotient_interval(
    above: Reals, below: Reals, spread: Sequence[Reals], count: Reals
) -> tuple[Reals, Reals]:
    """Return Fieller's interval of the quotient of two means over the same seeds; NaN if it is not finite.

    `spread` has the variances of numerator and denominator and their covariance over seeds.
    """
    reach = _students(count)
    of_above, of_below, common = (each * reach**2 / count for each in spread)
    square = below**2 - of_below
    middle = above * below - common
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(middle**2 - (above**2 - of_above) * square, 0.0))
        ends = (middle - root) / square, (middle + root) / square
        ours = above / below
    finite = square > 0
    return (
        np.where(finite, np.minimum(ends[0], ours), np.nan),
        np.where(finite, np.maximum(ends[1], ours), np.nan),
    )
