"""Relations between filters, remembered: whether one covers another, whether two can meet."""

from __future__ import annotations

from collections.abc import Iterable

from roamcast.content.filter import Filter

MEMORY = 65536


class RelationCache:
    """Relations between patterns, remembered: the same few patterns meet again at every renewal."""

    def __init__(self) -> None:
        self._covers: dict[tuple[Filter, Filter], bool] = {}
        self._intersects: dict[tuple[Filter, Filter], bool] = {}

    def covers(self, wide: Filter, narrow: Filter) -> bool:
        """Whether whatever `narrow` matches, `wide` matches too."""
        known = self._covers.get((wide, narrow))
        if known is None:
            known = wide is narrow or wide.covers(narrow)
            _keep(self._covers, (wide, narrow), known)
        return known

    def intersects(self, a: Filter, b: Filter) -> bool:
        """Whether some event could match both."""
        known = self._intersects.get((a, b))
        if known is None:
            known = a is b or a.intersects(b)
            _keep(self._intersects, (a, b), known)
        return known

    def minimal_cover(self, patterns: Iterable[Filter]) -> list[Filter]:
        """The fewest of `patterns` that together cover each of them; of equals the first.

        It is computed from what is alive at the moment of asking. Nothing remembers that a pattern was
        held back, so what a lapsed pattern covered flows again by itself.
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
