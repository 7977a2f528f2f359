"""A cache of the relations covering and intersection between filters."""

from __future__ import annotations

from collections.abc import Iterable

from roamcast.content.filter import Filter

MEMORY = 65536


class RelationCache:
    """A cache of relations between filters: the same few filters are compared again at every renewal."""

    def __init__(self) -> None:
        self._covers: dict[tuple[Filter, Filter], bool] = {}
        self._intersects: dict[tuple[Filter, Filter], bool] = {}

    def covers(self, wide: Filter, narrow: Filter) -> bool:
        """Return whether `wide` matches every event that `narrow` matches."""
        known = self._covers.get((wide, narrow))
        if known is None:
            known = wide is narrow or wide.covers(narrow)
            _keep(self._covers, (wide, narrow), known)
        return known

    def intersects(self, a: Filter, b: Filter) -> bool:
        """Return whether some event may match both filters."""
        known = self._intersects.get((a, b))
        if known is None:
            known = a is b or a.intersects(b)
            _keep(self._intersects, (a, b), known)
        return known

    def minimal_cover(self, patterns: Iterable[Filter]) -> list[Filter]:
        """Return the fewest of `patterns` that together cover each of them; of equivalent ones the first.

        The result depends only on `patterns`. No state records that a filter was suppressed, so a filter that
        an expired one covered is forwarded again without further action.
        """
        kept: list[Filter] = []
        for pattern in dict.fromkeys(patterns):
            if any(self.covers(other, pattern) for other in kept):
                continue
            kept = [other for other in kept if not self.covers(pattern, other)]
            kept.append(pattern)
        return kept


def _keep(memory: dict[tuple[Filter, Filter], bool], key: tuple[Filter, Filter], value: bool) -> None:
    if len(memory) >= MEMORY:
        memory.clear()
    memory[key] = value
