"""Delay functions of PAMPA, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from roamcast.routing.pampa.parameters import PampaParameters

Delay: TypeAlias = Callable[[float, float], float]
"(distance [m], signal [W]) -> delay [s]; the distance is at most the range if it is clamped."


def delay_function(parameters: PampaParameters) -> Delay:
    """Return the delay function that the parameters select."""
    return {"far-first": far_first, "signal": by_signal, "target": by_target}[parameters.delay](parameters)


def far_first(parameters: PampaParameters) -> Delay:
    """Return a delay that decreases linearly with distance, to 0 at the range.

    The paper's formula is del(d) = k' x d, by which near nodes would repeat first; that contradicts its text.
    """
    longest, range = parameters.max_delay, parameters.range
    return lambda distance, signal: longest * max(0.0, 1 - distance / range)


def by_signal(parameters: PampaParameters) -> Delay:
    """Return the delay of the original PAMPA, del(RSSI) = k x RSSI, limited to the maximum delay."""
    longest, k = parameters.max_delay, parameters.max_delay / parameters.strong_signal
    return lambda distance, signal: min(longest, k * signal)


def by_target(parameters: PampaParameters) -> Delay:
    """Return equation 1: 0 at the target distance, and the maximum delay at the sender and at the range.

    If the target equals 0 or the range, the empty side is omitted.
    """
    longest, range, target = parameters.max_delay, parameters.range, parameters.target
    outer = range * range - target * target

    def wait(distance: float, signal: float) -> float:
        if distance < target:
            return longest * (1 - (distance / target) ** 2)
        # (-1 + (d / d_t)^2) / ((d_max / d_t)^2 - 1) with both sides times d_t^2, so that d_t may be 0.
        return longest * (distance * distance - target * target) / outer if outer else 0.0

    return wait
