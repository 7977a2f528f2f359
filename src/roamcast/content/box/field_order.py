"""Comparisons of two fields, as constraints on an additional field: the order of their values.

The index of the additional field is `pair_index(a, b)`. Its value is -1, 0 or 1 if the first value is less
than, equal to or greater than the second, and missing if one of them is. A conjunction thus stays a box;
`tighten` propagates the order to the fields. If the compared pairs form no cycle, every remaining value of a
field belongs to some event and all relations are exact; otherwise they are conservative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.point_set import SPOT, PointSet, point_fields, point_of, tighten_points
from roamcast.content.box.range_set import RangeSet, after, before
from roamcast.content.box.string_set import StringSet
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.schema import EventType, Field

PAIR = 1 << 24
"First index of pairs of fields."
MAX_PAIRS = 16
"Maximum number of pairs of fields that one conjunction compares."
_WIDTH = 1 << 12
"Upper bound of the number of fields of a type."
_PASSES = 200

LESS, EQUAL, GREATER = (-1, -1), (0, 0), (1, 1)
SIGNS: dict[str, RangeSet] = {
    "<": RangeSet((LESS,)),
    "<=": RangeSet(((-1, 0),)),
    "=": RangeSet((EQUAL,)),
    "!=": RangeSet((LESS, GREATER)),
    ">=": RangeSet(((0, 1),)),
    ">": RangeSet((GREATER,)),
}
_NUMBERS = ("integer", "decimal")


def pair_index(first: int, second: int) -> int:
    """Return the index of the order of two fields; `first` is the lower index."""
    return PAIR + first * _WIDTH + second


def members(place: int) -> tuple[int, int]:
    """Return the field indices of a pair or of a position."""
    if place >= SPOT:
        return point_fields(place)
    return divmod(place - PAIR, _WIDTH)


def everything(type: EventType, place: int) -> RangeSet | PointSet:
    """Return all orders that two fields can have, or all positions."""
    if place >= SPOT:
        return PointSet()
    first, second = members(place)
    return RangeSet(((-1, 1),), type.fields[first].optional or type.fields[second].optional)


def compare_fields(one: Field, operator: str, other: Field) -> RangeSet:
    """Return the orders that a comparison of two fields allows; a missing field never compares, as in
    XPath.
    """
    names = one.kind.name, other.kind.name
    alike = one.kind.name == other.kind.name or all(name in _NUMBERS for name in names)
    if not alike or (one.kind.name == "enumeration" and one.kind.describe() != other.kind.describe()):
        fields = f"{one.path} ({names[0]}) and {other.path} ({names[1]})"
        raise ContentError(f"{fields} cannot be compared: their types differ")
    if one.kind.name in ("records", "presence", "area"):
        raise ContentError(f"{one.path} has no value that could be compared with {other.path}")
    if not one.kind.ordered and operator not in ("=", "!="):
        raise ContentError(f"{one.path} and {other.path} have no order: {operator} is not defined for them")
    return SIGNS[operator]


def value_at(values: tuple[Any, ...], place: int) -> Any:
    """Return the order of two fields of an event, or the position that they form; None if one is missing."""
    if place >= SPOT:
        return point_of(values, place)
    first, second = members(place)
    one, other = values[first], values[second]
    if one is None or other is None:
        return None
    return int(one > other) - int(one < other)


def tighten(type: EventType, allowed: dict[int, Any]) -> bool:
    """Propagate constraints between compared pairs and their fields; return False if nothing is left."""
    pairs = [place for place in allowed if PAIR <= place < SPOT]
    spots = [place for place in allowed if place >= SPOT]
    if spots and not tighten_points(type, allowed, spots):
        return False
    if len(pairs) > MAX_PAIRS:
        raise ContentError(f"one conjunction compares more than {MAX_PAIRS} pairs of fields")
    if _circular(allowed, pairs):
        return False
    for _ in range(_PASSES):
        changed = False
        for place in pairs:
            first, second = members(place)
            one, other = (allowed.get(at, type.everything[at]) for at in (first, second))
            old = allowed[place], one, other
            new = _narrow(*old, ordered=type.fields[first].kind.ordered)
            for at, was, now in zip((place, first, second), old, new, strict=True):
                if now.empty:
                    return False
                if now != was:
                    allowed[at] = now
                    changed = True
        if not changed:
            break
    for place in pairs:
        first, second = members(place)
        one, other = (allowed.get(at, type.everything[at]) for at in (first, second))
        if allowed[place].covers(possible(one, other)):
            del allowed[place]  # the constraints on the fields imply it
    return True


def possible(one: Any, other: Any) -> RangeSet:
    """Return the orders that a value of `one` and a value of `other` can have."""
    absent = one.absent or other.absent
    if isinstance(one, StringSet):
        same = one.values is not None and one.values == other.values and len(one.values) == 1
        present = RangeSet(() if same or one.values == () or other.values == () else (LESS, GREATER))
        one, other = (msgspec.structs.replace(each, absent=False) for each in (one, other))
        return msgspec.structs.replace(
            present.join(RangeSet((EQUAL,))) if one.intersects(other) else present, absent=absent
        )
    if not one.spans or not other.spans:
        return RangeSet((), absent)
    signs = RangeSet((), absent)
    if one.spans[0][0] < other.spans[-1][1]:
        signs = signs.join(RangeSet((LESS,)))
    if one.spans[-1][1] > other.spans[0][0]:
        signs = signs.join(RangeSet((GREATER,)))
    if any(low <= high2 and low2 <= high for low, high in one.spans for low2, high2 in other.spans):
        signs = signs.join(RangeSet((EQUAL,)))
    return signs


def implies(
    type: EventType | None, conjunction: tuple[tuple[int, Any], ...], place: int, joint: RangeSet | PointSet
) -> bool:
    """Return whether a conjunction's constraints on two fields imply the joint constraint `joint`."""
    if isinstance(joint, RangeSet):
        return joint.covers(_left(type, conjunction, place))
    allowed: dict[int, Any] = dict(conjunction)
    if not all(at in allowed for at in members(place)):
        return False
    lats, lons = (allowed[at] for at in members(place))
    return not lats.absent and not lons.absent and joint.covers(allowed.get(place, PointSet()), (lats, lons))


def _left(type: EventType | None, conjunction: tuple[tuple[int, Any], ...], place: int) -> RangeSet:
    """Return the orders of two fields that a conjunction's constraints on each of them allow."""
    first, second = members(place)
    allowed: dict[int, Any] = dict(conjunction)
    if type is not None:
        return possible(*(allowed.get(at, type.everything[at]) for at in (first, second)))
    if first not in allowed or second not in allowed:
        return RangeSet(((-1, 1),), True)
    return possible(allowed[first], allowed[second])


def _narrow(signs: RangeSet, one: Any, other: Any, ordered: bool) -> tuple[RangeSet, Any, Any]:
    """Return the three sets without the values that the other two exclude."""
    left = possible(one, other)
    if not ordered and (left.has(-1) or left.has(1)):  # unordered values are only equal or different
        left = left.join(SIGNS["!="])
    signs = signs.meet(left)
    here, there = (msgspec.structs.replace(each, absent=False) for each in (one, other))
    fit_here, fit_there = _fitting(signs.spans, here, there)
    # A value is possible if the other field may be missing or has a value in an allowed order.
    one_present = here if signs.absent and other.absent else fit_here
    other_present = there if signs.absent and one.absent else fit_there
    return (
        signs,
        msgspec.structs.replace(one_present, absent=signs.absent and one.absent),
        msgspec.structs.replace(other_present, absent=signs.absent and other.absent),
    )


def _fitting(spans: tuple[Any, ...], one: Any, other: Any) -> tuple[Any, Any]:
    """Return the values of each set that have a value of the other set in one of the given orders."""
    if not spans or one.empty or other.empty:
        return missing(one, one.absent), missing(other, other.absent)
    if spans == (EQUAL,):
        both = one.meet(other) if _same_sort(one, other) else None
        return (one, other) if both is None else (both, both)
    if spans == (LESS, GREATER):
        return _without_point(one, other), _without_point(other, one)
    if isinstance(one, RangeSet) and _same_sort(one, other):
        if spans[-1][1] <= 0:
            return _below(one, other, strict=spans == (LESS,))
        if spans[0][0] >= 0:
            low, high = _below(other, one, strict=spans == (GREATER,))
            return high, low
    return one, other


def _below(low: RangeSet, high: RangeSet, strict: bool) -> tuple[RangeSet, RangeSet]:
    """Return the values of `low` below some value of `high`, and the values of `high` above some of `low`."""
    (start, _), (_, end) = low.spans[0], high.spans[-1]
    top, bottom = (before(end), after(start)) if strict else (end, start)
    under = low.meet(RangeSet(((low.spans[0][0], top),) if low.spans[0][0] <= top else ()))
    over = high.meet(RangeSet(((bottom, high.spans[-1][1]),) if bottom <= high.spans[-1][1] else ()))
    return under, over


def _without_point(domain: Any, other: Any) -> Any:
    if not other.point:
        return domain
    if isinstance(domain, StringSet):
        return domain.meet(StringSet.where((), [(other.values[0],)]))
    rest = other.outside(domain) if _same_sort(domain, other) else [domain]
    return rest[0] if rest else RangeSet(())


def missing(domain: Any, absent: bool) -> Any:
    """Return an empty set of the same class as `domain`, which includes the missing value if `absent`."""
    if isinstance(domain, AreaSet):
        return AreaSet(domain.sort, absent=absent, void=True)
    return StringSet((), absent=absent) if isinstance(domain, StringSet) else RangeSet((), absent)


def _same_sort(one: Any, other: Any) -> bool:
    """Return whether both sets are of texts, of doubles or of integers, so that they can be intersected."""
    if isinstance(one, StringSet):
        return True
    return not one.spans or not other.spans or type(one.spans[0][0]) is type(other.spans[0][0])


def _circular(allowed: dict[int, Any], pairs: list[int]) -> bool:
    """Return whether the comparisons require a field to be less than itself."""
    if len(pairs) < 2:
        return False
    upward: dict[int, set[int]] = {}
    strict: list[tuple[int, int]] = []
    for place in pairs:
        first, second = members(place)
        signs = allowed[place]
        if signs.absent or not signs.spans or signs.spans == (LESS, GREATER):
            continue
        if signs.spans[-1][1] <= 0:
            upward.setdefault(first, set()).add(second)
            strict += [(first, second)] if signs.spans == (LESS,) else []
        if signs.spans[0][0] >= 0:
            upward.setdefault(second, set()).add(first)
            strict += [(second, first)] if signs.spans == (GREATER,) else []
    return any(low in _reached(upward, high) for low, high in strict)


def _reached(upward: dict[int, set[int]], start: int) -> set[int]:
    found: set[int] = set()
    left = [start]
    while left:
        at = left.pop()
        if at not in found:
            found.add(at)
            left.extend(upward.get(at, ()))
    return found


def choices(domain: Any) -> Iterator[Any]:
    """Yield some single-value sets of a domain to try as examples, the missing value last."""
    usual = domain.example()
    values = [usual]
    if isinstance(domain, RangeSet) and domain.spans:
        values += [domain.spans[0][0], domain.spans[-1][1]]
    elif isinstance(domain, StringSet) and domain.values is not None:
        values += domain.values[:4]
    present = msgspec.structs.replace(domain, absent=False)
    for value in dict.fromkeys(values):
        if value is not None:
            yield StringSet.of([value]) if isinstance(present, StringSet) else RangeSet(((value, value),))
    if domain.absent:
        yield missing(domain, domain.absent)
