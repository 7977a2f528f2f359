"""Selectivity: what share of events a part of a summary lets through, as far as subscriptions tell."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from statistics import fmean

from roamcast.content.box.field_order import PAIR
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.filter import Filter
from roamcast.content.summary.digest import AFFIX, hash_prefix, hash_suffix
from roamcast.content.summary.parts import PREFIXES, SUFFIXES, WHOLES, EnumerationPart, NumericPart, Part
from roamcast.content.summary.summary import Row, Summary

LOOKUPS = AFFIX + 1
"Look-ups in each Bloom filter that the string of an event makes at most: its beginnings, or its endings."
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
        self._letters: dict[Field, list[int]] = {}
        "Of strings, how long the words are that somebody named."
        for filter in filters:
            for conjunction in filter.conjunctions:
                for place, domain in conjunction:
                    field = (filter.type.fingerprint, place)
                    if place >= PAIR:
                        continue  # the order of two fields tells no value
                    if isinstance(domain, RangeSet):
                        self._note(field, domain, filter.type.everything[place])
                    elif isinstance(domain, StringSet):
                        self._letters.setdefault(field, []).extend(map(len, domain.values or ()))
        for named in self._bounds.values():
            named.sort()

    def _note(self, field: Field, domain: RangeSet, everything: object) -> None:
        ends = (
            {end for span in everything.spans for end in span} if isinstance(everything, RangeSet) else set()
        )
        named = self._bounds.setdefault(field, [])
        named += (end for span in domain.spans for end in set(span) if end not in ends)

    def weight(self, summary: Summary) -> float:
        """What a summary admits, as a sum over rows that is small where events are told apart.

        Of each row the logarithm of what it keeps out counts: when most events are wanted anyway, what little
        is not matters as much.
        """
        return sum(self.row(name, row) for name, rows in summary.rows.items() for row in rows)

    def loss(self, name: bytes, before: Sequence[Row], after: Row) -> float:
        """How much more some rows let in, for themselves, if they become one."""
        return self.row(name, after) - sum(self.row(name, row) for row in before)

    def row(self, name: bytes, row: Row) -> float:
        """What a row adds to it."""
        share = 1.0
        for place, part in row.items():
            share *= self.part(name, place, part)
        return -math.log1p(-min(share, MOST))

    def part(self, name: bytes, place: int, part: Part) -> float:
        """What share a part lets through."""
        named = self._bounds.get((name, place), [])
        if isinstance(part, EnumerationPart):
            width = max(part.bits.bit_length(), int(named[-1]) + 1 if named else 0, 2)
            return part.bits.bit_count() / width
        if isinstance(part, NumericPart):
            if len(named) < ENOUGH:
                inside = sum(math.atan(high / USUAL) - math.atan(low / USUAL) for low, high in part.spans)
                return min(1.0, max(inside / math.pi, LEAST))
            # A range has what lies between its bounds; one between two neighbours, or a value, half of that.
            counts = (bisect_right(named, high) - bisect_left(named, low) - 1 for low, high in part.spans)
            return min(1.0, max(sum(max(count, 0.5) for count in counts) / len(named), LEAST))
        bits, hashes = part.shape.bits, part.shape.hashes
        anything = (
            (part.left, part.shape.mask(hash_prefix(""))),
            (part.right, part.shape.mask(hash_suffix(""))),
        )
        if all(held & mask == mask for held, mask in anything):  # a star alone, or what only contains
            return 1.0
        letters = self._letters.get((name, place))
        affixes = min(fmean(letters) + 1, LOOKUPS) if letters else LOOKUPS
        looked_up = ((WHOLES, 1), (PREFIXES, affixes), (SUFFIXES, affixes))
        among_words = sum(often for role, often in looked_up if part.roles & role)
        left, right, words = (
            1 - (1 - (mask.bit_count() / bits) ** hashes) ** often if mask else 0.0
            for mask, often in ((part.left, affixes), (part.right, affixes), (part.words, among_words))
        )
        return min(1.0, max(1 - (1 - words) * (1 - left * right), 1e-6))
