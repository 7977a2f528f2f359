"""Means and shares that are None of nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def mean(values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> float | None:
    """The mean, the same for every order of `values`; None of nothing."""
    return float(np.sort(values).sum() / len(values)) if len(values) else None


def divide(number: float, by: float) -> float | None:
    """The share; None of nothing."""
    return number / by if by else None
