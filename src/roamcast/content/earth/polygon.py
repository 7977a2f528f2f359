"""Polygons on the Earth, whose edges are arcs of great circles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from roamcast.content.earth.sphere import EARTH
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.earth.arcs import Arcs

MAX_CORNERS = 1024
"Corners of one polygon."
THINNEST = 1e-12
"Of a polygon's area to the square of its length; below it, rounding would say what is inside."

Corner: TypeAlias = tuple[float, float]
"""Latitude and longitude."""


class _Corners(NamedTuple):
    corners: tuple[Corner, ...]


class Polygon(_Corners):
    """A polygon by its corners; an edge leads from the last to the first."""

    @cached_property
    def _arcs(self) -> Arcs:
        from roamcast.content.earth.arcs import Arcs  # brings numpy and shapely, which few need

        return Arcs(self.corners)

    def __reduce__(self) -> tuple[Any, ...]:
        return Polygon, (self.corners,)

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in it or on its edge."""
        return self._arcs.has(lat, lon)

    def has_any(self, places: Sequence[Corner]) -> bool:
        """Whether one of some places is in it or on its edge."""
        return self._arcs.has_any(places)

    def distance(self, lat: float, lon: float) -> float:
        """Metres from a place, 0 from one in it."""
        if self.has(lat, lon):
            return 0.0
        return EARTH * self._arcs.nearest(lat, lon)

    def reach(self, lat: float, lon: float) -> float:
        """Metres from a place to the furthest corner."""
        return EARTH * self._arcs.furthest(lat, lon)

    def has_corner(self, south: float, west: float, north: float, width: float) -> bool:
        """Whether a corner lies between two latitudes, and from a longitude `width` degrees to the east."""
        return self._arcs.has_corner(south, west, north, width)

    @property
    def lats(self) -> tuple[float, float]:
        """The least and the greatest latitude in it."""
        return self._arcs.lats

    def between(self, west: float, width: float) -> bool:
        """Whether all of it lies between a longitude and another `width` degrees east of it."""
        return width >= 360 or self._arcs.between(west, width)

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Whether an edge has a place of a meridian between two latitudes."""
        return self._arcs.crosses_meridian(lon, south, north)

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Whether an edge has a place of a parallel, from a longitude `width` degrees to the east."""
        return self._arcs.crosses_parallel(lat, west, width)


def check_ring(corners: tuple[Corner, ...]) -> Polygon:
    """A polygon, if these are the corners of one that neither crosses nor touches itself."""
    if not 3 <= len(corners) <= MAX_CORNERS:
        raise ContentError(f"a polygon of {len(corners)} corners; there are 3 to {MAX_CORNERS}")
    ring = Polygon(tuple((float(lat) + 0.0, float(lon) + 0.0) for lat, lon in corners))
    flat = ring._arcs.polygon
    if not flat.is_valid:
        raise ContentError("a polygon that crosses or touches itself")
    if flat.area < THINNEST * flat.length**2:
        raise ContentError("a polygon that is a mere line")
    return ring
