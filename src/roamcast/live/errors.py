"""The errors of live nodes that a user can cause."""

from __future__ import annotations

from roamcast.errors import UserError


class LiveError(UserError):
    """A configuration, key or state file that a live node cannot use."""


class FrameError(ValueError):
    """A datagram that is no valid frame of this network."""
