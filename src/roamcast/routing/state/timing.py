"""Random phase and jitter: what keeps neighbours from speaking at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast.routing.router import Host, Timer


def call_within(host: Host, span: float, action: Callable[..., object], *args: Any) -> Timer:
    """Call `action(*args)` at a random moment of the next `span` seconds."""
    return host.call_later(host.random.random() * span, action, *args)


def call_every(host: Host, period: float, action: Callable[[], object]) -> None:
    """Call `action()` every `period` seconds for ever, beginning at a random phase."""

    def tick() -> None:
        host.call_later(period, tick)
        action()

    call_within(host, period, tick)
