"""Timers with random phase and jitter, which keep neighbours from transmitting simultaneously."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast.routing.router import Host, Timer


def call_within(host: Host, span: float, action: Callable[..., object], *args: Any) -> Timer:
    """Call `action(*args)` after a uniformly random delay of up to `span` seconds."""
    return host.call_later(host.random.random() * span, action, *args)


def call_every(host: Host, period: float, action: Callable[[], object]) -> None:
    """Call `action()` every `period` seconds without end, starting at a random phase."""

    def tick() -> None:
        host.call_later(period, tick)
        action()

    call_within(host, period, tick)
