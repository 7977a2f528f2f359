"""Means and ratios that are None if there is nothing to divide by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def mean(values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> float | None:
    """Return the mean, independent of the order of `values`; None if there are none."""
    return float(np.sort(values).sum() / len(values)) if len(values) else None


def divide(number: float, by: float) -> float | None:
    """Return `number` divided by `by`; None if `by` is 0."""
    return number / by if by else None
