"""Sets of areas, given by regions that they must or must not lie in or overlap.

An area is a circle or polygon in an event; a region is a circle or box in a filter. Areas may be as small as
a point, so one test implies another exactly if its region contains the other's or is disjoint from it.
Relations that follow only from several tests together are approximated conservatively.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.polygon import Polygon
from roamcast.content.earth.shapes import (
    LatLonBox,
    Region,
    Shape,
    circle,
    disjoint,
    holds,
    meets,
    polygon,
    within,
)
from roamcast.content.earth.sphere import Circle, distance
from roamcast.content.errors import ContentError, FilterTooComplex

MAX_TESTS = 16
"Maximum number of tests of one area in one conjunction."

Sort: TypeAlias = Literal["", "circle", "polygon"]
"""The shapes that a field allows; the empty string allows both."""


class RegionTest(NamedTuple):
    """The test that an area lies within a region, or that it overlaps the region."""

    all: bool
    region: Region

    def has(self, shape: Shape) -> bool:
        """Return whether the area `shape` passes the test."""
        return within(shape, self.region) if self.all else meets(shape, self.region)

    def implies(self, other: RegionTest) -> bool:
        """Return whether every area that passes this test certainly passes `other`."""
        return (self.all or not other.all) and (self == other or holds(other.region, self.region))

    def excludes(self, other: RegionTest) -> bool:
        """Return whether no area that passes this test can pass `other`."""
        return (self.all or other.all) and disjoint(self.region, other.region)

    @property
    def always(self) -> bool:
        """Whether every area passes the test."""
        return isinstance(self.region, LatLonBox) and self.region.whole


class AreaSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The areas that pass all `required` tests and none of the `refused` tests."""

    sort: Sort = ""
    required: tuple[RegionTest, ...] = ()
    refused: tuple[RegionTest, ...] = ()
    absent: bool = False
    void: bool = False
    "Whether the set has no area; it may still include the missing value."

    @classmethod
    def where(
        cls,
        sort: Sort,
        required: Iterable[RegionTest],
        refused: Iterable[RegionTest] = (),
        absent: bool = False,
    ) -> AreaSet:
        """Return the set without redundant tests."""
        yes = {each for each in required if not each.always}
        no = set(refused)
        impossible = any(each.always for each in no)
        impossible = impossible or any(one.excludes(other) for one in yes for other in yes)
        if impossible or any(one.implies(other) for one in yes for other in no):
            return cls(sort, absent=absent, void=True)
        kept = _sorted(t for t in yes if not any(o != t and o.implies(t) for o in yes))
        left = _sorted(
            t
            for t in no
            if not any(o != t and t.implies(o) for o in no) and not any(o.excludes(t) for o in yes)
        )
        if len(kept) + len(left) > MAX_TESTS:
            raise ContentError(f"one conjunction tests an area against more than {MAX_TESTS} regions")
        return cls(sort, kept, left, absent)

    @property
    def empty(self) -> bool:
        """Whether the set is certainly empty."""
        return self.void and not self.absent

    @property
    def point(self) -> bool:
        """Always False: areas are not looked up by value."""
        return False

    @property
    def patterns(self) -> int:
        """Always 0: areas have no patterns."""
        return 0

    def has(self, value: Any) -> bool:
        """Return whether an area (None: missing) is in the set."""
        if value is None:
            return self.absent
        if self.void:
            return False
        return all(test.has(value) for test in self.required) and not any(
            test.has(value) for test in self.refused
        )

    def test(self) -> Callable[[Any], bool]:
        """Return whether the set contains a value; the same as `has`."""
        return self.has

    def meet(self, other: AreaSet) -> AreaSet:
        """Return the intersection of the two sets."""
        absent = self.absent and other.absent
        if self.void or other.void:
            return AreaSet(self.sort, absent=absent, void=True)
        return AreaSet.where(self.sort, self.required + other.required, self.refused + other.refused, absent)

    def join(self, other: AreaSet) -> AreaSet | None:
        """Return the union if one set contains the other or both are complementary; otherwise None."""
        absent = self.absent or other.absent
        for one, another in ((self, other), (other, self)):
            if one._holds(another):
                return msgspec.structs.replace(one, absent=absent)
            if len(one.required) == 1 and not one.refused and another.refused == one.required:
                return None if another.required else AreaSet(self.sort, absent=absent)
        return None

    def outside(self, everything: AreaSet) -> list[AreaSet]:
        """Return `everything` minus this set, as disjoint sets."""
        rest: list[AreaSet] = []
        if self.void:
            rest.append(msgspec.structs.replace(everything, absent=False))
        yes, no = everything.required, everything.refused
        for test in self.required:
            rest.append(AreaSet.where(self.sort, yes, (*no, test)))
            yes += (test,)
        for test in self.refused:
            rest.append(AreaSet.where(self.sort, (*yes, test), no))
            no += (test,)
        rest = [each for each in rest if not each.empty]
        if everything.absent and not self.absent:
            if not rest:
                return [AreaSet(self.sort, absent=True, void=True)]
            rest[0] = msgspec.structs.replace(rest[0], absent=True)
        return rest

    def covers(self, other: AreaSet) -> bool:
        """Return whether this set certainly contains `other`."""
        return (self.absent or not other.absent) and self._holds(other)

    def intersects(self, other: AreaSet) -> bool:
        """Return whether the two sets may have a common element."""
        return not self.meet(other).empty

    def example(self) -> Any:
        """Return some area in the set (None: missing); raise `FilterTooComplex` if the search finds none."""
        if self.void:
            return None
        for shape in self._candidates():
            if self.has(shape):
                return shape
        if self.absent:
            return None
        raise FilterTooComplex("no area was found that satisfies all region tests")

    def sides(self) -> tuple[RangeSet, RangeSet]:
        """Return the ranges of an area's southern and northern latitude [deg] that the single tests imply."""
        south = north = RangeSet(((-90.0, 90.0),))
        for test in self.required:
            region = test.region
            lats = region.bounds()[0] if isinstance(region, Circle) else region.lats
            [(low, high)] = lats.spans
            south = south.meet(RangeSet(((low if test.all else -90.0, high),)))
            north = north.meet(RangeSet(((low, high if test.all else 90.0),)))
        return south, north

    def _holds(self, other: AreaSet) -> bool:
        if other.void:
            return True
        if self.void:
            return False
        for test in self.required:
            if not any(theirs.implies(test) for theirs in other.required):
                return False
        for test in self.refused:
            if not any(test.implies(no) for no in other.refused) and not any(
                yes.excludes(test) for yes in other.required
            ):
                return False
        return True

    def _candidates(self) -> Iterator[Shape]:
        """Yield areas that are likely to be in the set, as examples to try."""
        regions = [test.region for test in self.required + self.refused]
        places = [place for region in regions for place in _places(region)]
        places += [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for n, a in enumerate(places) for b in places[:n]]
        places += [(0.0, 0.0), (45.0, 90.0), (-45.0, -90.0), (80.0, 10.0)]
        places = list(dict.fromkeys(places))
        centres = [_places(test.region)[0] for test in self.required if not test.all]
        wide = max((distance(*a, *b) for a in centres for b in centres), default=0.0)
        for size in dict.fromkeys((0.0, wide / 2 * 1.01, wide, 1e3, 1e5, 3e6)):
            for lat, lon in places:
                if self.sort != "polygon":
                    yield circle(lat, lon, size)
                if self.sort != "circle":
                    yield from _triangle(lat, lon, size / 111_000 or 1e-7)
        if len(centres) > 1 and self.sort != "circle":
            yield from _thin(centres)


def _places(region: Region) -> list[tuple[float, float]]:
    """Return some points in a region, its centre first, and some just outside."""
    if isinstance(region, LatLonBox):
        middle = (region.west + region.width / 2 + 180) % 360 - 180
        lats = ((region.south + region.north) / 2, region.south, region.north)
        lons = (middle, region.west, region.east)
        inner = [(lat, lon) for lat in lats for lon in lons]
        outer = [(lats[0], _across(region.west - 1)), (lats[0], _across(region.east + 1))]
        return inner + outer + [(max(lats[1] - 1, -90.0), lons[0]), (min(lats[2] + 1, 90.0), lons[0])]
    reach = [
        (lat, lon)
        for factor in (0.98, 1.02)
        for far in [Circle(region.lat, region.lon, region.radius * factor).bounds()]
        for lat, lon in (
            *((end, region.lon) for end in far[0].spans[0]),
            *((region.lat, end) for end in (far[1].spans[0][0], far[1].spans[-1][1])),
        )
    ]
    return [(region.lat, region.lon), *reach]


def _across(lon: float) -> float:
    return (lon + 180) % 360 - 180


def _triangle(lat: float, lon: float, size: float) -> Iterator[Polygon]:
    """Yield a small triangle around a point, if it is a valid polygon."""
    north, south = min(lat + size, 90.0), max(lat - size, -90.0)
    corners = ((south, _across(lon - size)), (south, _across(lon + size)), (north, lon))
    try:
        yield polygon(corners)
    except ContentError:
        return


def _thin(places: list[tuple[float, float]]) -> Iterator[Polygon]:
    """Yield a thin polygon along a list of points and back, if it is valid."""
    back = [(min(lat + 1e-6, 90.0), _across(lon + 1e-6)) for lat, lon in reversed(places)]
    try:
        yield polygon((*places, *back))
    except ContentError:
        return


def _sorted(tests: Iterable[RegionTest]) -> tuple[RegionTest, ...]:
    """Return the tests in an order that is defined for both circles and boxes."""
    return tuple(sorted(tests, key=lambda test: (test.all, len(test.region), test.region)))
