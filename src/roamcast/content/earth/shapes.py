"""Shapes on the Earth: circles and polygons that events tell, circles and boxes that filters ask about."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from roamcast.content.box.ranges import Ranges
from roamcast.content.earth.polygon import Ring, check_ring
from roamcast.content.earth.sphere import WIDEST, Disc, distance
from roamcast.content.errors import ContentError


class Box(NamedTuple):
    """The places between two latitudes and two longitudes, across the date line where west is above east."""

    south: float
    west: float
    north: float
    east: float

    @property
    def lats(self) -> Ranges:
        """Its latitudes."""
        return Ranges(((self.south, self.north),))

    @property
    def lons(self) -> Ranges:
        """Its longitudes; 180 and -180 are one, and at a pole all are."""
        if self.west > self.east:
            return Ranges(((-180.0, self.east), (self.west, 180.0)))
        lons = Ranges(((self.west, self.east),))
        for end in (-180.0, 180.0):
            if end in (self.west, self.east):
                lons = lons.join(Ranges(((-end, -end),)))
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


Region: TypeAlias = Disc | Box
"""What a filter asks about."""
Shape: TypeAlias = Disc | Ring
"""What an event tells."""


def holds(outer: Region, inner: Region) -> bool:
    """Whether all of one region is in another, for sure."""
    if isinstance(outer, Disc):
        return outer.holds(inner) if isinstance(inner, Disc) else outer.holds_box(inner.lats, inner.lons)
    lats, lons = inner.bounds() if isinstance(inner, Disc) else (inner.lats, inner.lons)
    return outer.lats.covers(lats) and outer.lons.covers(lons)


def apart(one: Region, other: Region) -> bool:
    """Whether two regions have no place in common, for sure."""
    if isinstance(one, Disc):
        return one.misses(other) if isinstance(other, Disc) else one.misses_box(other.lats, other.lons)
    if isinstance(other, Disc):
        return other.misses_box(one.lats, one.lons)
    if set(one.poles) & set(other.poles):
        return False
    return not one.lats.intersects(other.lats) or not one.lons.intersects(other.lons)


def within(shape: Shape, region: Region) -> bool:
    """Whether all of a shape lies in a region, as near as doubles tell."""
    if isinstance(shape, Ring):
        if isinstance(region, Disc):  # which is convex
            return shape.reach(region.lat, region.lon) <= region.radius
        low, high = shape.lats
        return region.south <= low and high <= region.north and shape.between(region.west, region.width)
    if isinstance(region, Disc):
        return distance(shape.lat, shape.lon, region.lat, region.lon) + shape.radius <= region.radius
    if not shape.radius:
        return region.has(shape.lat, shape.lon)
    lats, lons = shape.bounds(room=0.0)
    return region.lats.covers(lats) and region.lons.covers(lons)


def meets(shape: Shape, region: Region) -> bool:
    """Whether a shape and a region have a place in common, as near as doubles tell."""
    if isinstance(shape, Ring):
        if isinstance(region, Disc):
            return shape.distance(region.lat, region.lon) <= region.radius
        return _ring_meets_box(shape, region)
    if isinstance(region, Disc):
        return distance(shape.lat, shape.lon, region.lat, region.lon) <= shape.radius + region.radius
    return any(
        distance(shape.lat, shape.lon, *shape.nearest(lat, lon)) <= shape.radius
        for lat in region.lats.spans
        for lon in region.lons.spans
    )


def _ring_meets_box(ring: Ring, box: Box) -> bool:
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
    if isinstance(shape, Ring):
        return shape.lats
    [(south, north)] = shape.bounds(room=0.0)[0].spans
    return south, north


def circle(lat: float, lon: float, radius: float) -> Disc:
    """A circle of whole millimetres that an event tells, perhaps a place; what cannot be one is refused."""
    check_place(lat, lon)
    if not 0 <= radius <= WIDEST:
        raise ContentError(f"a circle of {radius!r} m; from 0 to 10000 km there can be one")
    return Disc(float(lat) + 0.0, float(lon) + 0.0, round(float(radius), 3) + 0.0)


def polygon(corners: tuple[tuple[float, float], ...]) -> Ring:
    """A polygon that an event tells; what cannot be one is refused."""
    for corner in corners:
        check_place(*corner)
    return check_ring(corners)


def box(south: float, west: float, north: float, east: float) -> Box:
    """A box of degrees; what cannot be one is refused."""
    check_place(south, west)
    check_place(north, east)
    if south > north:
        raise ContentError("a box has its south below its north")
    return Box(float(south) + 0.0, float(west) + 0.0, float(north) + 0.0, float(east) + 0.0)


def check_place(lat: float, lon: float) -> None:
    """Refuse what is no place on the Earth, nan included."""
    if not -90 <= lat <= 90 or not -180 <= lon <= 180:
        raise ContentError(
            f"{lat!r}, {lon!r} is no place; a latitude is within 90, a longitude within 180 degrees"
        )
