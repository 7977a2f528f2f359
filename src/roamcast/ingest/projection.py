"""Degrees to metres: the plane that touches the Earth at an origin.

On the WGS 84 ellipsoid, with its radii of curvature at the origin: x = N cos(lat0) (lon - lon0), y = M (lat
- lat0). At 50 degrees of latitude, lengths 10 km from the origin are right to 0.2 %; nearer to the equator
or the origin to less.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_EQUATOR = 6378137.0
"WGS 84: the larger half axis, in metres."
_FLATTENING = 1 / 298.257223563

NAME = "equirectangular on the WGS 84 ellipsoid, true to length at the origin"

Reals = npt.NDArray[np.float64]


class Projection(NamedTuple):
    """A plane with its origin at a place on Earth, in degrees."""

    longitude: float
    latitude: float

    @property
    def scale(self) -> tuple[float, float]:
        """Metres of a degree to the east and to the north, at the origin."""
        eccentricity = _FLATTENING * (2 - _FLATTENING)
        latitude = math.radians(self.latitude)
        root = 1 - eccentricity * math.sin(latitude) ** 2
        across, along = _EQUATOR / math.sqrt(root), _EQUATOR * (1 - eccentricity) / root**1.5
        return math.radians(across * math.cos(latitude)), math.radians(along)

    def project(self, longitude: Reals, latitude: Reals) -> tuple[Reals, Reals]:
        """Metres to the east and to the north of the origin, the short way round."""
        east, north = self.scale
        turned = (longitude - self.longitude + 180) % 360 - 180
        return turned * east, (latitude - self.latitude) * north


def centre(longitude: Reals, latitude: Reals) -> Projection:
    """The projection whose origin is in the middle of some places."""
    first = float(longitude[0])
    turned = (longitude - first + 180) % 360 - 180
    middle = first + (float(turned.min()) + float(turned.max())) / 2
    return Projection((middle + 180) % 360 - 180, (float(latitude.min()) + float(latitude.max())) / 2)
