"""Geometry of polygons whose edges are great-circle arcs.

A great circle is a straight line in the gnomonic projection around the polygon's centre, in which shapely
checks validity and containment. Distances, and parallels (which are not great circles), are computed on the
arcs, for all edges at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from roamcast.content.errors import ContentError

_WIDEST = 60.0
"Maximum angle between a corner and the centre of the polygon [deg]."
_NEAR = 1e-9
"Rounding tolerance, relative to the Earth's radius or its square."
_HALVES = np.array(((0.0,), (math.pi,), (-math.pi,)))
_WHOLES = 2 * _HALVES

Vector: TypeAlias = npt.NDArray[np.float64]
Vectors: TypeAlias = npt.NDArray[np.float64]
"""One vector per row."""
Angles: TypeAlias = npt.NDArray[np.float64]


class Arcs:
    """The edges of a polygon, from each corner (latitude, longitude) to the next."""

    def __init__(self, corners: Sequence[tuple[float, float]]) -> None:
        self._corners = np.array(corners)
        self.start = np.array([_vector(*corner) for corner in corners])
        self._following = np.roll(self.start, -1, axis=0)
        normal = np.cross(self.start, self._following)
        size = np.linalg.norm(normal, axis=1)
        self.toward = np.cross(normal / np.where(size, size, 1.0)[:, None], self.start)
        "Unit direction vector of each edge at its start."
        self.length = np.arctan2(size, np.einsum("ij,ij->i", self.start, self._following))
        self._top = np.arctan2(self.toward[:, 2], self.start[:, 2])
        self._most = np.hypot(self.start[:, 2], self.toward[:, 2])
        "Angle along each great circle to its northernmost point, and the sine of that point's latitude."
        self._sweep()
        self._project()
        ends = np.concatenate((self._corners[:, 0], *map(_lats, self._turn_back())))
        self.lats = (
            -90.0 if self.has(-90, 0) else float(ends.min()),
            90.0 if self.has(90, 0) else float(ends.max()),
        )
        "The lowest and highest latitude [deg]."

    def _sweep(self) -> None:
        lats, lons = self._corners.T
        polar = abs(lats) == 90
        self._here = np.where(polar, np.roll(lons, -1), lons)  # an edge from a pole is a meridian
        self._there = np.where(np.roll(polar, -1), self._here, np.roll(lons, -1))
        self._along = (self._there - self._here + 180) % 360 - 180

    def _project(self) -> None:
        import shapely  # here and below, so that only who has polygons needs it

        middle = self.start.sum(axis=0)
        size = float(np.linalg.norm(middle))
        self._middle = middle / size if size > 1e-9 else middle * 0
        self._horizon = math.cos(math.radians(_WIDEST))
        if float((self.start @ self._middle).min()) < self._horizon:
            raise ContentError(f"the polygon has corners more than {_WIDEST:g} degrees from its centre")
        aside = np.array((0.0, 0.0, 1.0) if abs(self._middle[2]) < 0.9 else (1.0, 0.0, 0.0))
        right = np.cross(aside, self._middle)
        self._right = right / np.linalg.norm(right)
        self._up = np.cross(self._middle, self._right)
        self.polygon = shapely.Polygon(self._flat(self.start))
        "The polygon in the gnomonic projection."
        shapely.prepare(self.polygon)

    def has(self, lat: float, lon: float) -> bool:
        """Return whether a point lies in the polygon or on its edge."""
        import shapely

        place = _vector(lat, lon)
        if float(self._middle @ place) < self._horizon:
            return False
        return bool(self.polygon.covers(shapely.Point(self._flat(place))))

    def has_any(self, places: Sequence[tuple[float, float]]) -> bool:
        """Return whether any of the points lies in the polygon or on its edge."""
        import shapely

        vectors = np.array([_vector(*place) for place in places])
        vectors = vectors[vectors @ self._middle >= self._horizon]
        return len(vectors) > 0 and bool(
            shapely.covers(self.polygon, shapely.points(self._flat(vectors))).any()
        )

    def has_corner(self, south: float, west: float, north: float, width: float) -> bool:
        """Return whether a corner lies between two latitudes and at most `width` degrees east of `west`."""
        lats, lons = self._corners.T
        along = ((lons - west) % 360 <= width) | (abs(lats) == 90)
        return bool(np.any((south <= lats) & (lats <= north) & along))

    def between(self, west: float, width: float) -> bool:
        """Return whether the whole polygon lies between `west` and `width` degrees east of it."""
        offset, after = (self._here - west) % 360, (self._there - west) % 360
        over_pole = abs(self._along) == 180  # the edge runs along two meridians
        return bool(np.all((after <= width) & (over_pole | (abs(offset + self._along - after) < 1))))

    def nearest(self, lat: float, lon: float) -> float:
        """Return the angle between a point and the nearest point of the edges [rad]."""
        place = _vector(lat, lon)
        way = np.arctan2(self.toward @ place, self.start @ place)
        on = np.flatnonzero((way >= 0) & (way <= self.length))
        ends = np.concatenate((self.start, self._at(way[on], on)))
        return _angle(np.linalg.norm(ends - place, axis=1).min())

    def furthest(self, lat: float, lon: float) -> float:
        """Return the angle between a point and the farthest corner [rad]."""
        return _angle(np.linalg.norm(self.start - _vector(lat, lon), axis=1).max())

    def crosses_meridian(self, lon: float, south: float, north: float) -> bool:
        """Return whether an edge intersects a meridian between two latitudes."""
        east, ahead = math.radians(lon), _vector(0, lon)
        across = np.array((-math.sin(east), math.cos(east), 0.0))
        aside = self.start @ across
        near = (aside * (self._following @ across) <= _NEAR).nonzero()[
            0
        ]  # otherwise both ends are on the same side
        if not len(near):
            return False
        place = self._on(near, np.arctan2(-aside[near], self.toward[near] @ across) + _HALVES)
        lats = _lats(place)
        return bool(((place @ ahead >= 0) & (south <= lats) & (lats <= north)).any())

    def crosses_parallel(self, lat: float, west: float, width: float) -> bool:
        """Return whether an edge intersects a parallel at most `width` degrees east of `west`."""
        height = math.sin(math.radians(lat))
        near = ((self._lowest <= height) & (self._highest >= height)).nonzero()[0]
        near = near[abs(height) <= self._most[near]]
        if not len(near):
            return False
        most, top = self._most[near], self._top[near]
        aside = np.arccos(height / np.where(most > 0, most, 1.0))
        place = self._on(near, np.concatenate((top + aside + _WHOLES, top - aside + _WHOLES)))
        lons = np.degrees(np.arctan2(place[:, 1], place[:, 0]))
        return bool(((lons - west) % 360 <= width).any())

    def _on(self, edges: npt.NDArray[np.intp], ways: Angles) -> Vectors:
        """Return the points at the given angles, one row per attempt, that lie on the edges."""
        row, column = ((ways >= 0) & (ways <= self.length[edges])).nonzero()
        return self._at(ways[row, column], edges[column])

    def _at(self, way: Angles, edges: npt.NDArray[np.intp]) -> Vectors:
        """Return the points at the given angles along the given edges."""
        far = way[:, None]
        found: Vectors = np.cos(far) * self.start[edges] + np.sin(far) * self.toward[edges]
        return found

    def _turn_back(self) -> list[Vectors]:
        """Return the points of extreme latitude inside edges; set the lowest and highest sine of each
        edge.
        """
        ends = self.start[:, 2], self._following[:, 2]
        self._lowest, self._highest = np.minimum(*ends) - _NEAR, np.maximum(*ends) + _NEAR
        found = []
        for way in (self._top, self._top + math.pi):
            edges = np.flatnonzero((way > 0) & (way < self.length))
            place = self._at(way[edges], edges)
            self._lowest[edges] = np.minimum(self._lowest[edges], place[:, 2] - _NEAR)
            self._highest[edges] = np.maximum(self._highest[edges], place[:, 2] + _NEAR)
            found.append(place)
        return found

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
