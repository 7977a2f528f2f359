"""Mobility prediction: the expected lifetimes of links and routes (Lee, Su and Gerla)."""

from __future__ import annotations

import math

from roamcast.routing.odmrp.messages import LONGEST_LIFETIME, SINGLE, Motion
from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Host


def link_lifetime(a: float, b: float, v: float, w: float, reach: float) -> float:
    """Return the time [s] until two nodes are `reach` [m] apart.

    The nodes are at relative position (a, b) [m] and move at relative velocity (v, w) [m/s]. The result is 0
    if they are already farther apart, and infinite if their relative velocity is 0.
    """
    if a * a + b * b > reach * reach:
        return 0.0
    speed = v * v + w * w
    if speed == 0.0:
        return math.inf
    square = speed * reach * reach - (a * w - b * v) ** 2
    return max((-(a * v + b * w) + math.sqrt(max(square, 0.0))) / speed, 0.0)


class LinkExpiry:
    """Mobility prediction of one node: its own motion, and the lifetimes of links to its neighbours."""

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._reach = parameters.prediction_range
        self._on = parameters.prediction

    def lifetime(self, motion: tuple[Motion, ...]) -> int | None:
        """Return the predicted lifetime of a join request's path so far [ms]; None without prediction."""
        if not self._on or not motion:
            return None
        [sender] = motion
        try:
            here, moving = self._host.position(), self._host.velocity()
        except PermissionError:
            return sender.lifetime
        seconds = link_lifetime(
            sender.x - here.x, sender.y - here.y, sender.vx - moving.x, sender.vy - moving.y, self._reach
        )
        return min(sender.lifetime, round(min(seconds * 1000, float(LONGEST_LIFETIME))))

    def motion(self, lifetime: int | None = None) -> tuple[Motion, ...]:
        """Return this node's motion for a join request; empty if the scenario does not grant location.

        Numbers are rounded as on the wire, so that receivers compute the same result whether a message was
        encoded or passed as an object.
        """
        if not self._on:
            return ()
        try:
            here, moving = self._host.position(), self._host.velocity()
        except PermissionError:
            return ()
        least = LONGEST_LIFETIME if lifetime is None else lifetime
        x, y, vx, vy = (SINGLE.nearest(value) for value in (*here, *moving))
        return (Motion(x, y, vx, vy, least),)


class RefreshInterval:
    """The interval between the join requests of a source, fixed or adapted to predicted route lifetimes."""

    def __init__(self, parameters: MeshParameters) -> None:
        self._parameters = parameters
        self._least: int | None = None
        "Shortest route lifetime that join tables have reported since the last join request [ms]."

    def hear(self, lifetimes: tuple[int, ...]) -> None:
        """Record the route lifetimes of a join table [ms]."""
        for lifetime in lifetimes:
            if self._least is None or lifetime < self._least:
                self._least = lifetime

    def flooded(self) -> None:
        """Discard the recorded lifetimes after a join request."""
        self._least = None

    def seconds(self) -> float:
        """Return the current interval [s]; it is `refresh` if no lifetime was predicted."""
        parameters = self._parameters
        if not parameters.prediction or self._least is None:
            return parameters.refresh
        return min(max(self._least / 1000, parameters.refresh_least), parameters.refresh_most)
