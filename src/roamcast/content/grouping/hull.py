"""The hull of filters: one conjunction that covers all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import msgspec

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.glob import begins, ends
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet, thin
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter

MAX_SPANS = 16
MAX_WORDS = 64


def hull(filters: Iterable[Filter]) -> Filter:
    """Return the conjunction of the constraints that all filters have, each as wide as the widest of them."""
    given = [filter for filter in filters if not filter.empty]
    if not given:
        raise ContentError("nothing to cover: there is no filter that matches any event")
    type = given[0].type
    if any(filter.type is not type for filter in given):
        raise ContentError("filters of several event types have no common cover")
    conjunctions = [dict(each) for filter in given for each in filter.conjunctions]
    common = sorted(set(conjunctions[0]).intersection(*conjunctions[1:]))
    kept: list[tuple[int, Domain]] = []
    for place in common:
        joined = _join([each[place] for each in conjunctions])
        if joined is not None:
            kept.append((place, joined))
    return Filter.of(type, [kept])


def union(filters: Sequence[Filter], most: int = 8) -> Filter:
    """Return the exact union of filters if it has at most `most` alternatives, otherwise their hull."""
    merged = filters[0]
    for filter in filters[1:]:
        merged = merged.merge(filter)
        if len(merged.conjunctions) > most:
            return hull(filters)
    return merged


def _join(domains: list[Any]) -> Domain | None:
    if isinstance(domains[0], RangeSet):
        joined: RangeSet = reduce(RangeSet.join, domains)
        return RangeSet(thin(joined.spans, MAX_SPANS), joined.absent)
    if isinstance(domains[0], RecordListSet | AreaSet | PointSet):
        either: Domain | None = domains[0]
        for other in domains[1:]:
            either = either.join(other) if either is not None else None
        return either
    absent = any(texts.absent for texts in domains)
    exact: StringSet | None = domains[0]
    for other in domains[1:]:
        exact = exact.join(other) if exact is not None else None
    if exact is not None and len(exact.values or ()) <= MAX_WORDS:
        return msgspec.structs.replace(exact, absent=absent)
    starts = [_starts(texts) for texts in domains if texts.values != ()]
    ends = [_ends(texts) for texts in domains if texts.values != ()]
    start = _common(list(itertools.chain(*starts)))
    end = _common([text[::-1] for text in itertools.chain(*ends)])[::-1]
    if not start and not end:
        return None
    return StringSet.where([(start, ""), ("", end)], absent=absent)


def _starts(texts: StringSet) -> list[str]:
    """Return the prefixes with which the strings of the set begin."""
    if texts.values is not None:
        return list(texts.values)
    return [max(map(begins, texts.like), key=len, default="")]


def _ends(texts: StringSet) -> list[str]:
    if texts.values is not None:
        return list(texts.values)
    return [max(map(ends, texts.like), key=len, default="")]


def _common(words: list[str]) -> str:
    """Return the longest common prefix."""
    low, high = min(words), max(words)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]
