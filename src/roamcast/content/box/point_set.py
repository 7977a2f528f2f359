"""Sets of positions: inside all circles of one list and outside all circles of another.

A position consists of two fields of an event, latitude and longitude. Its constraint has an index from `SPOT`
on, beside those of the fields. A conjunction with a circle also constrains both fields to the circle's
bounding box, so that code that knows only ranges (index, summaries, clusters) can use the box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.schema import EventType

SPOT = 1 << 26
"First index of positions."
MAX_DISCS = 16
"Maximum number of circles in one conjunction."
_WIDTH = 1 << 12


def point_index(lat: int, lon: int) -> int:
    """Return the index of the position that two fields form."""
    return SPOT + lat * _WIDTH + lon


def point_fields(place: int) -> tuple[int, int]:
    """Return the indices of the latitude and longitude fields."""
    return divmod(place - SPOT, _WIDTH)


class PointSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The positions that lie in all of some circles and in none of others."""

    inside: tuple[Circle, ...] = ()
    outside_of: tuple[Circle, ...] = ()

    @classmethod
    def where(cls, inside: Iterable[Circle], outside_of: Iterable[Circle] = ()) -> PointSet:
        """Return the set without redundant circles."""
        given, refused = set(inside), set(outside_of)
        yes = tuple(sorted(d for d in given if not any(o != d and d.holds(o) for o in given)))
        no = (d for d in refused if not any(o != d and o.holds(d) for o in refused))
        kept = tuple(sorted(d for d in no if not any(d.misses(disc) for disc in yes)))
        if len(yes) + len(kept) > MAX_DISCS:
            raise ContentError(f"one conjunction tests a position against more than {MAX_DISCS} circles")
        return cls(yes, kept)

    @property
    def empty(self) -> bool:
        """Whether the set is certainly empty."""
        return any(one.misses(other) for one in self.inside for other in self.inside) or any(
            no.holds(yes) for no in self.outside_of for yes in self.inside
        )

    @property
    def absent(self) -> bool:
        """Always False: a constraint on a position requires both fields."""
        return False

    @property
    def point(self) -> bool:
        """Always False: a circle has more than one position."""
        return False

    @property
    def patterns(self) -> int:
        """Always 0: positions have no patterns."""
        return 0

    def has(self, value: Any) -> bool:
        """Return whether a position (None: missing) is in the set."""
        if value is None:
            return False
        return all(disc.has(*value) for disc in self.inside) and not any(
            disc.has(*value) for disc in self.outside_of
        )

    def test(self) -> Callable[[Any], bool]:
        """Return whether the set contains a value; the same as `has`."""
        return self.has

    def meet(self, other: PointSet) -> PointSet:
        """Return the intersection of the two sets."""
        return PointSet.where(self.inside + other.inside, self.outside_of + other.outside_of)

    def join(self, other: PointSet) -> PointSet | None:
        """Return the union if one set contains the other or both are complementary; otherwise None."""
        for one, another in ((self, other), (other, self)):
            if one.covers(another):
                return one
        if self.inside == other.outside_of and self.outside_of == other.inside and len(self.inside) < 2:
            return PointSet() if len(self.inside + self.outside_of) == 1 else None
        return None

    def outside(self, everything: PointSet) -> list[PointSet]:
        """Return the complement of the set, as alternatives that may overlap."""
        rest = [PointSet.where((), (disc,)) for disc in self.inside]
        return rest + [PointSet.where((disc,)) for disc in self.outside_of]

    def covers(self, other: PointSet, box: tuple[RangeSet, RangeSet] | None = None) -> bool:
        """Return whether this set certainly contains `other`, restricted to a `box` of degrees if given."""
        for disc in self.inside:
            if not any(disc.holds(each) for each in other.inside) and not (box and disc.holds_box(*box)):
                return False
        for disc in self.outside_of:
            if (
                not any(each.holds(disc) for each in other.outside_of)
                and not any(disc.misses(each) for each in other.inside)
                and not (box and disc.misses_box(*box))
            ):
                return False
        return True

    def intersects(self, other: PointSet) -> bool:
        """Return whether the two sets may have a common position."""
        return not self.meet(other).empty

    def example(self) -> Any:
        """Return some position in the set, or None if no candidate is in it."""
        return next(self.candidates(((-90.0, 90.0),), ((-180.0, 180.0),)), None)

    def candidates(self, lats: Iterable[Any], lons: Iterable[Any]) -> Iterator[tuple[float, float]]:
        """Yield positions in the set to try as examples, within the given ranges of degrees."""
        for lat in lats:
            for lon in lons:
                corners = [(x, y) for x in lat for y in lon]
                middles = [disc.nearest(lat, lon) for disc in self.inside]
                between = [
                    ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for n, a in enumerate(middles) for b in middles[:n]
                ]
                around = [
                    (min(max(x, lat[0]), lat[1]), min(max(y, lon[0]), lon[1]))
                    for disc in self.inside
                    for bounds in [disc.bounds()]
                    for x in (disc.lat, *bounds[0].spans[0])
                    for y in (disc.lon, *bounds[1].spans[0])
                    for x, y in ((disc.lat * 0.02 + x * 0.98, disc.lon * 0.02 + y * 0.98),)
                ]
                for place in (*middles, *between, *around, *corners, (0.0, 0.0)):
                    if lat[0] <= place[0] <= lat[1] and lon[0] <= place[1] <= lon[1] and self.has(place):
                        yield place


def point_of(values: tuple[Any, ...], place: int) -> tuple[float, float] | None:
    """Return the position (latitude, longitude) of an event, or None if one field is missing."""
    lat, lon = point_fields(place)
    return None if values[lat] is None or values[lon] is None else (values[lat], values[lon])


def tighten_points(type: EventType, allowed: dict[int, Any], spots: list[int]) -> bool:
    """Restrict latitude and longitude to the bounds of the circles; return False if nothing is left."""
    for spot in spots:
        fields = point_fields(spot)
        discs = allowed[spot]
        for at, number in zip(fields, (0, 1), strict=True):
            there = msgspec.structs.replace(allowed.get(at, type.everything[at]), absent=False)
            for disc in discs.inside:
                there = there.meet(disc.bounds()[number])
            if there.empty:
                return False
            allowed[at] = there
        lats, lons = (allowed[at] for at in fields)
        if lats.point and lons.point:
            if not discs.has((lats.spans[0][0], lons.spans[0][0])):
                return False
            del allowed[spot]
            continue
        if any(disc.misses_box(lats, lons) for disc in discs.inside):
            return False
        if any(disc.holds_box(lats, lons) for disc in discs.outside_of):
            return False
        if discs.covers(PointSet(), (lats, lons)):
            del allowed[spot]  # the constraints on the fields imply it
    return True
