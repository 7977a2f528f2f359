"""Subscriptions as vectors, made from the parts of their summaries, with the weights of the papers.

The columns of a field are whether it is constrained (EL) and its allowed values: a column per listed value
(EC), the two bounds (AC), or a few hashed columns (SC). Records and areas have only the first column. A
field's weight grows with its variation.
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
"The columns of a string field."
MAX_LISTED = 64
"Maximum number of listed values with a column; further values do not count in the distance."


def vectors(filters: Sequence[Filter]) -> Matrix:
    """Return one row per filter; the Euclidean distance between rows is the papers' weighted distance."""
    type = filters[0].type
    used = sorted(
        {place for filter in filters for each in filter.conjunctions for place, _ in fields_of(each)}
    )
    blocks = [_block(type, place, filters) for place in used]
    if not blocks:
        return np.zeros((len(filters), 1))
    return np.hstack([block * np.sqrt(_weight(block)) for block in blocks])


def distances(points: Matrix, others: Matrix) -> Matrix:
    """Return the distances from each point to each of the others; row by row, to limit memory."""
    return np.array([np.linalg.norm(others - point, axis=1) for point in points])


def cluster_count(filters: Sequence[Filter]) -> int:
    """Return the papers' K: the number of elements and attributes that the subscriptions use, at least
    one.
    """
    used = {place for filter in filters for each in filter.conjunctions for place, _ in fields_of(each)}
    return max(1, min(len(used), len({filter.conjunctions for filter in filters})))


def _weight(block: Matrix) -> float:
    """Return the mean deviation of a field's columns: 0 if all filters agree."""
    return float(block.std(axis=0).mean())


def _block(type: EventType, place: int, filters: Sequence[Filter]) -> Matrix:
    """Return the columns of one field for all filters."""
    ends = find_ends(type, place, filters) or (0, 1)
    return np.array([embed(type, place, filter, ends) for filter in filters], dtype=np.float64)


def find_ends(type: EventType, place: int, filters: Iterable[Filter]) -> tuple[float, float] | None:
    """Return the lowest and highest bound of the filters on a field, or None if there is none."""
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
    """Return the columns of one field for one filter: the mean over its conjunctions."""
    kind = type.fields[place].kind
    of_each = [columns(kind, dict(each).get(place), ends) for each in filter.conjunctions]
    return np.asarray(np.mean(of_each, axis=0), np.float64)


def columns(kind: Any, domain: Any, ends: tuple[float, float]) -> list[float]:
    """Return the columns of one field for a set of values (None: unconstrained), scaled between `ends`."""
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
