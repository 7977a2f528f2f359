"""Estimation of the distance to a sender from the received signal."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt

from roamcast.routing.router import Host

FRIIS = 0.01386645232
"The paper's constant (section V.A): 0.2818 W at 914 MHz with gains of 1, in free space."


def estimator(name: str, host: Host) -> Callable[[float], float]:
    """Return the estimator `name`: received signal [W] -> distance [m]; nan if unknown."""
    return {"inverse": host.distance, "friis": friis}[name]


def friis(signal: float) -> float:
    """Return the distance [m] by free-space propagation, regardless of the scenario's model."""
    if not signal >= 0:
        return nan
    return FRIIS / sqrt(signal) if signal else inf
