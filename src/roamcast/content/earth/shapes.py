"""Shapes on the Earth: circles and polygons in events, circles and boxes of degrees in filters."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.polygon import Polygon, check_ring
from roamcast.content.earth.sphere import WIDEST, Circle, distance
from roamcast.content.errors import ContentError


class LatLonBox(NamedTuple):
    """The points between two latitudes and two longitudes; it crosses the date line if west > east."""

    south: float
    west: float
    north: float
    east: float

    @property
    def lats(self) -> RangeSet:
        """The range of latitudes [deg]."""
        return RangeSet(((self.south, self.north),))

    @property
    def lons(self) -> RangeSet:
        """The ranges of longitudes [deg]; 180 and -180 are equivalent."""
        if self.west > self.east:
            return RangeSet(((-180.0, self.east), (self.west, 180.0)))
        lons = RangeSet(((self.west, self.east),))
        for end in (-180.0, 180.0):
            if end in (self.west, self.east):
                lons = lons.join(RangeSet(((-end, -end),)))
        return lons

    @property
    def width(self) -> float:
        """Width from west to east [deg]."""
        return self.east - self.west + (360 if self.west > self.east else 0)

    @property
    def poles(self) -> list[float]:
        """The latitudes of the poles that lie in the box."""
        return [lat for lat in (self.south, self.north) if abs(lat) == 90]

    @property
    def whole(self) -> bool:
        """Whether the box contains every point."""
        return self.south == -90 and self.north == 90 and self.width >= 360

    def has(self, lat: float, lon: float) -> bool:
        """Return whether a point lies in the box."""
        return self.south <= lat <= self.north and (self.lons.has(lon) or abs(lat) == 90)


Region: TypeAlias = Circle | LatLonBox
"""A region in a filter."""
Shape: TypeAlias = Circle | Polygon
"""An area in an event."""


def holds(outer: Region, inner: Region) -> bool:
    """Return whether `outer` certainly contains `inner`."""
    if isinstance(outer, Circle):
        return outer.holds(inner) if isinstance(inner, Circle) else outer.holds_box(inner.lats, inner.lons)
    lats, lons = inner.bounds() if isinstance(inner, Circle) else (inner.lats, inner.lons)
    return outer.lats.covers(lats) and outer.lons.covers(lons)


def disjoint(one: Region, other: Region) -> bool:
    """Return whether two regions certainly have no common point."""
    if isinstance(one, Circle):
        return one.misses(other) if isinstance(other, Circle) else one.misses_box(other.lats, other.lons)
    if isinstance(other, Circle):
        return other.misses_box(one.lats, one.lons)
    if set(one.poles) & set(other.poles):
        return False
    return not one.lats.intersects(other.lats) or not one.lons.intersects(other.lons)


def within(shape: Shape, region: Region) -> bool:
    """Return whether a shape lies in a region, up to rounding."""
    if isinstance(shape, Polygon):
        if isinstance(region, Circle):  # a circle is convex
            return shape.reach(region.lat, region.lon) <= region.radius
        low, high = shape.lats
        return region.south <= low and high <= region.north and shape.between(region.west, region.width)
    if isinstance(region, Circle):
        return distance(shape.lat, shape.lon, region.lat, region.lon) + shape.radius <= region.radius
    if not shape.radius:
        return region.has(shape.lat, shape.lon)
    lats, lons = shape.bounds(margin=0.0)
    return region.lats.covers(lats) and region.lons.covers(lons)


def meets(shape: Shape, region: Region) -> bool:
    """Return whether a shape and a region have a common point, up to rounding."""
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
    """Return whether one contains a corner of the other or their edges intersect."""
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
    """Return the lowest and highest latitude of a shape [deg]."""
    if isinstance(shape, Polygon):
        return shape.lats
    [(south, north)] = shape.bounds(margin=0.0)[0].spans
    return south, north


def circle(lat: float, lon: float, radius: float) -> Circle:
    """Return the circle of an event, radius [m] rounded to millimetres; raise `ContentError` if it is
    invalid.
    """
    check_place(lat, lon)
    if not 0 <= radius <= WIDEST:
        raise ContentError(f"the radius is {radius!r} m; it must be from 0 to 10000 km")
    return Circle(float(lat) + 0.0, float(lon) + 0.0, round(float(radius), 3) + 0.0)


def polygon(corners: tuple[tuple[float, float], ...]) -> Polygon:
    """Return the polygon of an event; raise `ContentError` if it is invalid."""
    for corner in corners:
        check_place(*corner)
    return check_ring(corners)


def box(south: float, west: float, north: float, east: float) -> LatLonBox:
    """Return a box of degrees; raise `ContentError` if it is invalid."""
    check_place(south, west)
    check_place(north, east)
    if south > north:
        raise ContentError("the southern latitude of a box must not exceed the northern one")
    return LatLonBox(float(south) + 0.0, float(west) + 0.0, float(north) + 0.0, float(east) + 0.0)


def check_place(lat: float, lon: float) -> None:
    """Raise `ContentError` unless latitude and longitude are valid [deg]; NaN is invalid."""
    if not -90 <= lat <= 90 or not -180 <= lon <= 180:
        raise ContentError(
            f"{lat!r}, {lon!r} is not a position: a latitude is within 90, a longitude within 180 degrees"
        )
