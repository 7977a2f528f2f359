"""Distances on the Earth as a sphere of its mean radius: great circles, in degrees and metres."""

from __future__ import annotations

import math
from typing import NamedTuple

from roamcast.content.box.range_set import RangeSet, Span, coalesce

EARTH = 6_371_008.8
"Metres: the mean radius of the Earth (IUGG)."
WIDEST = 10_000_000.0
"Metres: circles up to a quarter of the way around, which are convex."
SLACK = 1e-3
"Metres: relations do not decide what lies closer to an edge, so rounding is never on the wrong side."
_DEGREES = SLACK / EARTH * 180 / math.pi


class Circle(NamedTuple):
    """The places that are no further than `radius` metres from one."""

    lat: float
    lon: float
    radius: float

    def has(self, lat: float, lon: float) -> bool:
        """Whether a place is in it, as near as doubles tell."""
        return distance(self.lat, self.lon, lat, lon) <= self.radius

    def holds(self, other: Circle) -> bool:
        """Whether all of another disc is in it, for sure."""
        if self == other:
            return True
        return distance(self.lat, self.lon, other.lat, other.lon) + other.radius <= self.radius - SLACK

    def misses(self, other: Circle) -> bool:
        """Whether nothing of another disc is in it, for sure."""
        return distance(self.lat, self.lon, other.lat, other.lon) > self.radius + other.radius + SLACK

    def holds_box(self, lats: RangeSet, lons: RangeSet) -> bool:
        """Whether all places between some latitudes and longitudes are in it, for sure."""
        return self._furthest(lats, lons) <= self.radius - SLACK

    def misses_box(self, lats: RangeSet, lons: RangeSet) -> bool:
        """Whether no place between some latitudes and longitudes is in it, for sure."""
        return all(
            distance(self.lat, self.lon, *self.nearest(lat, lon)) > self.radius + SLACK
            for lat in lats.spans
            for lon in lons.spans
        )

    def bounds(self, room: float = _DEGREES) -> tuple[RangeSet, RangeSet]:
        """The latitudes and the longitudes that it reaches, with a little room."""
        reach = math.degrees(self.radius / EARTH) + room
        low, high = self.lat - reach, self.lat + reach
        if low <= -90 or high >= 90:
            return RangeSet(((max(low, -90.0), min(high, 90.0)),)), RangeSet(((-180.0, 180.0),))
        ratio = math.sin(math.radians(reach)) / math.cos(math.radians(self.lat))
        wide = math.degrees(math.asin(min(1.0, ratio))) + room
        west, east = self.lon - wide, self.lon + wide
        if west < -180:
            lons = coalesce([(-180.0, east), (west + 360, 180.0)])
        elif east > 180:
            lons = coalesce([(-180.0, east - 360), (west, 180.0)])
        else:
            lons = ((west, east),)
        return RangeSet(((low, high),)), RangeSet(lons)

    def nearest(self, lats: Span, lons: Span) -> tuple[float, float]:
        """The place in a box that is nearest to the middle."""
        if lons[0] <= self.lon <= lons[1]:
            return min(max(self.lat, lats[0]), lats[1]), self.lon
        lon = min(lons, key=lambda edge: abs(turn(edge - self.lon)))
        turned = math.cos(math.radians(lon - self.lon)) * math.cos(math.radians(self.lat))
        closest = math.degrees(math.atan2(math.sin(math.radians(self.lat)), turned))
        # Of a meridian behind a pole, one end of the box is nearest.
        tries = (min(max(closest, lats[0]), lats[1]), *lats)
        return min(tries, key=lambda lat: distance(self.lat, self.lon, lat, lon)), lon

    def _furthest(self, lats: RangeSet, lons: RangeSet) -> float:
        """How far the furthest place of a box is, or more."""
        most = 0.0
        for lon in (edge for span in lons.spans for edge in span):
            if abs(turn(lon - self.lon)) >= 90:
                return math.inf  # a disc that is convex reaches there only near a pole: not looked at
            for lat in (edge for span in lats.spans for edge in span):
                most = max(most, distance(self.lat, self.lon, lat, lon))
        opposite = turn(self.lon + 180)
        if any(low <= opposite <= high for low, high in lons.spans):
            return math.inf
        return most


def distance(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Metres along the great circle, by the haversine formula."""
    phi, other = math.radians(lat), math.radians(other_lat)
    half = math.sin((other - phi) / 2) ** 2
    half += math.cos(phi) * math.cos(other) * math.sin(math.radians(other_lon - lon) / 2) ** 2
    return 2 * EARTH * math.asin(min(1.0, math.sqrt(half)))


def turn(degrees: float) -> float:
    """An angle between -180 and 180."""
    return (degrees + 180) % 360 - 180
