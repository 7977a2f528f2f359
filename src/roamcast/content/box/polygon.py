"""Polygons on the sphere, whose edges are arcs of great circles.

A great circle is a straight line in the gnomonic projection around the polygon's middle, so there shapely
says whether the polygon is one and whether a place is in it. What concerns distances, and parallels, which
are no great circles, is arithmetic on single arcs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from roamcast.content.box.sphere import EARTH, turn
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from shapely import Polygon

MAX_CORNERS = 1024
"Corners of one polygon."
_WIDEST = 60.0
"Degrees: no corner is further from the middle of all."

Vector: TypeAlias = tuple[float, float, float]
Corner: TypeAlias = tuple[float, float]
"""Latitude and longitude."""


class Ring(NamedTuple):
    """A polygon by its corners; an edge leads from the last to the first."""

    corners: tuple[Corner, ...]

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in it or on its edge."""
        return _projected(self).has(_vector(lat, lon))

    def distance(self, lat: float, lon: float) -> float:
        """Metres from a place, 0 from one in it."""
        if self.has(lat, lon):
            return 0.0
        place = _vector(lat, lon)
        return EARTH * min(arc.angle(place) for arc in _projected(self).arcs)

    @property
    def lats(self) -> tuple[float, float]:
        """The least and the greatest latitude in it."""
        ends = [lat for arc in _projected(self).arcs for lat in arc.lats]
        return (
            -90.0 if self.has(-90, 0) else min(ends),
            90.0 if self.has(90, 0) else max(ends),
        )

    def between(self, west: float, width: float) -> bool:
        """Whether all of it lies between a longitude and another `width` degrees east of it."""
        if width >= 360:
            return True
        around = [pole for pole in (-90.0, 90.0) if self.has(pole, 0)]
        if any(all(lat != pole for lat, _ in self.corners) for pole in around):
            return False
        for (lat, lon), (other_lat, other_lon) in self.edges:
            here = other_lon if abs(lat) == 90 else lon  # from a pole an edge is a meridian
            there = here if abs(other_lat) == 90 else other_lon
            offset, after = (here - west) % 360, (there - west) % 360
            if offset > width or after > width or abs(offset + turn(there - here) - after) > 1:
                return False
        return True

    @property
    def edges(self) -> tuple[tuple[Corner, Corner], ...]:
        """Pairs of corners."""
        return tuple(zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True))

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Whether an edge has a place of a meridian between two latitudes."""
        return any(arc.crosses_meridian(lon, south, north) for arc in _projected(self).arcs)

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Whether an edge has a place of a parallel, from a longitude `width` degrees to the east."""
        return any(arc.crosses_parallel(lat, west, width) for arc in _projected(self).arcs)


def check_ring(corners: tuple[Corner, ...]) -> Ring:
    """A polygon, if these are the corners of one that neither crosses nor touches itself."""
    if not 3 <= len(corners) <= MAX_CORNERS:
        raise ContentError(f"a polygon of {len(corners)} corners; there are 3 to {MAX_CORNERS}")
    ring = Ring(tuple((float(lat) + 0.0, float(lon) + 0.0) for lat, lon in corners))
    if not _projected(ring).polygon.is_valid:
        raise ContentError("a polygon that crosses or touches itself")
    return ring


class _Arc(NamedTuple):
    """The shorter part of a great circle between two places."""

    start: Vector
    toward: Vector
    "The direction at the start, a quarter of the circle away."
    length: float

    def at(self, way: float) -> Vector:
        """The place after some way, as an angle."""
        near, far = math.cos(way), math.sin(way)
        return _sum(near, self.start, far, self.toward)

    def angle(self, place: Vector) -> float:
        """How far the nearest place of the arc is from another, as an angle."""
        way = math.atan2(_dot(self.toward, place), _dot(self.start, place))
        if 0 <= way <= self.length:
            return _angle(self.at(way), place)
        return min(_angle(self.start, place), _angle(self.at(self.length), place))

    @property
    def lats(self) -> tuple[float, ...]:
        """The latitudes of its ends and of its turning points."""
        top = math.atan2(self.toward[2], self.start[2])
        ways = [0.0, self.length, *(w for w in (top, top + math.pi, top - math.pi) if 0 < w < self.length)]
        return tuple(_lat(self.at(way)) for way in ways)

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        east, ahead = math.radians(lon), _vector(0, lon)
        across = (-math.sin(east), math.cos(east), 0.0)
        way = math.atan2(-_dot(across, self.start), _dot(across, self.toward))
        for each in (way, way + math.pi, way - math.pi):
            if 0 <= each <= self.length:
                place = self.at(each)
                if _dot(ahead, place) >= 0 and south <= _lat(place) <= north:
                    return True
        return False

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        height, most = math.sin(math.radians(lat)), math.hypot(self.start[2], self.toward[2])
        if abs(height) > most:
            return False
        top = math.atan2(self.toward[2], self.start[2])
        aside = math.acos(height / most) if most else 0.0
        for way in (top + aside, top - aside):
            for each in (way, way + math.tau, way - math.tau):
                if 0 <= each <= self.length and (_lon(self.at(each)) - west) % 360 <= width:
                    return True
        return False


class _Projected:
    """A polygon in the gnomonic projection around its middle."""

    def __init__(self, ring: Ring) -> None:
        import shapely

        places = [_vector(*corner) for corner in ring.corners]
        x, y, z = (math.fsum(place[n] for place in places) for n in range(3))
        size = math.hypot(x, y, z)
        middle = (x / size, y / size, z / size) if size > 1e-9 else (0.0, 0.0, 0.0)
        self._nearest = math.cos(math.radians(_WIDEST))
        if any(_dot(middle, place) < self._nearest for place in places):
            raise ContentError(f"a polygon with corners more than {_WIDEST:g} degrees from its middle")
        self._middle = middle
        pole = (0.0, 0.0, 1.0) if abs(middle[2]) < 0.9 else (1.0, 0.0, 0.0)
        self._right = _unit(_cross(pole, middle))
        self._up = _cross(middle, self._right)
        self.arcs = tuple(_arc(*pair) for pair in zip(places, (*places[1:], places[0]), strict=True))
        self.polygon: Polygon = shapely.Polygon([self._flat(place) for place in places])
        shapely.prepare(self.polygon)

    def has(self, place: Vector) -> bool:
        import shapely

        if _dot(self._middle, place) < self._nearest:
            return False
        return bool(self.polygon.covers(shapely.Point(self._flat(place))))

    def _flat(self, place: Vector) -> tuple[float, float]:
        depth = _dot(self._middle, place)
        return _dot(self._right, place) / depth, _dot(self._up, place) / depth


@lru_cache(maxsize=256)
def _projected(ring: Ring) -> _Projected:
    return _Projected(ring)


def _arc(start: Vector, end: Vector) -> _Arc:
    normal = _cross(start, end)
    size = math.hypot(*normal)
    if not size:
        return _Arc(start, (0.0, 0.0, 0.0), 0.0)
    toward = _cross((normal[0] / size, normal[1] / size, normal[2] / size), start)
    return _Arc(start, toward, math.atan2(size, _dot(start, end)))


def _vector(lat: float, lon: float) -> Vector:
    phi, along = math.radians(lat), math.radians(lon)
    flat = 0.0 if abs(lat) == 90 else math.cos(phi)
    return flat * math.cos(along), flat * math.sin(along), math.sin(phi)


def _lat(place: Vector) -> float:
    return math.degrees(math.atan2(place[2], math.hypot(place[0], place[1])))


def _lon(place: Vector) -> float:
    return math.degrees(math.atan2(place[1], place[0]))


def _angle(one: Vector, other: Vector) -> float:
    return 2 * math.asin(min(1.0, math.dist(one, other) / 2))


def _dot(one: Vector, other: Vector) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(one: Vector, other: Vector) -> Vector:
    return (
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    )


def _sum(first: float, one: Vector, second: float, other: Vector) -> Vector:
    return (
        first * one[0] + second * other[0],
        first * one[1] + second * other[1],
        first * one[2] + second * other[2],
    )


def _unit(vector: Vector) -> Vector:
    size = math.hypot(*vector)
    return vector[0] / size, vector[1] / size, vector[2] / size
