"""The parts of a summary for one field of one row: EC, AC and SC."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import TypeAlias

import msgspec

from roamcast.content.box.glob import CASELESS, Glob, begins, ends, variants
from roamcast.content.box.range_set import RangeSet, Span, coalesce, thin
from roamcast.content.box.string_set import StringSet
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.digest import DigestValue, StringDigest, hash_prefix, hash_suffix, hash_whole

MAX_SPANS = 16
"Maximum number of sub-ranges of one field; beyond it, the closest ones are joined."

MAX_SPELLINGS = 64
"Maximum number of spellings of a case-insensitive word; beyond it, the part admits any text."


class EnumerationPart(msgspec.Struct, frozen=True):
    """EC: a bit per listed value that some subscription allows."""

    bits: int
    absent: bool = False

    @classmethod
    def of(cls, domain: RangeSet) -> EnumerationPart:
        """Return the part for a constraint."""
        places = [place for low, high in domain.spans for place in range(int(low), int(high) + 1)]
        return cls(sum(1 << place for place in places), domain.absent)

    def merge(self, other: EnumerationPart) -> EnumerationPart:
        """Return the union of both parts."""
        return EnumerationPart(self.bits | other.bits, self.absent or other.absent)

    def admits(self, value: DigestValue) -> bool:
        """Return whether some subscription may allow the value at a position."""
        if value is None:
            return self.absent
        return isinstance(value, int) and value >= 0 and bool(self.bits >> value & 1)


class NumericPart(msgspec.Struct, frozen=True):
    """AC: disjoint sub-ranges, and single values outside them."""

    spans: tuple[Span, ...]
    absent: bool = False

    @classmethod
    def of(cls, domain: RangeSet) -> NumericPart:
        """Return the part for a constraint."""
        return cls(thin(domain.spans, MAX_SPANS), domain.absent)

    def merge(self, other: NumericPart) -> NumericPart:
        """Return the union of both parts."""
        return NumericPart(thin(coalesce(self.spans + other.spans), MAX_SPANS), self.absent or other.absent)

    def admits(self, value: DigestValue) -> bool:
        """Return whether some subscription may allow a number."""
        if value is None:
            return self.absent
        if isinstance(value, StringDigest):
            return False
        return any(low <= value <= high for low, high in self.spans)


PREFIXES, SUFFIXES, WHOLES = 1, 2, 4
"Roles of the words in a string part; a role without words is not looked up, to avoid false positives."


class StringPart(msgspec.Struct, frozen=True):
    """SC: three Bloom filters, for the text left of a star, right of a star, and for words.

    The words are whole strings, prefixes and suffixes.
    """

    shape: BloomShape
    left: int = 0
    right: int = 0
    words: int = 0
    absent: bool = False
    roles: int = 0
    "The roles (PREFIXES, SUFFIXES, WHOLES) that occur among the words."

    @classmethod
    def of(cls, domain: StringSet, shape: BloomShape) -> StringPart:
        """Return the part for a constraint."""
        if domain.values is not None:
            words = _union(shape, (hash_whole(value) for value in domain.values))
            return cls(shape, words=words, absent=domain.absent, roles=WHOLES if words else 0)
        # One pattern is enough to avoid false negatives; the longest one gives the fewest false positives.
        spellings = min(filter(None, map(_spellings, domain.like)), key=len, default=None)
        if spellings is not None:
            words = _union(shape, map(hash_whole, spellings))
            return cls(shape, words=words, absent=domain.absent, roles=WHOLES)
        glob: Glob = max(domain.like, key=lambda g: (len(begins(g)) + len(ends(g)), g), default=("", ""))
        first, last = begins(glob), ends(glob)
        if first and not last:
            words = shape.mask(hash_prefix(first))
            return cls(shape, words=words, absent=domain.absent, roles=PREFIXES)
        if last and not first:
            words = shape.mask(hash_suffix(last))
            return cls(shape, words=words, absent=domain.absent, roles=SUFFIXES)
        left, right = shape.mask(hash_prefix(first)), shape.mask(hash_suffix(last))
        return cls(shape, left, right, absent=domain.absent)

    def merge(self, other: StringPart) -> StringPart:
        """Return the union of both parts."""
        return StringPart(
            self.shape,
            self.left | other.left,
            self.right | other.right,
            self.words | other.words,
            self.absent or other.absent,
            self.roles | other.roles,
        )

    def admits(self, value: DigestValue) -> bool:
        """Return whether some subscription may allow a string."""
        if value is None:
            return self.absent
        if not isinstance(value, StringDigest):
            return False
        left, right, whole = value.masks(self.shape)
        words = [mask for role, masks in ((WHOLES, whole), (PREFIXES, left), (SUFFIXES, right))
                 if self.roles & role for mask in masks]  # fmt: skip
        return any(self.words & mask == mask for mask in words) or (
            any(self.left & mask == mask for mask in left)
            and any(self.right & mask == mask for mask in right)
        )


Part: TypeAlias = EnumerationPart | NumericPart | StringPart


def _spellings(glob: Glob) -> list[str] | None:
    """Return all spellings of a case-insensitive word, or None if there are too many."""
    if glob[0] != CASELESS or len(glob) != 2:
        return None
    forms = [variants(letter) for letter in glob[1]]
    if math.prod(map(len, forms)) > MAX_SPELLINGS:
        return None
    return ["".join(letters) for letters in product(*forms)]


def _union(shape: BloomShape, hashes: Iterable[int]) -> int:
    bits = 0
    for hashed in hashes:
        bits |= shape.mask(hashed)
    return bits
