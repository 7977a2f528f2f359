"""Polygons on the Earth, whose edges are arcs of great circles."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from roamcast.content.earth.sphere import EARTH, turn
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.earth.arcs import Arcs

MAX_CORNERS = 1024
"Corners of one polygon."
THINNEST = 1e-12
"Of a polygon's area to the square of its length; below it, rounding would say what is inside."

Corner: TypeAlias = tuple[float, float]
"""Latitude and longitude."""


class Ring(NamedTuple):
    """A polygon by its corners; an edge leads from the last to the first."""

    corners: tuple[Corner, ...]

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in it or on its edge."""
        return _arcs(self).has(lat, lon)

    def distance(self, lat: float, lon: float) -> float:
        """Metres from a place, 0 from one in it."""
        if self.has(lat, lon):
            return 0.0
        return EARTH * _arcs(self).nearest(lat, lon)

    def reach(self, lat: float, lon: float) -> float:
        """Metres from a place to the furthest corner."""
        return EARTH * _arcs(self).furthest(lat, lon)

    def has_corner(self, south: float, west: float, north: float, width: float) -> bool:
        """Whether a corner lies between two latitudes, and from a longitude `width` degrees to the east."""
        return _arcs(self).has_corner(south, west, north, width)

    @property
    def lats(self) -> tuple[float, float]:
        """The least and the greatest latitude in it."""
        return _arcs(self).lats

    def between(self, west: float, width: float) -> bool:
        """Whether all of it lies between a longitude and another `width` degrees east of it."""
        if width >= 360:
            return True
        for (lat, lon), (other_lat, other_lon) in self.edges:
            here = other_lon if abs(lat) == 90 else lon  # from a pole an edge is a meridian
            there = here if abs(other_lat) == 90 else other_lon
            offset, after = (here - west) % 360, (there - west) % 360
            along = turn(there - here)
            over_pole = abs(along) == 180  # two meridians, and nothing between them
            if after > width or not (over_pole or abs(offset + along - after) < 1):
                return False
        return True

    @property
    def edges(self) -> tuple[tuple[Corner, Corner], ...]:
        """Pairs of corners."""
        return tuple(zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True))

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Whether an edge has a place of a meridian between two latitudes."""
        return _arcs(self).crosses_meridian(lon, south, north)

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Whether an edge has a place of a parallel, from a longitude `width` degrees to the east."""
        return _arcs(self).crosses_parallel(lat, west, width)


def check_ring(corners: tuple[Corner, ...]) -> Ring:
    """A polygon, if these are the corners of one that neither crosses nor touches itself."""
    if not 3 <= len(corners) <= MAX_CORNERS:
        raise ContentError(f"a polygon of {len(corners)} corners; there are 3 to {MAX_CORNERS}")
    ring = Ring(tuple((float(lat) + 0.0, float(lon) + 0.0) for lat, lon in corners))
    flat = _arcs(ring).polygon
    if not flat.is_valid:
        raise ContentError("a polygon that crosses or touches itself")
    if flat.area < THINNEST * flat.length**2:
        raise ContentError("a polygon that is a mere line")
    return ring


@lru_cache(maxsize=256)
def _arcs(ring: Ring) -> Arcs:
    from roamcast.content.earth.arcs import Arcs  # brings numpy and shapely, which few need

    return Arcs(ring.corners)
