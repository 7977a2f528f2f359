"""What filters ask beside the values of fields: a text in lower case, the order of two, where an area ends.

A lookup has a further field for each that somebody asks for, with a number from `BESIDE` on.
"""

from __future__ import annotations

from typing import Any

from roamcast.content.box.areas import Areas
from roamcast.content.box.glob import CASELESS, lower
from roamcast.content.box.order import PAIR, value_at
from roamcast.content.box.ranges import Ranges
from roamcast.content.box.texts import Texts
from roamcast.content.earth.shapes import lats
from roamcast.content.filter import Filter
from roamcast.content.kind import Domain

BESIDE = PAIR
"No field has such a place."
_LOWER = 2 * PAIR
_SOUTH = 3 * PAIR
_NORTH = 4 * PAIR


def asks_beside(filter: Filter) -> bool:
    """Whether a filter asks more than what the values of fields are."""
    for conjunction in filter.conjunctions:
        for place, domain in conjunction:
            if place >= BESIDE or type(domain) is Areas or (type(domain) is Texts and _caseless(domain)):
                return True
    return False


def split(place: int, domain: Domain) -> list[tuple[int, Domain]]:
    """A constraint as constraints on a field and on what stands beside it."""
    if isinstance(domain, Areas):
        south, north = (Ranges(() if domain.void else side.spans, domain.absent) for side in domain.sides())
        return [(_SOUTH + place, south), (_NORTH + place, north)]
    if type(domain) is not Texts or not _caseless(domain):
        return [(place, domain)]
    like = [glob for glob in domain.like if glob[0] != CASELESS]
    unlike = [glob for glob in domain.unlike if glob[0] != CASELESS]
    parts: list[tuple[int, Domain]] = [
        (
            _LOWER + place,
            Texts.where(
                [glob[1:] for glob in domain.like if glob[0] == CASELESS],
                [glob[1:] for glob in domain.unlike if glob[0] == CASELESS],
                domain.absent,
            ),
        )
    ]
    if like or unlike:
        parts.append((place, Texts.where(like, unlike, domain.absent)))
    return parts


def letter_beside(place: int) -> str:
    """What the kernel's index calls the kind of what stands there."""
    return "d" if place >= _SOUTH else "t" if place >= _LOWER else "i"


def value_beside(values: tuple[Any, ...], place: int) -> Any:
    """What stands there, for the values of an event or a record."""
    if place < _LOWER:
        return value_at(values, place)
    if place >= _SOUTH:
        area = values[(place - _SOUTH) % PAIR]
        return None if area is None else lats(area)[place >= _NORTH]
    text = values[place - _LOWER]
    return None if text is None else lower(text)


def _caseless(domain: Texts) -> bool:
    return any(glob[0] == CASELESS for glob in domain.like + domain.unlike)
