"""Great-circle distances and circles on a sphere with the Earth's mean radius."""

from __future__ import annotations

import math
from typing import NamedTuple

from roamcast.content.box.range_set import RangeSet, Span, coalesce

EARTH = 6_371_008.8
"Mean radius of the Earth (IUGG) [m]."
WIDEST = 10_000_000.0
"Maximum radius of a circle [m]: a quarter of the circumference, so that circles are convex."
SLACK = 1e-3
"Margin of the relations [m]; points closer to an edge are undecided, so that rounding does no harm."
_DEGREES = SLACK / EARTH * 180 / math.pi


class Circle(NamedTuple):
    """The points at most `radius` metres from a centre."""

    lat: float
    lon: float
    radius: float

    def has(self, lat: float, lon: float) -> bool:
        """Return whether a point lies in the circle, up to rounding."""
        return distance(self.lat, self.lon, lat, lon) <= self.radius

    def holds(self, other: Circle) -> bool:
        """Return whether this circle certainly contains `other`."""
        if self == other:
            return True
        return distance(self.lat, self.lon, other.lat, other.lon) + other.radius <= self.radius - SLACK

    def misses(self, other: Circle) -> bool:
        """Return whether the two circles certainly have no common point."""
        return distance(self.lat, self.lon, other.lat, other.lon) > self.radius + other.radius + SLACK

    def holds_box(self, lats: RangeSet, lons: RangeSet) -> bool:
        """Return whether the circle certainly contains a box of degrees."""
        return self._furthest(lats, lons) <= self.radius - SLACK

    def misses_box(self, lats: RangeSet, lons: RangeSet) -> bool:
        """Return whether the circle certainly has no point in common with a box of degrees."""
        return all(
            distance(self.lat, self.lon, *self.nearest(lat, lon)) > self.radius + SLACK
            for lat in lats.spans
            for lon in lons.spans
        )

    def bounds(self, margin: float = _DEGREES) -> tuple[RangeSet, RangeSet]:
        """Return the ranges of latitude and longitude of the circle, extended by `margin` [deg]."""
        reach = math.degrees(self.radius / EARTH) + margin
        low, high = self.lat - reach, self.lat + reach
        if low <= -90 or high >= 90:
            return RangeSet(((max(low, -90.0), min(high, 90.0)),)), RangeSet(((-180.0, 180.0),))
        ratio = math.sin(math.radians(reach)) / math.cos(math.radians(self.lat))
        wide = math.degrees(math.asin(min(1.0, ratio))) + margin
        west, east = self.lon - wide, self.lon + wide
        if west < -180:
            lons = coalesce([(-180.0, east), (west + 360, 180.0)])
        elif east > 180:
            lons = coalesce([(-180.0, east - 360), (west, 180.0)])
        else:
            lons = ((west, east),)
        return RangeSet(((low, high),)), RangeSet(lons)

    def nearest(self, lats: Span, lons: Span) -> tuple[float, float]:
        """Return the point of a box that is nearest to the centre."""
        if lons[0] <= self.lon <= lons[1]:
            return min(max(self.lat, lats[0]), lats[1]), self.lon
        lon = min(lons, key=lambda edge: abs(turn(edge - self.lon)))
        turned = math.cos(math.radians(lon - self.lon)) * math.cos(math.radians(self.lat))
        closest = math.degrees(math.atan2(math.sin(math.radians(self.lat)), turned))
        # On a meridian beyond a pole, one end of the box is nearest.
        tries = (min(max(closest, lats[0]), lats[1]), *lats)
        return min(tries, key=lambda lat: distance(self.lat, self.lon, lat, lon)), lon

    def _furthest(self, lats: RangeSet, lons: RangeSet) -> float:
        """Return an upper bound of the distance to the farthest point of a box [m]."""
        farthest = 0.0
        for lon in (edge for span in lons.spans for edge in span):
            if abs(turn(lon - self.lon)) >= 90:
                return math.inf  # a convex circle reaches there only near a pole, which is not examined
            for lat in (edge for span in lats.spans for edge in span):
                farthest = max(farthest, distance(self.lat, self.lon, lat, lon))
        opposite = turn(self.lon + 180)
        if any(low <= opposite <= high for low, high in lons.spans):
            return math.inf
        return farthest


def distance(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Return the great-circle distance [m], by the haversine formula."""
    phi, other = math.radians(lat), math.radians(other_lat)
    half = math.sin((other - phi) / 2) ** 2
    half += math.cos(phi) * math.cos(other) * math.sin(math.radians(other_lon - lon) / 2) ** 2
    return 2 * EARTH * math.asin(min(1.0, math.sqrt(half)))


def turn(degrees: float) -> float:
    """Return the angle normalised to [-180, 180) [deg]."""
    return (degrees + 180) % 360 - 180
