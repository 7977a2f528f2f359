"""Filters over the events of one type, and the relations between filters that routers need."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from roamcast.content.box import conjunction as boxes
from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.value_test import Test, compile_test
from roamcast.content.errors import ContentError, FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.field_type import Domain
from roamcast.content.schema import EventType

MAX_CONJUNCTIONS = 256
"Maximum number of conjunctions; a filter that would need more is rejected."
PIECE_LIMIT = 20_000
"Maximum number of pieces that `covers` examines before it returns False; see docs/subscriptions.md."


class Filter:
    """A disjunction of conjunctions of constraints on the fields of one event type.

    A filter is immutable and hashable; its hash is the same in every process, so that sets of filters keep
    their order from run to run. `==` compares the representation, `equivalent` compares the matched events.
    """

    __slots__ = ("_hash", "_test", "conjunctions", "type")

    type: EventType
    conjunctions: tuple[Conjunction, ...]
    _test: Test
    _hash: int

    def __init__(self, type: EventType, conjunctions: tuple[Conjunction, ...]) -> None:
        """Make a filter of sorted conjunctions; applications use `parse`, `Filter.of` or `CD.price < 20`."""
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "conjunctions", conjunctions)

    @classmethod
    def of(cls, type: EventType, alternatives: Iterable[Iterable[tuple[int, Domain]]]) -> Filter:
        """Return the disjunction of `alternatives`, each a conjunction of constraints."""
        found = {boxes.conjoin(type, constraints): None for constraints in alternatives}
        found.pop(None, None)
        return cls(type, _in_order(found))  # type: ignore[arg-type]

    @classmethod
    def everything(cls, type: EventType) -> Filter:
        """Return the filter that matches all events of `type`."""
        return cls(type, ((),))

    @classmethod
    def nothing(cls, type: EventType) -> Filter:
        """Return the filter that matches no event."""
        return cls(type, ())

    @classmethod
    def parse(cls, xpath: str, types: EventType | Mapping[str, EventType], /, **parameters: Any) -> Filter:
        """Parse a subscription in XPath with values for its `$parameters`; see docs/subscriptions.md."""
        from roamcast.content.xpath import parse

        return parse(xpath, types, parameters)

    @property
    def empty(self) -> bool:
        """Whether the filter matches no event."""
        return not self.conjunctions

    def matches(self, event: Event) -> bool:
        """Return whether the filter matches `event`."""
        if event.type is not self.type:
            return False
        try:
            test = self._test
        except AttributeError:
            test = self.test()
        return test(event.values)

    def test(self) -> Test:
        """Return a compiled function of an event's values that returns whether they match."""
        try:
            return self._test
        except AttributeError:
            test = compile_test(self.conjunctions)
            object.__setattr__(self, "_test", test)
            return test

    def covers(self, other: Filter) -> bool:
        """Return whether this filter matches every event that `other` matches; False if undecided."""
        if self is other or not other.conjunctions:
            return True
        if self.type is not other.type:
            return False
        mine = self.conjunctions
        for narrow in other.conjunctions:
            for wide in mine:
                if boxes.covers(wide, narrow, self.type):
                    break
            else:
                if len(mine) < 2 or not self._cover_together(narrow):
                    return False
        return True

    def intersects(self, other: Filter) -> bool:
        """Return whether some event matches both filters; True if undecided."""
        if self.type is not other.type:
            return False
        if len(self.conjunctions) == 1 and len(other.conjunctions) == 1:
            return boxes.intersects_jointly(self.type, self.conjunctions[0], other.conjunctions[0])
        return any(
            boxes.intersects_jointly(self.type, a, b) for a in self.conjunctions for b in other.conjunctions
        )

    def equivalent(self, other: Filter) -> bool:
        """Return whether both filters match the same events."""
        return self.covers(other) and other.covers(self)

    def merge(self, other: Filter) -> Filter:
        """Return a simplified filter that matches the events that either filter matches."""
        return (self | other).simplify()

    def simplify(self) -> Filter:
        """Return an equivalent filter with fewer conjunctions, if comparing pairs of conjunctions finds
        one.
        """
        left = list(self.conjunctions)
        changed = len(left) > 1
        while changed:
            changed = False
            kept: list[Conjunction] = []
            for one in left:
                for number, other in enumerate(kept):
                    if boxes.covers(other, one, self.type):
                        break
                    union = one if boxes.covers(one, other, self.type) else boxes.unite(self.type, one, other)
                    if union is not None:
                        kept[number] = union
                        changed = True
                        break
                else:
                    kept.append(one)
            left = kept
        return Filter(self.type, _in_order(dict.fromkeys(left)))

    def example(self) -> Event | None:
        """Return some event that matches, or None if there is none."""
        return next(self.examples(), None)

    def examples(self, usual: Mapping[int, Any] | None = None) -> Iterator[Event]:
        """Yield matching events: per conjunction one with all optional fields, then one with the fewest
        fields.

        A field has its value in `usual` (by field index) if one is given and allowed.
        """
        everything = self.type.everything
        for whole in self.conjunctions:
            conjunction = boxes.fix_compared_fields(self.type, whole) if boxes.compares(whole) else whole
            if conjunction is None:
                continue
            allowed = dict(conjunction)
            values = [allowed.get(p, everything[p]).example() for p in range(len(everything))]
            for place, value in (usual or {}).items():
                if allowed.get(place, everything[place]).has(value):
                    values[place] = value
            yield Event(self.type, tuple(values))
            least = [None if allowed.get(p, everything[p]).absent else v for p, v in enumerate(values)]
            if least != values:
                yield Event(self.type, tuple(least))

    def counterexample(self) -> Event | None:
        """Return some event of the type that does not match, or None if there is none."""
        return next(self.counterexamples(), None)

    def counterexamples(self, usual: Mapping[int, Any] | None = None) -> Iterator[Event]:
        """Yield events of the type that do not match, one or two per disjoint piece of the complement."""
        for piece in self._pieces_outside(()):
            yield from Filter(self.type, (piece,)).examples(usual)

    def to_bytes(self) -> bytes:
        """Return the compact encoding of the filter, which `from_bytes` decodes."""
        from roamcast.content.codec import encode_filter

        return encode_filter(self)

    @classmethod
    def from_bytes(cls, data: bytes, types: EventType | Mapping[str, EventType]) -> Filter:
        """Decode the output of `to_bytes`; raise `CodecError` for other bytes."""
        from roamcast.content.codec import decode_filter

        return decode_filter(data, types)

    def __and__(self, other: Filter) -> Filter:
        self._same_type(other)
        _refuse_too_many(len(self.conjunctions) * len(other.conjunctions))
        return Filter.of(self.type, (a + b for a in self.conjunctions for b in other.conjunctions))

    def __or__(self, other: Filter) -> Filter:
        self._same_type(other)
        if len(self.conjunctions) == len(other.conjunctions) == 1:
            union = boxes.unite(self.type, self.conjunctions[0], other.conjunctions[0])
            if union is not None:
                return Filter(self.type, (union,))
        _refuse_too_many(len(self.conjunctions) + len(other.conjunctions))
        return Filter(self.type, _in_order(dict.fromkeys(self.conjunctions + other.conjunctions)))

    def __invert__(self) -> Filter:
        rest = Filter.everything(self.type)
        for each in self.conjunctions:
            pieces = boxes.subtract(self.type, (), each)
            rest = (rest & Filter(self.type, tuple(pieces))).simplify()
        return rest

    def __bool__(self) -> bool:
        raise TypeError(
            "a filter has no truth value: combine filters with &, | and ~, and split a < b < c into two"
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Filter) and self.type is other.type and self.conjunctions == other.conjunctions
        )

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            digest = hashlib.blake2b(
                repr(self.conjunctions).encode(), digest_size=8, key=self.type.fingerprint
            )
            value = int.from_bytes(digest.digest(), "big") >> 3
            object.__setattr__(self, "_hash", value)
            return value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a filter is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return Filter, (self.type, self.conjunctions)

    def __str__(self) -> str:
        from roamcast.content.printer import write_filter

        return write_filter(self)

    def __repr__(self) -> str:
        return f"<Filter {self}>"

    def _same_type(self, other: object) -> None:
        if not isinstance(other, Filter):
            raise TypeError(f"a filter can be combined only with another filter, not with {other!r}")
        if self.type is not other.type:
            raise ContentError(f"filters of {self.type.name} and {other.type.name} cannot be combined")

    def _cover_together(self, narrow: Conjunction) -> bool:
        try:
            return next(self._pieces_outside(narrow), None) is None
        except ContentError:  # undecided, or a piece would need too many alternatives
            return False

    def _pieces_outside(self, whole: Conjunction) -> Iterator[Conjunction]:
        """Yield the parts of `whole` outside all conjunctions of this filter; depth first, to find one
        early.
        """
        left = [(whole, 0)]
        examined = 0
        while left:
            piece, number = left.pop()
            if number == len(self.conjunctions):
                yield piece
                continue
            examined += 1
            if examined > PIECE_LIMIT:
                raise FilterTooComplex(f"no event outside the filter was found in {PIECE_LIMIT} pieces")
            pieces = boxes.subtract(self.type, piece, self.conjunctions[number])
            left.extend((each, number + 1) for each in reversed(pieces))


def unite(type: EventType, filters: Sequence[Filter]) -> Filter:
    """Return the union of the filters; pairwise merging keeps thousands of alternatives on one field
    cheap.
    """
    parts = list(filters) or [Filter.nothing(type)]
    while len(parts) > 1:
        pairs = [parts[n].merge(parts[n + 1]) for n in range(0, len(parts) - 1, 2)]
        parts = pairs if len(parts) % 2 == 0 else [*pairs, parts[-1]]
    return parts[0]


def _refuse_too_many(count: int) -> None:
    if count > MAX_CONJUNCTIONS * MAX_CONJUNCTIONS:
        raise ContentError(f"the filter has {count} alternatives; the maximum is {MAX_CONJUNCTIONS}")


def _in_order(conjunctions: Iterable[Conjunction]) -> tuple[Conjunction, ...]:
    found = tuple(conjunctions)
    if len(found) > MAX_CONJUNCTIONS:
        raise ContentError(f"the filter has {len(found)} alternatives; the maximum is {MAX_CONJUNCTIONS}")
    return found if len(found) < 2 else tuple(sorted(found, key=repr))
