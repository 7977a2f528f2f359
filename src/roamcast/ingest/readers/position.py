"""A place at a time: what every trace of movement is made of."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from roamcast.units import parse_finite


class TracePosition(NamedTuple):
    """Where somebody was; in metres, or in degrees of longitude and latitude."""

    offset: int
    id: str
    time: float
    x: float | None = None
    y: float | None = None
    longitude: float | None = None
    latitude: float | None = None


def _column(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning})


SCHEMA = pa.schema(
    [
        _column("offset", pa.int64(), "of the line's first byte in its file; in XML, the element's line"),
        _column("id", pa.string(), "who moves, as the file calls it"),
        _column("time", pa.float64(), "seconds, from whatever origin the file has"),
        _column("x", pa.float64(), "metres; null where degrees are told"),
        _column("y", pa.float64(), "likewise"),
        _column("longitude", pa.float64(), "degrees east; null where metres are told"),
        _column("latitude", pa.float64(), "degrees north; likewise"),
    ]
)


class LineError(Exception):
    """Why a line cannot be understood."""


def real(text: str, what: str) -> float:
    """A finite number."""
    return parse_finite(str(text), what, error=LineError)  # a row of CSV may lack a cell


def place(x: str, y: str, *, degrees: bool) -> dict[str, float]:
    """A place in degrees (longitude, latitude) or in metres."""
    east, north = real(x, "longitude" if degrees else "x"), real(y, "latitude" if degrees else "y")
    if not degrees:
        if max(abs(east), abs(north)) > 1e8:
            raise LineError(f"({east:g}, {north:g}) m is beyond 100,000 km")
        return {"x": east, "y": north}
    if not (-180 <= east <= 180 and -90 <= north <= 90):
        raise LineError(f"longitude {east:g}, latitude {north:g}: no place on Earth")
    return {"longitude": east, "latitude": north}
