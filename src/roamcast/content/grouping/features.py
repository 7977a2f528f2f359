"""Subscriptions as vectors, made from the parts of their summaries, with the papers' weights.

For each field: whether it is constrained (EL), and its allowed values: a column for each listed value (EC),
the two ends (AC), or a few hashed columns (SC); of records and areas nothing more. A field's weight grows
with how much it varies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from roamcast.content.box.conjunction import fields_of
from roamcast.content.box.range_set import RangeSet
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.parts import StringPart

Matrix: TypeAlias = npt.NDArray[np.float64]

HASHED = BloomShape(16, 1)
"The columns of a string."
MAX_LISTED = 64
"Listed values with a column of their own; the rest of a long list is left out of the distance."


def vectors(filters: Sequence[Filter]) -> Matrix:
    """A row for each filter; Euclidean distance between rows is the papers' weighted distance."""
    type = filters[0].type
    used = sorted(
        {place for filter in filters for each in filter.conjunctions for place, _ in fields_of(each)}
    )
    blocks = [_block(type, place, filters) for place in used]
    if not blocks:
        return np.zeros((len(filters), 1))
    return np.hstack([block * np.sqrt(_weight(block)) for block in blocks])


def distances(points: Matrix, others: Matrix) -> Matrix:
    """From each point to each of the others, a row at a time: a thousand points need no gigabyte."""
    return np.array([np.linalg.norm(others - point, axis=1) for point in points])


def cluster_count(filters: Sequence[Filter]) -> int:
    """The papers' K: the number of elements and attributes that the subscriptions speak of, at least one."""
    used = {place for filter in filters for each in filter.conjunctions for place, _ in fields_of(each)}
    return max(1, min(len(used), len({filter.conjunctions for filter in filters})))


def _weight(block: Matrix) -> float:
    """The mean deviation of a field's columns: small where all agree, large where it tells them apart."""
    return float(block.std(axis=0).mean())


def _block(type: EventType, place: int, filters: Sequence[Filter]) -> Matrix:
    """One field's columns."""
    ends = find_ends(type, place, filters) or (0, 1)
    return np.array([embed(type, place, filter, ends) for filter in filters], dtype=np.float64)


def find_ends(type: EventType, place: int, filters: Iterable[Filter]) -> tuple[float, float] | None:
    """Between which numbers lies what the filters ask of a field; None if no number is asked for."""
    field = type.fields[place]
    ends = [
        end
        for filter in filters
        for each in filter.conjunctions
        for at, domain in each
        if at == place and isinstance(domain, RangeSet)
        for span in domain.spans
        for end in span
        if end not in field.kind.everything(False).spans[0]  # type: ignore[union-attr]
    ]
    return (min(ends), max(ends)) if ends else None


def embed(type: EventType, place: int, filter: Filter, ends: tuple[float, float]) -> Matrix:
    """One field's columns for one filter; one of several conjunctions is the mean of them."""
    kind = type.fields[place].kind
    of_each = [columns(kind, dict(each).get(place), ends) for each in filter.conjunctions]
    return np.asarray(np.mean(of_each, axis=0), np.float64)


def columns(kind: Any, domain: Any, ends: tuple[float, float]) -> list[float]:
    """One field's columns for what is asked of it (None: nothing), numbers scaled between `ends`."""
    constrained = float(domain is not None)
    if kind.name in ("records", "area"):
        return [constrained]
    if kind.name == "string":
        if domain is None:
            return [0.0] * (1 + HASHED.bits)
        part = StringPart.of(domain, HASHED)
        bits = part.left | part.right | part.words
        return [constrained, *(float(bits >> n & 1) for n in range(HASHED.bits))]
    if kind.name == "enumeration":
        places = range(min(len(kind.values), MAX_LISTED))
        return [constrained, *(float(domain is None or domain.has(place)) for place in places)]
    low, high = ends
    width = float(high - low) or 1.0
    if domain is None or not domain.spans:
        return [constrained, 0.0, 1.0]
    first, last = domain.spans[0][0], domain.spans[-1][1]
    return [constrained, _scaled(first, low, width), _scaled(last, low, width)]


def _scaled(value: float, low: float, width: float) -> float:
    return float(min(max((value - low) / width, 0.0), 1.0))
