"""The summary of a set of filters: per event type (EN), rows of fields (EL) with their parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.field_order import PAIR
from roamcast.content.box.range_set import RangeSet, Span, coalesce
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.digest import EventDigest, has, letter
from roamcast.content.summary.parts import EnumerationPart, NumericPart, Part, StringPart

MAX_ROWS = 64
"Maximum number of rows of one event type; beyond it, the two most similar rows are joined."
MAX_BYTES = 1 << 16

Row = dict[int, Part]
"Parts by field index; an unlisted field is unconstrained. The keys are a row of the EL."
Key = tuple[tuple[int, int], ...]
"Rows with equal keys are joined: the fields and, for separate rows, the single listed value of a field."


class Summary:
    """The filters of a broker's subscribers in compact form; immutable.

    `kinds` has a type letter (t, e, i or d) per field of each type, so that a node can decode, test and merge
    summaries of types whose schema it does not have.
    """

    __slots__ = ("kinds", "rows", "shape")

    def __init__(
        self,
        shape: BloomShape,
        rows: Mapping[bytes, tuple[Row, ...]],
        kinds: Mapping[bytes, str],
    ) -> None:
        self.shape = shape
        self.rows = dict(rows)
        self.kinds = dict(kinds)

    @classmethod
    def of(
        cls, filters: Iterable[Filter], shape: BloomShape | None = None, *, apart: bool = False
    ) -> Summary:
        """Return the summary of some filters.

        As in the paper there is one row per set of fields. With `apart`, there is also one row per listed
        value, so that constraints for one value are not applied to another.
        """
        shape = shape or BloomShape()
        found: dict[bytes, dict[Key, Row]] = {}
        kinds: dict[bytes, str] = {}
        for filter in filters:
            if filter.empty:
                continue
            name = filter.type.fingerprint
            rows = found.setdefault(name, {})
            kinds[name] = "".join(letter(field.kind) for field in filter.type.fields)
            for conjunction in filter.conjunctions:
                row = {
                    place: _part(kinds[name][place], domain, shape)
                    for place, domain in conjunction
                    if not isinstance(domain, RecordListSet | AreaSet)  # any records and areas are admitted
                    and place < PAIR  # the order of two fields is not summarised
                }
                _put(rows, row, apart)
        limited = {name: _limited(rows) for name, rows in found.items()}
        return cls(shape, limited, kinds)

    def merge(self, other: Summary) -> Summary:
        """Return the summary of the filters of both."""
        one, other = _alike(self, other)
        if one is not self:
            return one.merge(other)
        if self.shape != other.shape:
            raise ContentError(
                f"summaries with different Bloom filters cannot be merged: {self.shape} and {other.shape}"
            )
        for name in self.kinds.keys() & other.kinds.keys():
            if self.kinds[name] != other.kinds[name]:
                raise ContentError(
                    f"the summaries disagree on the fields of {name.hex()}; they cannot be merged"
                )
        apart = self.has_separate_rows or other.has_separate_rows
        merged = {
            name: collect([*self.rows.get(name, ()), *other.rows.get(name, ())], apart)
            for name in {**self.rows, **other.rows}
        }
        return Summary(self.shape, merged, self.kinds | other.kinds)

    @property
    def has_separate_rows(self) -> bool:
        """Whether the summary has several rows of the same fields."""
        return any(len({frozenset(row) for row in rows}) < len(rows) for rows in self.rows.values())

    def admits(self, digest: EventDigest | Event) -> bool:
        """Return whether some filter may match the event; there are no false negatives."""
        if isinstance(digest, Event):
            digest = EventDigest.of(digest)
        rows = self.rows.get(digest.type)
        if not rows:
            return False
        values = digest.values
        kinds = self.kinds[digest.type]
        if len(values) != len(kinds) or not all(map(has, values, kinds)):
            return False
        return any(all(part.admits(values[place]) for place, part in row.items()) for row in rows)

    def cover(self, type: EventType) -> Filter | None:
        """Return a filter that matches at least the events of a type that the summary admits; None if there
        are none.
        """
        rows = self.rows.get(type.fingerprint)
        if not rows or self.kinds[type.fingerprint] != "".join(letter(field.kind) for field in type.fields):
            return None
        boxes = []
        for row in rows:
            box: list[tuple[int, RangeSet]] = []
            for place, part in row.items():
                spans: tuple[Span, ...] | None = None
                if isinstance(part, EnumerationPart):
                    spans = coalesce((n, n) for n in range(part.bits.bit_length()) if part.bits >> n & 1)
                elif isinstance(part, NumericPart):
                    spans = part.spans
                if spans is not None:
                    everything = type.everything[place]
                    assert isinstance(everything, RangeSet)
                    box.append((place, RangeSet(spans, part.absent).meet(everything)))
            boxes.append(box)
        return Filter.of(type, boxes)

    def folded(self) -> Summary:
        """Return the summary with Bloom filters of half the size, by combining both halves of each.

        The result equals a summary built with that size, so both can be merged.
        """
        if self.shape.bits % 2:
            raise ContentError(f"a Bloom filter of {self.shape.bits} bits cannot be folded in half")
        shape = BloomShape(self.shape.bits // 2, self.shape.hashes)
        folded = {
            name: tuple({place: _fold(part, shape) for place, part in row.items()} for row in rows)
            for name, rows in self.rows.items()
        }
        return Summary(shape, folded, self.kinds)

    def coarser(self) -> Summary:
        """Return a smaller summary that admits at least as much, with the fewest additional false
        positives.
        """
        from roamcast.content.summary.codec import length
        from roamcast.content.summary.fitting import coarsenings
        from roamcast.content.summary.selectivity import Selectivity

        weight = Selectivity().weight
        found = [(weight(each), length(each), n, each) for n, each in enumerate(coarsenings(self))]
        return min(found, key=lambda each: each[:3])[3] if found else self

    def to_bytes(self, limit: int = MAX_BYTES) -> bytes:
        """Return the encoding of the summary, coarsened until it takes at most `limit` bytes."""
        from roamcast.content.summary.codec import encode
        from roamcast.content.summary.fitting import fit

        return encode(fit(self, limit))

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """Decode the output of `to_bytes`; raise `CodecError` for other bytes."""
        from roamcast.content.summary.codec import decode

        return decode(data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and (self.shape, self.rows, self.kinds) == (
            other.shape,
            other.rows,
            other.kinds,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{name.hex()}: {len(rows)} rows" for name, rows in self.rows.items())
        return f"<Summary {counts or 'of nothing'}>"


def _part(kind: str, domain: Any, shape: BloomShape) -> Part:
    if kind == "t":
        return StringPart.of(domain, shape)
    return EnumerationPart.of(domain) if kind == "e" else NumericPart.of(domain)


def _alike(one: Summary, other: Summary) -> tuple[Summary, Summary]:
    """Return both summaries with the larger Bloom filters folded to the smaller size, if possible."""
    small, large = sorted((one.shape.bits, other.shape.bits))
    halvings = (large // small).bit_length() - 1
    if one.shape.hashes != other.shape.hashes or small << halvings != large:
        return one, other
    for _ in range(halvings):
        if one.shape.bits == large:
            one = one.folded()
        else:
            other = other.folded()
        large //= 2
    return one, other


def _fold(part: Part, shape: BloomShape) -> Part:
    if not isinstance(part, StringPart):
        return part
    low = (1 << shape.bits) - 1
    left, right, words = (bits & low | bits >> shape.bits for bits in (part.left, part.right, part.words))
    return StringPart(shape, left, right, words, part.absent, part.roles)


def _key(row: Row, apart: bool) -> Key:
    single = (
        part.bits if apart and isinstance(part, EnumerationPart) and part.bits.bit_count() == 1 else 0
        for part in row.values()
    )
    return tuple(sorted(zip(row, single, strict=True)))


def _put(rows: dict[Key, Row], row: Row, apart: bool) -> None:
    """Add a row, or join it with the row of the same key (elimination of redundant rows of the EL)."""
    key = _key(row, apart)
    known = rows.get(key)
    rows[key] = row if known is None else join_rows(known, row)


def join_rows(one: Row, other: Row) -> Row:
    """Return a row with the fields that both rows constrain, each with the union of both parts."""
    return {place: part.merge(other[place]) for place, part in one.items() if place in other}  # type: ignore[arg-type]


def collect(rows: Iterable[Row], apart: bool) -> tuple[Row, ...]:
    """Return the rows in a fixed order, with rows of equal keys joined."""
    found: dict[Key, Row] = {}
    for row in rows:
        _put(found, row, apart)
    return _limited(found)


def _limited(rows: dict[Key, Row]) -> tuple[Row, ...]:
    """Return at most `MAX_ROWS` rows in a fixed order, by joining the most similar ones."""
    apart = any(value for key in rows for _, value in key)
    while len(rows) > MAX_ROWS:
        order = sorted(rows)
        sets = [frozenset(place for place, _ in key) for key in order]
        pairs = (
            (len(a & b) - max(len(a), len(b)), len({*order[n]} & {*order[m]}), n, m)
            for n, a in enumerate(sets)
            for m, b in enumerate(sets[:n])
        )
        *_, n, m = max(pairs)
        row = join_rows(rows.pop(order[n]), rows.pop(order[m]))
        _put(rows, row, apart)
    return tuple(dict(sorted(rows[key].items())) for key in sorted(rows))
