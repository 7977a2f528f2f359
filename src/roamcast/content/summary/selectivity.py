"""Selectivity: what share of events a part of a summary lets through, as far as subscriptions tell."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from roamcast.content.box.ranges import Ranges
from roamcast.content.filter import Filter
from roamcast.content.summary.parts import Arithmetic, Enumerated, Part
from roamcast.content.summary.summary import Row, Summary

LOOKUPS = 17
"Look-ups in each Bloom filter that the string of a usual event makes: its beginnings, or its endings."
USUAL = 100.0
"The size of a usual number."
ENOUGH = 8
"Bounds of a field from which on they tell where its values lie."
LEAST, MOST = 0.001, 0.9999

Field = tuple[bytes, int]
"An event type, and a field's place."


class Selectivity:
    """What subscriptions tell of events: people name bounds where values are, and values that there are."""

    def __init__(self, filters: Iterable[Filter] = ()) -> None:
        self._bounds: dict[Field, list[float]] = {}
        "Of numbers, what somebody named, in order."
        for filter in filters:
            for conjunction in filter.conjunctions:
                for place, domain in conjunction:
                    if isinstance(domain, Ranges):
                        self._note((filter.type.fingerprint, place), domain, filter.type.everything[place])
        for named in self._bounds.values():
            named.sort()

    def _note(self, field: Field, domain: Ranges, everything: object) -> None:
        ends = {end for span in everything.spans for end in span} if isinstance(everything, Ranges) else set()
        named = self._bounds.setdefault(field, [])
        named += (end for span in domain.spans for end in set(span) if end not in ends)

    def weight(self, summary: Summary) -> float:
        """What a summary admits, as a sum over rows that is small where events are told apart.

        Of each row the logarithm of what it keeps out counts: when most events are wanted anyway, what little
        is not matters as much.
        """
        return sum(self.row(name, row) for name, rows in summary.rows.items() for row in rows)

    def row(self, name: bytes, row: Row) -> float:
        """What a row adds to it."""
        share = 1.0
        for place, part in row.items():
            share *= self.part(name, place, part)
        return -math.log1p(-min(share, MOST))

    def part(self, name: bytes, place: int, part: Part) -> float:
        """What share a part lets through."""
        named = self._bounds.get((name, place), [])
        if isinstance(part, Enumerated):
            width = max(part.bits.bit_length(), int(named[-1]) + 1 if named else 0, 2)
            return part.bits.bit_count() / width
        if isinstance(part, Arithmetic):
            if len(named) < ENOUGH:
                inside = sum(math.atan(high / USUAL) - math.atan(low / USUAL) for low, high in part.spans)
                return min(1.0, max(inside / math.pi, LEAST))
            # A range has what lies between its bounds; one between two neighbours, or a value, half of that.
            counts = (bisect_right(named, high) - bisect_left(named, low) - 1 for low, high in part.spans)
            return min(1.0, max(sum(max(count, 0.5) for count in counts) / len(named), LEAST))
        bits, hashes = part.shape.bits, part.shape.hashes
        left, right, words = (
            1 - (1 - (mask.bit_count() / bits) ** hashes) ** often if mask else 0.0
            for mask, often in ((part.left, LOOKUPS), (part.right, LOOKUPS), (part.words, 2 * LOOKUPS + 1))
        )
        return min(1.0, max(1 - (1 - words) * (1 - left * right), 1e-6))
