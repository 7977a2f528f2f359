"""Mobility prediction: how long a link, and so a route, will last (Lee, Su and Gerla)."""

from __future__ import annotations

import math

from roamcast.routing.odmrp.messages import LONGEST_LIFETIME, SINGLE, Motion
from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Host


def link_lifetime(a: float, b: float, v: float, w: float, reach: float) -> float:
    """Seconds until two nodes at relative position (a, b) that move apart at (v, w) are `reach` metres apart.

    0 where they are out of reach already, infinite where they keep their distance.
    """
    if a * a + b * b > reach * reach:
        return 0.0
    speed = v * v + w * w
    if speed == 0.0:
        return math.inf
    square = speed * reach * reach - (a * w - b * v) ** 2
    return max((-(a * v + b * w) + math.sqrt(max(square, 0.0))) / speed, 0.0)


class LinkExpiry:
    """What a node tells of its motion, and what it makes of what others tell."""

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._reach = parameters.prediction_range
        self._on = parameters.prediction

    def lifetime(self, motion: tuple[Motion, ...]) -> int | None:
        """Milliseconds that the way of a join request will last up to here; None where nobody predicts."""
        if not self._on or not motion:
            return None
        [told] = motion
        try:
            here, moving = self._host.position(), self._host.velocity()
        except PermissionError:
            return told.lifetime
        seconds = link_lifetime(
            told.x - here.x, told.y - here.y, told.vx - moving.x, told.vy - moving.y, self._reach
        )
        return min(told.lifetime, round(min(seconds * 1000, float(LONGEST_LIFETIME))))

    def motion(self, lifetime: int | None = None) -> tuple[Motion, ...]:
        """Return what this node tells of itself in a join request, where the scenario grants location.

        Numbers are rounded as on the wire, so that receivers compute the same whether a message travelled as
        bytes or as an object.
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
    """How long a source waits until it floods its next join request, on each of its channels or groups."""

    def __init__(self, parameters: MeshParameters) -> None:
        self._parameters = parameters
        self._least: int | None = None
        "Milliseconds that the shortest-lived route heard of since the last request will last."

    def hear(self, lifetimes: tuple[int, ...]) -> None:
        """Note what a join table tells."""
        for lifetime in lifetimes:
            if self._least is None or lifetime < self._least:
                self._least = lifetime

    def flooded(self) -> None:
        """Begin anew with a join request."""
        self._least = None

    def seconds(self) -> float:
        """The interval as things stand; the fixed one where nothing is predicted."""
        parameters = self._parameters
        if not parameters.prediction or self._least is None:
            return parameters.refresh
        return min(max(self._least / 1000, parameters.refresh_least), parameters.refresh_most)
