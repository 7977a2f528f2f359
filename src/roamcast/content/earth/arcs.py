"""The arithmetic of polygons whose edges are arcs of great circles.

A great circle is a straight line in the gnomonic projection around the polygon's middle, so there shapely
says whether the polygon is one and whether a place is in it. What concerns distances, and parallels, which
are no great circles, is arithmetic on arcs, all edges at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from roamcast.content.errors import ContentError

_WIDEST = 60.0
"Degrees: no corner is further from the middle of all."

Vector: TypeAlias = npt.NDArray[np.float64]
Vectors: TypeAlias = npt.NDArray[np.float64]
"""A row each."""
Angles: TypeAlias = npt.NDArray[np.float64]


class Arcs:
    """The edges of a polygon, from each corner (latitude, longitude) to the next."""

    def __init__(self, corners: Sequence[tuple[float, float]]) -> None:
        self._corners = np.array(corners)
        self.start = np.array([_vector(*corner) for corner in corners])
        following = np.roll(self.start, -1, axis=0)
        normal = np.cross(self.start, following)
        size = np.linalg.norm(normal, axis=1)
        self.toward = np.cross(normal / np.where(size, size, 1.0)[:, None], self.start)
        "The direction at the start, a quarter of the circle away."
        self.length = np.arctan2(size, np.einsum("ij,ij->i", self.start, following))
        self._project()
        ends = np.concatenate((self._corners[:, 0], self._turning_lats()))
        self.lats = (
            -90.0 if self.has(-90, 0) else float(ends.min()),
            90.0 if self.has(90, 0) else float(ends.max()),
        )
        "The least and the greatest latitude."

    def _project(self) -> None:
        middle = self.start.sum(axis=0)
        size = float(np.linalg.norm(middle))
        self._middle = middle / size if size > 1e-9 else middle * 0
        self._horizon = math.cos(math.radians(_WIDEST))
        if float((self.start @ self._middle).min()) < self._horizon:
            raise ContentError(f"a polygon with corners more than {_WIDEST:g} degrees from its middle")
        aside = np.array((0.0, 0.0, 1.0) if abs(self._middle[2]) < 0.9 else (1.0, 0.0, 0.0))
        right = np.cross(aside, self._middle)
        self._right = right / np.linalg.norm(right)
        self._up = np.cross(self._middle, self._right)
        self.polygon = shapely.Polygon(self._flat(self.start))
        "In the gnomonic projection."
        shapely.prepare(self.polygon)

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in the polygon or on its edge."""
        place = _vector(lat, lon)
        if float(self._middle @ place) < self._horizon:
            return False
        return bool(self.polygon.covers(shapely.Point(self._flat(place))))

    def has_corner(self, south: float, west: float, north: float, width: float) -> bool:
        """Whether a corner lies between two latitudes, and from a longitude `width` degrees to the east."""
        lats, lons = self._corners.T
        along = ((lons - west) % 360 <= width) | (abs(lats) == 90)
        return bool(np.any((south <= lats) & (lats <= north) & along))

    def nearest(self, lat: float, lon: float) -> float:
        """How far the nearest place of all edges is from another, as an angle."""
        place = _vector(lat, lon)
        way = np.arctan2(self.toward @ place, self.start @ place)
        on = (way >= 0) & (way <= self.length)
        return _angle(np.linalg.norm(np.concatenate((self.start, self._at(way)[on])) - place, axis=1).min())

    def furthest(self, lat: float, lon: float) -> float:
        """How far the furthest corner is from a place, as an angle."""
        return _angle(np.linalg.norm(self.start - _vector(lat, lon), axis=1).max())

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Whether an edge has a place of a meridian between two latitudes."""
        east, ahead = math.radians(lon), _vector(0, lon)
        across = np.array((-math.sin(east), math.cos(east), 0.0))
        first = np.arctan2(-(self.start @ across), self.toward @ across)
        for way in (first, first + math.pi, first - math.pi):
            place = self._at(way)[(way >= 0) & (way <= self.length)]
            lats = _lats(place)
            if bool(np.any((place @ ahead >= 0) & (south <= lats) & (lats <= north))):
                return True
        return False

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Whether an edge has a place of a parallel, from a longitude `width` degrees to the east."""
        height, most = math.sin(math.radians(lat)), np.hypot(self.start[:, 2], self.toward[:, 2])
        reached = abs(height) <= most
        top = np.arctan2(self.toward[:, 2], self.start[:, 2])
        aside = np.arccos(np.where(reached, height, 0.0) / np.where(reached & (most > 0), most, 1.0))
        for first in (top + aside, top - aside):
            for way in (first, first + math.tau, first - math.tau):
                place = self._at(way)[reached & (way >= 0) & (way <= self.length)]
                lons = np.degrees(np.arctan2(place[:, 1], place[:, 0]))
                if bool(np.any((lons - west) % 360 <= width)):
                    return True
        return False

    def _at(self, way: Angles) -> Vectors:
        """The places after some way on each."""
        found: Vectors = np.cos(way)[:, None] * self.start + np.sin(way)[:, None] * self.toward
        return found

    def _turning_lats(self) -> Angles:
        """The latitudes at which edges turn back to the equator, or to a pole."""
        top = np.arctan2(self.toward[:, 2], self.start[:, 2])
        return np.concatenate(
            [_lats(self._at(way)[(way > 0) & (way < self.length)]) for way in (top, top + math.pi)]
        )

    def _flat(self, place: Vectors) -> Vectors:
        depth = place @ self._middle
        return np.stack((place @ self._right / depth, place @ self._up / depth), axis=-1)


def _vector(lat: float, lon: float) -> Vector:
    phi, along = math.radians(lat), math.radians(lon)
    flat = 0.0 if abs(lat) == 90 else math.cos(phi)
    return np.array((flat * math.cos(along), flat * math.sin(along), math.sin(phi)))


def _angle(chord: float) -> float:
    return 2 * math.asin(min(1.0, float(chord) / 2))


def _lats(places: Vectors) -> Angles:
    found: Angles = np.degrees(np.arctan2(places[:, 2], np.hypot(places[:, 0], places[:, 1])))
    return found
