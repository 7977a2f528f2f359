"""Comparisons of two fields: the order of their values as a field of its own, beside those of the type.

Its place is `pair_place(a, b)`, its value -1, 0 or 1 as the first value is less than, equal to or greater
than the second, or missing where one of them is. So a conjunction stays a box, and what the order says of the
fields is drawn out when the box is closed. Where the compared pairs form no cycle, every value that is then
left of a field belongs to some event, and the relations are exact; else they are on the safe side.
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
"Places from here on are pairs of fields."
MAX_PAIRS = 16
"Pairs of fields that one conjunction compares."
_WIDTH = 1 << 12
"No type has more fields."
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
    """The place of the order of two fields, the lower place first."""
    return PAIR + first * _WIDTH + second


def members(place: int) -> tuple[int, int]:
    """The fields of a pair, or of a place on the Earth."""
    if place >= SPOT:
        return point_fields(place)
    return divmod(place - PAIR, _WIDTH)


def everything(type: EventType, place: int) -> RangeSet | PointSet:
    """All orders that two fields can have, or all places."""
    if place >= SPOT:
        return PointSet()
    first, second = members(place)
    return RangeSet(((-1, 1),), type.fields[first].optional or type.fields[second].optional)


def compare_fields(one: Field, operator: str, other: Field) -> RangeSet:
    """The orders that a comparison of two fields allows; a missing field never compares, as in XPath."""
    names = one.kind.name, other.kind.name
    alike = one.kind.name == other.kind.name or all(name in _NUMBERS for name in names)
    if not alike or (one.kind.name == "enumeration" and one.kind.describe() != other.kind.describe()):
        told = f"{one.path} ({names[0]}) and {other.path} ({names[1]})"
        raise ContentError(f"{told} cannot be compared: they are of different kinds")
    if one.kind.name in ("records", "presence", "area"):
        raise ContentError(f"{one.path} has no value to compare with that of {other.path}")
    if not one.kind.ordered and operator not in ("=", "!="):
        raise ContentError(f"{one.path} and {other.path} have no order: {operator} has no meaning for them")
    return SIGNS[operator]


def value_at(values: tuple[Any, ...], place: int) -> Any:
    """The order of two fields of an event, or the place that they tell; None where one is missing."""
    if place >= SPOT:
        return point_of(values, place)
    first, second = members(place)
    one, other = values[first], values[second]
    if one is None or other is None:
        return None
    return int(one > other) - int(one < other)


def tighten(type: EventType, allowed: dict[int, Any]) -> bool:
    """Draw out of the compared pairs what they say of the fields, and back; False if nothing is left."""
    pairs = [place for place in allowed if PAIR <= place < SPOT]
    spots = [place for place in allowed if place >= SPOT]
    if spots and not tighten_points(type, allowed, spots):
        return False
    if len(pairs) > MAX_PAIRS:
        raise ContentError(f"more than {MAX_PAIRS} pairs of fields compared in one conjunction")
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
            del allowed[place]  # the fields themselves say so
    return True


def possible(one: Any, other: Any) -> RangeSet:
    """The orders of a value of one set and a value of another."""
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
    type: EventType | None, conjunction: tuple[tuple[int, Any], ...], place: int, wanted: RangeSet | PointSet
) -> bool:
    """Whether what a conjunction says of two fields is enough for what is `wanted` of both together."""
    if isinstance(wanted, RangeSet):
        return wanted.covers(_left(type, conjunction, place))
    allowed: dict[int, Any] = dict(conjunction)
    if not all(at in allowed for at in members(place)):
        return False
    lats, lons = (allowed[at] for at in members(place))
    return not lats.absent and not lons.absent and wanted.covers(allowed.get(place, PointSet()), (lats, lons))


def _left(type: EventType | None, conjunction: tuple[tuple[int, Any], ...], place: int) -> RangeSet:
    """The orders of two fields that a conjunction leaves, as far as its constraints on each of them tell."""
    first, second = members(place)
    allowed: dict[int, Any] = dict(conjunction)
    if type is not None:
        return possible(*(allowed.get(at, type.everything[at]) for at in (first, second)))
    if first not in allowed or second not in allowed:
        return RangeSet(((-1, 1),), True)
    return possible(allowed[first], allowed[second])


def _narrow(signs: RangeSet, one: Any, other: Any, ordered: bool) -> tuple[RangeSet, Any, Any]:
    """The three of them without what the others make impossible."""
    left = possible(one, other)
    if not ordered and (left.has(-1) or left.has(1)):  # they are equal or they are not
        left = left.join(SIGNS["!="])
    signs = signs.meet(left)
    here, there = (msgspec.structs.replace(each, absent=False) for each in (one, other))
    fit_here, fit_there = _fitting(signs.spans, here, there)
    # A value fits if the other field may be missing, or has a value that it fits to.
    one_present = here if signs.absent and other.absent else fit_here
    other_present = there if signs.absent and one.absent else fit_there
    return (
        signs,
        msgspec.structs.replace(one_present, absent=signs.absent and one.absent),
        msgspec.structs.replace(other_present, absent=signs.absent and other.absent),
    )


def _fitting(spans: tuple[Any, ...], one: Any, other: Any) -> tuple[Any, Any]:
    """The values of each that have a value of the other in one of these orders."""
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
    """What can be below something of `high`, and what above something of `low`."""
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
    """No value, of the sort of set that `domain` is; perhaps that there is none."""
    if isinstance(domain, AreaSet):
        return AreaSet(domain.sort, absent=absent, void=True)
    return StringSet((), absent=absent) if isinstance(domain, StringSet) else RangeSet((), absent)


def _same_sort(one: Any, other: Any) -> bool:
    """Whether both are texts, both doubles or both whole numbers, so that their sets can be met."""
    if isinstance(one, StringSet):
        return True
    return not one.spans or not other.spans or type(one.spans[0][0]) is type(other.spans[0][0])


def _circular(allowed: dict[int, Any], pairs: list[int]) -> bool:
    """Whether something would have to be less than itself."""
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
    """Some values of a set that are worth a try (None: missing), each as a set of its own."""
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
