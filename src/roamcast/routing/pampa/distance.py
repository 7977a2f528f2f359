"""How far away a sender is, by the strength of its signal: estimators by name."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt

from roamcast.routing.router import Host

FRIIS = 0.01386645232
"The paper's constant (section V.A): 0.2818 W at 914 MHz with gains of 1, in free space."


def estimator(name: str, host: Host) -> Callable[[float], float]:
    """Metres to a sender heard at so many watts; nan where nobody knows."""
    return {"inverse": host.distance, "friis": friis}[name]


def friis(signal: float) -> float:
    """The inverse of propagation in free space, whatever the propagation is."""
    if not signal >= 0:
        return nan
    return FRIIS / sqrt(signal) if signal else inf
