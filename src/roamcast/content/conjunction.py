"""Conjunctions: a set of allowed values for each of some fields, as a box in the space of events.

Fields are independent, so every relation between two conjunctions is decided field by field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from roamcast.content.kind import Domain
from roamcast.content.schema import EventType

Conjunction: TypeAlias = tuple[tuple[int, Domain], ...]
"""(place of a field, its allowed values), by place, each once; a field that may be anything is left out."""


def conjoin(type: EventType, constraints: Iterable[tuple[int, Domain]]) -> Conjunction | None:
    """The conjunction of some constraints, or None if no event satisfies them all."""
    allowed: dict[int, Any] = {}
    for place, domain in constraints:
        met = allowed[place].meet(domain) if place in allowed else type.everything[place].meet(domain)  # type: ignore[arg-type]
        if met.empty:
            return None
        allowed[place] = met
    return tuple((p, allowed[p]) for p in sorted(allowed) if allowed[p] != type.everything[p])


def covers(wide: Conjunction, narrow: Conjunction) -> bool:
    """Whether every event of `narrow` is one of `wide`."""
    for place, domain in wide:
        for other_place, other in narrow:
            if other_place == place:
                if domain is not other and not domain.covers(other):  # type: ignore[arg-type]
                    return False
                break
        else:
            return False
    return True


def intersects(one: Conjunction, other: Conjunction) -> bool:
    """Whether some event is in both."""
    for place, domain in one:
        for other_place, theirs in other:
            if other_place == place and domain is not theirs and not domain.intersects(theirs):  # type: ignore[arg-type]
                return False
    return True


def subtract(type: EventType, whole: Conjunction, hole: Conjunction) -> list[Conjunction]:
    """`whole` without `hole`, in pieces that do not overlap."""
    if not intersects(whole, hole):
        return [whole]
    pieces: list[Conjunction] = []
    current: dict[int, Any] = dict(whole)
    for place, domain in hole:
        everything: Any = type.everything[place]
        mine = current.get(place, everything)
        for rest in domain.outside(everything):
            left = mine.meet(rest)
            if not left.empty:
                pieces.append(tuple(sorted((current | {place: left}).items(), key=_place)))
        current[place] = mine.meet(domain)
    return pieces


def unite(type: EventType, one: Conjunction, other: Conjunction) -> Conjunction | None:
    """The union of two conjunctions where it is a conjunction that can be seen at a glance."""
    if len(one) != len(other):
        return None
    differing = -1
    for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        if mine[0] != theirs[0]:
            return None
        if mine[1] != theirs[1]:
            if differing >= 0:
                return None
            differing = number
    if differing < 0:
        return one
    place, domain = one[differing]
    joined = domain.join(other[differing][1])  # type: ignore[arg-type]
    if joined is None:
        return None
    kept = () if joined == type.everything[place] else ((place, joined),)
    return (*one[:differing], *kept, *one[differing + 1 :])


def _place(item: tuple[int, Domain]) -> int:
    return item[0]
