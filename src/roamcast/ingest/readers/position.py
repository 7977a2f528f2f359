"""Positions of nodes at a time, which the readers of movement traces yield."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from roamcast.units import parse_finite


class TracePosition(NamedTuple):
    """The position of a node at a time, in metres or in degrees of longitude and latitude."""

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
        _column("id", pa.string(), "name of the node in the file"),
        _column("time", pa.float64(), "seconds, from the origin of the file"),
        _column("x", pa.float64(), "metres; null if the position is in degrees"),
        _column("y", pa.float64(), "likewise"),
        _column("longitude", pa.float64(), "degrees east; null if the position is in metres"),
        _column("latitude", pa.float64(), "degrees north; likewise"),
    ]
)


class LineError(Exception):
    """The reason why a line cannot be parsed."""


def real(text: str, what: str) -> float:
    """Return `text` as a finite number."""
    return parse_finite(str(text), what, error=LineError)  # a row of CSV may lack a cell


def place(x: str, y: str, *, degrees: bool) -> dict[str, float]:
    """Return a position in degrees (longitude, latitude) or in metres, as fields of `TracePosition`."""
    east, north = real(x, "longitude" if degrees else "x"), real(y, "latitude" if degrees else "y")
    if not degrees:
        if max(abs(east), abs(north)) > 1e8:
            raise LineError(f"({east:g}, {north:g}) m is beyond 100,000 km")
        return {"x": east, "y": north}
    if not (-180 <= east <= 180 and -90 <= north <= 90):
        raise LineError(f"longitude {east:g}, latitude {north:g}: outside the range of coordinates")
    return {"longitude": east, "latitude": north}
