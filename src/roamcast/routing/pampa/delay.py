"""How long a node waits before it repeats what it heard: delay functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from roamcast.routing.pampa.parameters import PampaParameters

Delay: TypeAlias = Callable[[float, float], float]
"Seconds to wait by distance and signal; the distance is between 0 and the range."


def delay_function(parameters: PampaParameters) -> Delay:
    """The delay function that the parameters name."""
    return {"far-first": far_first, "signal": by_signal, "target": by_target}[parameters.delay](parameters)


def far_first(parameters: PampaParameters) -> Delay:
    """The farther the sooner, down to nothing at the range.

    The paper writes del(d) = k' x d, which has the near ones speak first and so contradicts its own text.
    """
    longest, range = parameters.max_delay, parameters.range
    return lambda distance, signal: longest * (1 - distance / range)


def by_signal(parameters: PampaParameters) -> Delay:
    """PAMPA as it was proposed, del(RSSI) = k x RSSI, up to the longest wait."""
    longest, k = parameters.max_delay, parameters.max_delay / parameters.strong_signal
    return lambda distance, signal: min(longest, k * signal)


def by_target(parameters: PampaParameters) -> Delay:
    """Equation 1: nothing at the target distance, the longest wait at the sender and at the range.

    Where the target is the sender or the range itself, the side that has no room is left out.
    """
    longest, range, target = parameters.max_delay, parameters.range, parameters.target
    room = range * range - target * target

    def wait(distance: float, signal: float) -> float:
        if distance < target:
            return longest * (1 - (distance / target) ** 2)
        # (-1 + (d / d_t)^2) / ((d_max / d_t)^2 - 1) with both sides times d_t^2, so that d_t may be 0.
        return longest * (distance * distance - target * target) / room if room else 0.0

    return wait
