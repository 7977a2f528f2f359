"""Filters: what a subscriber wants, as a predicate on events."""

from __future__ import annotations

from typing import Any

import msgspec

from roamcast.content.event import Event


class Filter(msgspec.Struct, frozen=True):
    """A conjunction of equalities on the attributes of one event type."""

    type: str
    equal: tuple[tuple[str, Any], ...] = ()

    def matches(self, event: Event) -> bool:
        """Whether a subscriber with this filter wants `event`."""
        return event.type == self.type and all(event.get(name) == value for name, value in self.equal)
