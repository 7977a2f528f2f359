"""Renewal of a node's subscription: periodically, when it changes, and when routes break."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from roamcast.routing.router import Host, Timer
from roamcast.routing.state.serials import SERIALS, following, is_newer
from roamcast.routing.tpsr.parameters import TpsrParameters


class Renewal:
    """Schedules renewals; calls `send` with the serial, which returns whether there is a subscription to
    renew."""

    def __init__(self, host: Host, parameters: TpsrParameters, send: Callable[[int], bool]) -> None:
        self._host = host
        self._period = parameters.renew
        self._send = send
        self._serial = (host.incarnation << 24) % SERIALS
        self._last = -inf
        self._timer: Timer | None = None
        self._changed: Timer | None = None

    def on_change(self) -> None:
        """Renew at once because the interests have changed; simultaneous changes are sent together."""
        if self._changed is None or not self._changed.active:
            self._changed = self._host.call_later(0.0, self._renew)

    def request_renewal(self, gap: float) -> None:
        """Renew because a route is broken or fragile, unless the last renewal was less than `gap` seconds
        ago."""
        if self._timer is not None and self._host.now() - self._last >= gap:
            self._renew()

    def on_own_serial(self, serial: int, gap: float) -> None:
        """Exceed a serial that another node sent in this node's name, or the next renewals would be
        ignored."""
        if is_newer(serial, self._serial):
            self._serial = serial
            self.request_renewal(gap)

    def _renew(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._serial = following(self._serial)
        self._last = self._host.now()
        if self._send(self._serial):
            wait = self._period * (1 - 0.1 * self._host.random.random())
            self._timer = self._host.call_later(wait, self._renew)
