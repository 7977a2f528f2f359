"""Errors of the testbed."""

from __future__ import annotations

from roamcast.errors import UserError


class TestbedError(UserError):
    """A scenario or a run that the testbed cannot do."""
