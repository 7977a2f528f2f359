"""Events: typed, immutable, hashable values."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True):
    """What is said: the name of its type and its attributes."""

    type: str
    values: tuple[tuple[str, Any], ...] = ()

    def get(self, name: str) -> Any:
        """The value of attribute `name`, or None."""
        for key, value in self.values:
            if key == name:
                return value
        return None
