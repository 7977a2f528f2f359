"""Polygons on the Earth whose edges are great-circle arcs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from roamcast.content.earth.sphere import EARTH
from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.earth.arcs import Arcs

MAX_CORNERS = 1024
"Maximum number of corners of one polygon."
THINNEST = 1e-12
"Minimum ratio of area to squared perimeter; below it, rounding would determine containment."

Corner: TypeAlias = tuple[float, float]
"""Latitude and longitude [deg]."""


class _Corners(NamedTuple):
    corners: tuple[Corner, ...]


class Polygon(_Corners):
    """A polygon given by its corners; the last corner is connected to the first."""

    @cached_property
    def _arcs(self) -> Arcs:
        from roamcast.content.earth.arcs import Arcs  # imports numpy and shapely, which are rarely needed

        return Arcs(self.corners)

    def __reduce__(self) -> tuple[Any, ...]:
        return Polygon, (self.corners,)

    def has(self, lat: float, lon: float) -> bool:
        """Return whether a point lies in the polygon or on its edge."""
        return self._arcs.has(lat, lon)

    def has_any(self, places: Sequence[Corner]) -> bool:
        """Return whether any of the points lies in the polygon or on its edge."""
        return self._arcs.has_any(places)

    def distance(self, lat: float, lon: float) -> float:
        """Return the distance to a point [m], 0 for a point inside."""
        if self.has(lat, lon):
            return 0.0
        return EARTH * self._arcs.nearest(lat, lon)

    def reach(self, lat: float, lon: float) -> float:
        """Return the distance from a point to the farthest corner [m]."""
        return EARTH * self._arcs.furthest(lat, lon)

    def has_corner(self, south: float, west: float, north: float, width: float) -> bool:
        """Return whether a corner lies between two latitudes and at most `width` degrees east of `west`."""
        return self._arcs.has_corner(south, west, north, width)

    @property
    def lats(self) -> tuple[float, float]:
        """The lowest and highest latitude [deg]."""
        return self._arcs.lats

    def between(self, west: float, width: float) -> bool:
        """Return whether the whole polygon lies between `west` and `width` degrees east of it."""
        return width >= 360 or self._arcs.between(west, width)

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Return whether an edge intersects a meridian between two latitudes."""
        return self._arcs.crosses_meridian(lon, south, north)

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Return whether an edge intersects a parallel at most `width` degrees east of `west`."""
        return self._arcs.crosses_parallel(lat, west, width)


def check_ring(corners: tuple[Corner, ...]) -> Polygon:
    """Return the polygon with these corners; raise `ContentError` if it intersects or touches itself."""
    if not 3 <= len(corners) <= MAX_CORNERS:
        raise ContentError(f"the polygon has {len(corners)} corners; expected 3 to {MAX_CORNERS}")
    ring = Polygon(tuple((float(lat) + 0.0, float(lon) + 0.0) for lat, lon in corners))
    flat = ring._arcs.polygon
    if not flat.is_valid:
        raise ContentError("the polygon intersects or touches itself")
    if flat.area < THINNEST * flat.length**2:
        raise ContentError("the polygon is degenerate: its area is practically zero")
    return ring
