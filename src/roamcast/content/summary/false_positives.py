"""Generated events that no subscription matches, which measure the false positives of summaries.

Numbers lie near the bounds in subscriptions, and listed values are equally frequent. A string is one that
subscriptions name, as often as they name it, or an unknown one, as often as a string is named only once (the
Good-Turing estimate). Values come from a low-discrepancy sequence, so that every node generates the same
events.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast.content.box.field_order import PAIR
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.parts import EnumerationPart, NumericPart, Part, StringPart
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.summary.summary import Row, Summary

DRAWN = 8192
KEPT = 512
NOBODY = 1e-4
"A rejected share below this counts as zero."
FEW = 16
"With fewer non-matching events than this, all generated events count."

Shares = npt.NDArray[np.float64]
"Probability that each event of the sample is admitted."


class SampleColumn:
    """One field of all generated events: numbers, or indices of named strings."""

    def __init__(self, values: Shares, named: tuple[StringSet, ...] = ()) -> None:
        self.values = values
        self.named = named

    def chosen(self, which: npt.NDArray[np.bool_]) -> SampleColumn:
        """Return the field for the selected events, at most `KEPT` of them."""
        return SampleColumn(self.values[which][:KEPT], self.named)

    def inside(self, domain: RangeSet | StringSet) -> npt.NDArray[np.bool_]:
        """Return which events satisfy a constraint on the field."""
        if isinstance(domain, RangeSet):
            return _within(self.values, domain.spans)
        return self.among(_meets(domain, each) for each in self.named)

    def among(self, hits: Iterable[bool]) -> npt.NDArray[np.bool_]:
        """Return which events have a named string that is a hit; the last index stands for unknown
        strings.
        """
        return np.array([*hits, False])[self.values.astype(np.int64)]


class FalsePositiveSample:
    """Measures the share of non-matching events that a summary of some filters admits."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._selectivity = Selectivity(filters)
        self._columns: dict[bytes, dict[int, SampleColumn]] = {}
        "By event type and field."
        self._rows: dict[tuple[Any, ...], tuple[Shares, Row]] = {}
        "By identity of the parts; the row is kept so that the identities stay valid."
        by_type: dict[EventType, list[Filter]] = {}
        for filter in filters:
            by_type.setdefault(filter.type, []).append(filter)
        for type, own in by_type.items():
            self._columns[type.fingerprint] = _draw(type, own)

    def weight(self, summary: Summary) -> float:
        """Return the sum over event types of the negative logarithm of the rejected share.

        With the logarithm, losing half of the rejected share costs the same at any level.
        """
        kept_out = (float(self._kept_out(name, rows).mean()) for name, rows in summary.rows.items())
        return sum(-math.log(max(share, NOBODY)) for share in kept_out)

    def loss(self, name: bytes, before: Sequence[Row], after: Row) -> float:
        """Return the increase of the admitted share if the rows `before` are replaced by `after`."""
        return float(self._kept_out(name, before).mean() - (1 - self._shares(name, after)).mean())

    def _kept_out(self, name: bytes, rows: Iterable[Row]) -> Shares:
        found = np.ones(1)
        for row in rows:
            found = found * (1 - self._shares(name, row))
        return found

    def _shares(self, name: bytes, row: Row) -> Shares:
        """Return the probability that a row admits each event of the sample."""
        key = (name, *((place, id(part)) for place, part in row.items()))
        held = self._rows.get(key)
        if held is None:
            columns = self._columns.get(name, {})
            found = np.ones(1)
            for place, part in row.items():
                found = found * self._part(name, place, part, columns.get(place))
            held = self._rows[key] = (found, row)
        return held[0]

    def _part(self, name: bytes, place: int, part: Part, column: SampleColumn | None) -> Shares:
        if column is None:
            return np.array([self._selectivity.part(name, place, part)])
        if isinstance(part, EnumerationPart):
            listed = [(n, n) for n in range(part.bits.bit_length()) if part.bits >> n & 1]
            return _within(column.values, listed).astype(np.float64)
        if isinstance(part, NumericPart):
            return _within(column.values, part.spans).astype(np.float64)
        known = column.among(_holds(part, _hashed(each, part.shape)) for each in column.named)
        return np.where(known, 1.0, self._selectivity.part(name, place, part))


@lru_cache(maxsize=1 << 14)
def _hashed(named: StringSet, shape: BloomShape) -> StringPart:
    return StringPart.of(named, shape)


def _holds(part: StringPart, named: StringPart) -> bool:
    return (
        part.left & named.left == named.left
        and part.right & named.right == named.right
        and part.words & named.words == named.words
    )


def _meets(domain: StringSet, named: StringSet) -> bool:
    if domain.values is None or named.values is None:
        return domain == named
    return named.values[0] in domain.values


def _within(values: Shares, spans: Iterable[tuple[float, float]]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(len(values), dtype=bool)
    for low, high in spans:
        inside |= (values >= low) & (values <= high)
    return inside


def _draw(type: EventType, filters: Sequence[Filter]) -> dict[int, SampleColumn]:
    """Return columns of generated events of a type that no filter matches."""
    bounds: dict[int, set[float]] = {}
    words: dict[int, Counter[StringSet]] = {}
    for filter in filters:
        for box in filter.conjunctions:
            for place, domain in box:
                if place < PAIR and isinstance(domain, RangeSet):
                    ends = {float(end) for span in domain.spans for end in span}
                    bounds.setdefault(place, set()).update(ends)
                elif isinstance(domain, StringSet):
                    values = domain.values
                    each = [domain] if values is None else [StringSet((word,)) for word in values]
                    words.setdefault(place, Counter()).update(each)
    places = sorted({*bounds, *words})
    columns: dict[int, SampleColumn] = {}
    for place, step in zip(places, _steps(len(places)), strict=True):
        even: Shares = np.arange(1, DRAWN + 1, dtype=np.float64) * step % 1.0
        if place in words:
            columns[place] = _name(words[place], even)
        else:
            columns[place] = SampleColumn(_spread(type, place, sorted(bounds[place]), even))
    wanted = np.zeros(DRAWN, dtype=bool)
    for box in {box for filter in filters for box in filter.conjunctions}:
        if all(place in columns for place, _ in box):
            inside = np.ones(DRAWN, dtype=bool)
            for place, domain in box:
                inside &= columns[place].inside(domain)  # type: ignore[arg-type]
            wanted |= inside
    if DRAWN - wanted.sum() < FEW:
        wanted[:] = False
    return {place: column.chosen(~wanted) for place, column in columns.items()}


def _name(named: Counter[StringSet], even: Shares) -> SampleColumn:
    """Return strings as often as they are named, and an unknown one as often as strings are named once."""
    texts, counts = tuple(named), np.array(list(named.values()))
    often = int(counts.sum()) or 1
    fresh = int((counts == 1).sum()) / often
    shares = np.cumsum(counts / often * (1 - fresh))
    return SampleColumn(np.searchsorted(shares, even, side="right").astype(np.float64), texts)


def _spread(type: EventType, place: int, bounds: list[float], even: Shares) -> Shares:
    """Map uniform numbers in 0..1 to values of a field: listed ones, or numbers near the named bounds."""
    kind: Any = type.fields[place].kind
    if kind.name == "enumeration":
        return np.floor(even * len(kind.values))
    [(low, high), *_] = type.everything[place].spans  # type: ignore[union-attr]
    inner = [bound for bound in bounds if low < bound < high]
    if not inner:
        return np.full(len(even), float(bounds[0]) if bounds else 0.0)
    gap = (inner[-1] - inner[0]) / len(inner) + 1.0
    ends = [max(inner[0] - gap, float(low)), *inner, min(inner[-1] + gap, float(high))]
    places = even * (len(ends) - 1)
    places[::2] = np.round(places[::2])  # every other event has exactly named values
    found = np.interp(places, np.arange(len(ends)), ends)
    return found if kind.name == "decimal" else np.round(found)


def _steps(count: int) -> list[float]:
    """Return the steps of a low-discrepancy sequence in so many dimensions (powers of a golden ratio)."""
    ratio = 2.0
    for _ in range(32):
        ratio = (1 + ratio) ** (1 / (count + 1))
    return [ratio ** -(n + 1) for n in range(count)]
