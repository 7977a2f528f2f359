"""Shapes on the Earth: circles and polygons that events tell, circles and boxes that filters ask about."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.polygon import Polygon, check_ring
from roamcast.content.earth.sphere import WIDEST, Circle, distance
from roamcast.content.errors import ContentError


class LatLonBox(NamedTuple):
    """The places between two latitudes and two longitudes, across the date line where west is above east."""

    south: float
    west: float
    north: float
    east: float

    @property
    def lats(self) -> RangeSet:
        """Its latitudes."""
        return RangeSet(((self.south, self.north),))

    @property
    def lons(self) -> RangeSet:
        """Its longitudes; 180 and -180 are one, and at a pole all are."""
        if self.west > self.east:
            return RangeSet(((-180.0, self.east), (self.west, 180.0)))
        lons = RangeSet(((self.west, self.east),))
        for end in (-180.0, 180.0):
            if end in (self.west, self.east):
                lons = lons.join(RangeSet(((-end, -end),)))
        return lons

    @property
    def width(self) -> float:
        """Degrees from west to east."""
        return self.east - self.west + (360 if self.west > self.east else 0)

    @property
    def poles(self) -> list[float]:
        """The latitudes of the poles that are in it."""
        return [lat for lat in (self.south, self.north) if abs(lat) == 90]

    @property
    def whole(self) -> bool:
        """Whether every place is in it."""
        return self.south == -90 and self.north == 90 and self.width >= 360

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in it."""
        return self.south <= lat <= self.north and (self.lons.has(lon) or abs(lat) == 90)


Region: TypeAlias = Circle | LatLonBox
"""What a filter asks about."""
Shape: TypeAlias = Circle | Polygon
"""What an event tells."""


def holds(outer: Region, inner: Region) -> bool:
    """Whether all of one region is in another, for sure."""
    if isinstance(outer, Circle):
        return outer.holds(inner) if isinstance(inner, Circle) else outer.holds_box(inner.lats, inner.lons)
    lats, lons = inner.bounds() if isinstance(inner, Circle) else (inner.lats, inner.lons)
    return outer.lats.covers(lats) and outer.lons.covers(lons)


def disjoint(one: Region, other: Region) -> bool:
    """Whether two regions have no place in common, for sure."""
    if isinstance(one, Circle):
        return one.misses(other) if isinstance(other, Circle) else one.misses_box(other.lats, other.lons)
    if isinstance(other, Circle):
        return other.misses_box(one.lats, one.lons)
    if set(one.poles) & set(other.poles):
        return False
    return not one.lats.intersects(other.lats) or not one.lons.intersects(other.lons)


def within(shape: Shape, region: Region) -> bool:
    """Whether all of a shape lies in a region, as near as doubles tell."""
    if isinstance(shape, Polygon):
        if isinstance(region, Circle):  # which is convex
            return shape.reach(region.lat, region.lon) <= region.radius
        low, high = shape.lats
        return region.south <= low and high <= region.north and shape.between(region.west, region.width)
    if isinstance(region, Circle):
        return distance(shape.lat, shape.lon, region.lat, region.lon) + shape.radius <= region.radius
    if not shape.radius:
        return region.has(shape.lat, shape.lon)
    lats, lons = shape.bounds(room=0.0)
    return region.lats.covers(lats) and region.lons.covers(lons)


def meets(shape: Shape, region: Region) -> bool:
    """Whether a shape and a region have a place in common, as near as doubles tell."""
    if isinstance(shape, Polygon):
        if isinstance(region, Circle):
            return shape.distance(region.lat, region.lon) <= region.radius
        return _ring_meets_box(shape, region)
    if isinstance(region, Circle):
        return distance(shape.lat, shape.lon, region.lat, region.lon) <= shape.radius + region.radius
    return any(
        distance(shape.lat, shape.lon, *shape.nearest(lat, lon)) <= shape.radius
        for lat in region.lats.spans
        for lon in region.lons.spans
    )


def _ring_meets_box(ring: Polygon, box: LatLonBox) -> bool:
    """Either has a corner of the other, or their edges cross."""
    low, high = ring.lats
    if low > box.north or high < box.south:
        return False
    if ring.has_corner(box.south, box.west, box.north, box.width):
        return True
    if ring.has_any([(lat, lon) for lat in (box.south, box.north) for lon in (box.west, box.east)]):
        return True
    return any(ring.crosses_meridian(lon, box.south, box.north) for lon in (box.west, box.east)) or any(
        ring.crosses_parallel(lat, box.west, box.width) for lat in (box.south, box.north)
    )


def lats(shape: Shape) -> tuple[float, float]:
    """The least and the greatest latitude."""
    if isinstance(shape, Polygon):
        return shape.lats
    [(south, north)] = shape.bounds(room=0.0)[0].spans
    return south, north


def circle(lat: float, lon: float, radius: float) -> Circle:
    """A circle of whole millimetres that an event tells, perhaps a place; what cannot be one is refused."""
    check_place(lat, lon)
    if not 0 <= radius <= WIDEST:
        raise ContentError(f"a circle of {radius!r} m; from 0 to 10000 km there can be one")
    return Circle(float(lat) + 0.0, float(lon) + 0.0, round(float(radius), 3) + 0.0)


def polygon(corners: tuple[tuple[float, float], ...]) -> Polygon:
    """A polygon that an event tells; what cannot be one is refused."""
    for corner in corners:
        check_place(*corner)
    return check_ring(corners)


def box(south: float, west: float, north: float, east: float) -> LatLonBox:
    """A box of degrees; what cannot be one is refused."""
    check_place(south, west)
    check_place(north, east)
    if south > north:
        raise ContentError("a box has its south below its north")
    return LatLonBox(float(south) + 0.0, float(west) + 0.0, float(north) + 0.0, float(east) + 0.0)


def check_place(lat: float, lon: float) -> None:
    """Refuse what is no place on the Earth, nan included."""
    if not -90 <= lat <= 90 or not -180 <= lon <= 180:
        raise ContentError(
            f"{lat!r}, {lon!r} is no place; a latitude is within 90, a longitude within 180 degrees"
        )
