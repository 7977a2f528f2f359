"""Estimates of the share of events that a part of a summary admits, based on the subscriptions."""

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
"Maximum number of lookups of one string in each Bloom filter: its prefixes or its suffixes."
USUAL = 100.0
"Magnitude of a typical number."
ENOUGH = 8
"Number of bounds of a field from which on they represent the distribution of its values."
LEAST, MOST = 0.001, 0.9999

Field = tuple[bytes, int]
"Fingerprint of an event type, and a field index."


class Selectivity:
    """Estimates based on the assumption that bounds in subscriptions are distributed like the events'
    values.
    """

    def __init__(self, filters: Iterable[Filter] = ()) -> None:
        self._bounds: dict[Field, list[float]] = {}
        "Bounds of numeric fields in the subscriptions, sorted."
        self._letters: dict[Field, list[int]] = {}
        "Lengths of the strings that the subscriptions name."
        for filter in filters:
            for conjunction in filter.conjunctions:
                for place, domain in conjunction:
                    field = (filter.type.fingerprint, place)
                    if place >= PAIR:
                        continue  # the order of two fields has no value
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
        """Return a measure of what a summary admits: the sum over rows of -log(rejected share).

        With the logarithm, a small rejected share still counts if most events are admitted.
        """
        return sum(self.row(name, row) for name, rows in summary.rows.items() for row in rows)

    def loss(self, name: bytes, before: Sequence[Row], after: Row) -> float:
        """Return the increase of the measure if the rows `before` are replaced by `after`."""
        return self.row(name, after) - sum(self.row(name, row) for row in before)

    def row(self, name: bytes, row: Row) -> float:
        """Return the contribution of one row to the measure."""
        share = 1.0
        for place, part in row.items():
            share *= self.part(name, place, part)
        return -math.log1p(-min(share, MOST))

    def part(self, name: bytes, place: int, part: Part) -> float:
        """Return the share of events that a part admits."""
        named = self._bounds.get((name, place), [])
        if isinstance(part, EnumerationPart):
            width = max(part.bits.bit_length(), int(named[-1]) + 1 if named else 0, 2)
            return part.bits.bit_count() / width
        if isinstance(part, NumericPart):
            if len(named) < ENOUGH:
                inside = sum(math.atan(high / USUAL) - math.atan(low / USUAL) for low, high in part.spans)
                return min(1.0, max(inside / math.pi, LEAST))
            # A range has the bounds inside it; one between two neighbouring bounds, or a value, counts as
            # half.
            counts = (bisect_right(named, high) - bisect_left(named, low) - 1 for low, high in part.spans)
            return min(1.0, max(sum(max(count, 0.5) for count in counts) / len(named), LEAST))
        bits, hashes = part.shape.bits, part.shape.hashes
        anything = (
            (part.left, part.shape.mask(hash_prefix(""))),
            (part.right, part.shape.mask(hash_suffix(""))),
        )
        if all(
            held & mask == mask for held, mask in anything
        ):  # a lone star, or a pattern that only contains
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
