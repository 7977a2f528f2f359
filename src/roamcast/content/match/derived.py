"""Derived fields of the match index: text in lower case, the order of two fields, an area's latitudes.

A lookup has an additional field, with an index from `BESIDE` on, for each derived value that a filter uses.
"""

from __future__ import annotations

from typing import Any

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.field_order import PAIR, value_at
from roamcast.content.box.glob import CASELESS, lower
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.earth.shapes import lats
from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter

BESIDE = PAIR
"First index of derived fields; no field of a type has it."
_LOWER = 2 * PAIR
_SOUTH = 3 * PAIR
_NORTH = 4 * PAIR


def needs_derived(filter: Filter) -> bool:
    """Return whether a filter needs more than the plain values of the fields."""
    for conjunction in filter.conjunctions:
        for place, domain in conjunction:
            if (
                place >= BESIDE
                or type(domain) is AreaSet
                or (type(domain) is StringSet and _caseless(domain))
            ):
                return True
    return False


def split(place: int, domain: Domain) -> list[tuple[int, Domain]]:
    """Return a constraint as constraints on a field and on its derived fields."""
    if isinstance(domain, AreaSet):
        south, north = (RangeSet(() if domain.void else side.spans, domain.absent) for side in domain.sides())
        return [(_SOUTH + place, south), (_NORTH + place, north)]
    if type(domain) is not StringSet or not _caseless(domain):
        return [(place, domain)]
    like = [glob for glob in domain.like if glob[0] != CASELESS]
    unlike = [glob for glob in domain.unlike if glob[0] != CASELESS]
    parts: list[tuple[int, Domain]] = [
        (
            _LOWER + place,
            StringSet.where(
                [glob[1:] for glob in domain.like if glob[0] == CASELESS],
                [glob[1:] for glob in domain.unlike if glob[0] == CASELESS],
                domain.absent,
            ),
        )
    ]
    if like or unlike:
        parts.append((place, StringSet.where(like, unlike, domain.absent)))
    return parts


def derived_letter(place: int) -> str:
    """Return the type letter of a derived field in the kernel's index."""
    return "d" if place >= _SOUTH else "t" if place >= _LOWER else "i"


def derived_value(values: tuple[Any, ...], place: int) -> Any:
    """Return the value of a derived field for the values of an event or a record."""
    if place < _LOWER:
        return value_at(values, place)
    if place >= _SOUTH:
        area = values[(place - _SOUTH) % PAIR]
        return None if area is None else lats(area)[place >= _NORTH]
    text = values[place - _LOWER]
    return None if text is None else lower(text)


def _caseless(domain: StringSet) -> bool:
    return any(glob[0] == CASELESS for glob in domain.like + domain.unlike)
