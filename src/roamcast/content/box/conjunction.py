"""Conjunctions: a set of allowed values for each of some fields, as a box in the space of events.

Fields are independent except for one rule: an attribute is present only if its element is. `_follow` adds the
consequences of this rule to the box, so that each relation between two boxes is decided field by field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from roamcast.content.box.field_order import PAIR, choices, implies, members, missing, tighten
from roamcast.content.box.point_set import SPOT, PointSet
from roamcast.content.box.range_set import RangeSet
from roamcast.content.errors import ContentError, FilterTooComplex
from roamcast.content.field_type import Domain
from roamcast.content.schema import EventType

Conjunction: TypeAlias = tuple[tuple[int, Domain], ...]
"""(field index, allowed values), sorted by index; an unconstrained field is omitted."""

MAX_TRIES = 500
"Maximum number of value assignments to compared fields that are tried to find an example."
MAX_PATTERNS = 128
"Maximum number of patterns with a star for one field of a conjunction; all pairs of them are compared."


def conjoin(type: EventType, constraints: Iterable[tuple[int, Domain]]) -> Conjunction | None:
    """Return the conjunction of `constraints`, or None if no event satisfies all of them."""
    allowed: dict[int, Any] = {}
    several: dict[int, list[Any]] = {}
    for place, domain in constraints:
        if place in allowed:
            several.setdefault(place, [allowed[place]]).append(domain)
        else:
            allowed[place] = type.domain(place).meet(domain)  # type: ignore[arg-type]
    for place, domains in several.items():
        if sum(domain.patterns for domain in domains) > MAX_PATTERNS:
            path = type.fields[place].path
            raise ContentError(f"one conjunction has more than {MAX_PATTERNS} patterns for {path!r}")
        allowed[place] = _meet(domains)
    for domain in allowed.values():
        if domain.empty:
            return None
    return _close(type, allowed)


def _close(type: EventType, allowed: dict[int, Any]) -> Conjunction | None:
    if type.owned and not _follow(type, allowed):
        return None
    places = sorted(allowed)
    if places and places[-1] >= PAIR:
        if not tighten(type, allowed) or (type.owned and not _follow(type, allowed)):
            return None
        places = sorted(allowed)
    return tuple((p, allowed[p]) for p in places if allowed[p] != type.domain(p))


def _meet(domains: list[Any]) -> Any:
    """Return the intersection of some sets of one field; pairwise merging keeps thousands of them cheap."""
    while len(domains) > 1:
        pairs = [domains[n].meet(domains[n + 1]) for n in range(0, len(domains) - 1, 2)]
        domains = pairs if len(domains) % 2 == 0 else [*pairs, domains[-1]]
    return domains[0]


def _follow(type: EventType, allowed: dict[int, Any]) -> bool:
    """Require the elements of required attributes and exclude attributes of missing elements.

    Update `allowed`; return False if the conjunction is then empty.
    """
    for attribute, element in type.owned:
        if not allowed.get(attribute, type.everything[attribute]).absent:
            there = msgspec.structs.replace(allowed.get(element, type.everything[element]), absent=False)
            if there.empty:
                return False
            allowed[element] = there
    for attribute, element in type.owned:
        if element in allowed and msgspec.structs.replace(allowed[element], absent=False).empty:
            allowed[attribute] = missing(type.everything[attribute], absent=True)
    return True


def bare(type: EventType, each: Conjunction) -> Conjunction:
    """Return the conjunction without the constraints that `_follow` and `tighten` would add again."""
    if each and each[-1][0] >= PAIR:
        each = _has_open_pairs(type, each)
    if not type.owned:
        return each
    allowed: dict[int, Any] = dict(each)
    for attribute, element in type.owned:
        if attribute in allowed and element in allowed:
            if msgspec.structs.replace(allowed[element], absent=False).empty:
                del allowed[attribute]
            elif not allowed[attribute].absent and allowed[element] == type.fields[element].kind.everything(
                absent=False
            ):
                del allowed[element]
    return tuple(allowed.items())


def _has_open_pairs(type: EventType, each: Conjunction) -> Conjunction:
    """Return the conjunction without the field constraints that the compared pairs imply."""
    kept = dict(each)
    for place in {at for pair, _ in each if pair >= PAIR for at in members(pair)}:
        rest = {p: domain for p, domain in kept.items() if p != place}
        if place in kept and _close(type, dict(rest)) == each:
            kept = rest
    return tuple(kept.items())


def fields_of(each: Conjunction) -> Conjunction:
    """Return the constraints on single fields."""
    return each if not each or each[-1][0] < PAIR else tuple(c for c in each if c[0] < PAIR)


def covers(wide: Conjunction, narrow: Conjunction, type: EventType | None = None) -> bool:
    """Return whether `wide` contains `narrow`; with `type`, more relations of compared fields are
    recognised.
    """
    for place, domain in wide:
        for other_place, other in narrow:
            if other_place == place:
                if (
                    domain is not other
                    and not domain.covers(other)  # type: ignore[arg-type]
                    and not (place >= SPOT and implies(type, narrow, place, domain))  # type: ignore[arg-type]
                ):
                    return False
                break
        else:
            if place < PAIR or not implies(type, narrow, place, domain):  # type: ignore[arg-type]
                return False
    return True


def intersects(one: Conjunction, other: Conjunction) -> bool:
    """Return whether the two conjunctions have a common event, considering each field alone."""
    for place, domain in one:
        for other_place, theirs in other:
            if other_place == place and domain is not theirs and not domain.intersects(theirs):  # type: ignore[arg-type]
                return False
    return True


def compares(each: Conjunction) -> bool:
    """Return whether the conjunction compares fields or constrains a position."""
    return bool(each) and each[-1][0] >= PAIR


def intersects_jointly(type: EventType, one: Conjunction, other: Conjunction) -> bool:
    """Return whether the two conjunctions have a common event, considering compared fields jointly."""
    if not intersects(one, other):
        return False
    return not (compares(one) or compares(other)) or conjoin(type, one + other) is not None


def fix_compared_fields(type: EventType, each: Conjunction) -> Conjunction | None:
    """Return a part of the conjunction in which each compared field has one value, without comparisons.

    If the compared pairs have no cycle, the first value tried for each field succeeds. With a cycle,
    `FilterTooComplex` is raised if no assignment is found within `MAX_TRIES`.
    """
    tries = 0

    def search(current: Conjunction) -> Conjunction | None:
        nonlocal tries
        if not compares(current):
            return current
        tries += 1
        if tries > MAX_TRIES:
            raise FilterTooComplex(f"no values for compared fields were found in {MAX_TRIES} tries")
        allowed = dict(current)
        pair = current[-1][0]
        if pair >= SPOT:
            for point in _points(type, current):
                found = search(conjoin(type, (*current, *point)) or ())
                if found:
                    return found
            raise FilterTooComplex("no position was found that satisfies all circle tests")
        place = next((p for p in members(pair) if not _single(allowed.get(p))), members(pair)[0])
        for choice in choices(allowed.get(place, type.everything[place])):
            narrower = conjoin(type, (*current, (place, choice)))
            found = None if narrower is None else search(narrower)
            if found is not None:
                return found
        return None

    return search(each)


def _points(type: EventType, current: Conjunction) -> Iterator[Conjunction]:
    """Yield positions that may satisfy the conjunction, as constraints on latitude and longitude."""
    allowed: dict[int, Any] = dict(current)
    spot, discs = current[-1]
    assert isinstance(discs, PointSet)
    fields = members(spot)
    for point in discs.candidates(*(allowed.get(at, type.everything[at]).spans for at in fields)):
        yield tuple((at, RangeSet(((value, value),))) for at, value in zip(fields, point, strict=True))


def _single(domain: Domain | None) -> bool:
    return domain is not None and domain.point


def subtract(type: EventType, whole: Conjunction, hole: Conjunction) -> list[Conjunction]:
    """Return `whole` minus `hole` as disjoint conjunctions."""
    if not intersects(whole, hole):
        return [whole]
    pieces: list[Conjunction] = []
    current: dict[int, Any] = dict(whole)
    for place, domain in hole:
        everything: Any = type.domain(place)
        mine = current.get(place, everything)
        for rest in domain.outside(everything):
            left = mine.meet(rest)
            if left.empty:
                continue
            piece = _close(type, current | {place: left})
            if piece is not None:
                pieces.append(piece)
        current[place] = mine.meet(domain)
    return pieces


def unite(type: EventType, one: Conjunction, other: Conjunction) -> Conjunction | None:
    """Return the union of two conjunctions if they differ in at most one field; otherwise None."""
    one, other = bare(type, one), bare(type, other)
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
        return _close(type, dict(one))
    place, domain = one[differing]
    joined = domain.join(other[differing][1])  # type: ignore[arg-type]
    if joined is None:
        return None
    kept = () if joined == type.domain(place) else ((place, joined),)
    united = (*one[:differing], *kept, *one[differing + 1 :])
    return _close(type, dict(united)) if type.owned or place >= PAIR or one[-1][0] >= PAIR else united
