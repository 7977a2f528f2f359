"""Projection of longitude and latitude to a plane that touches the Earth at an origin.

On the WGS 84 ellipsoid, with its radii of curvature at the origin: x = N cos(lat0) (lon - lon0), y = M (lat
- lat0). At 50 degrees of latitude, lengths 10 km from the origin have an error of 0.2 %; closer to
the equator or the origin the error is smaller.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_EQUATOR = 6378137.0
"Semi-major axis of WGS 84 [m]."
_FLATTENING = 1 / 298.257223563

NAME = "equirectangular on the WGS 84 ellipsoid, true to length at the origin"

Reals = npt.NDArray[np.float64]


class Projection(NamedTuple):
    """A projection with its origin at a longitude and latitude [degrees]."""

    longitude: float
    latitude: float

    @property
    def scale(self) -> tuple[float, float]:
        """The lengths of a degree of longitude and of latitude at the origin [m]."""
        eccentricity = _FLATTENING * (2 - _FLATTENING)
        latitude = math.radians(self.latitude)
        root = 1 - eccentricity * math.sin(latitude) ** 2
        across, along = _EQUATOR / math.sqrt(root), _EQUATOR * (1 - eccentricity) / root**1.5
        return math.radians(across * math.cos(latitude)), math.radians(along)

    def project(self, longitude: Reals, latitude: Reals) -> tuple[Reals, Reals]:
        """Return the distances to the east and to the north of the origin [m], across the date line."""
        east, north = self.scale
        turned = (longitude - self.longitude + 180) % 360 - 180
        return turned * east, (latitude - self.latitude) * north


def centre(longitude: Reals, latitude: Reals) -> Projection:
    """Return the projection whose origin is the centre of the positions' bounding box."""
    first = float(longitude[0])
    turned = (longitude - first + 180) % 360 - 180
    middle = first + (float(turned.min()) + float(turned.max())) / 2
    return Projection((middle + 180) % 360 - 180, (float(latitude.min()) + float(latitude.max())) / 2)
