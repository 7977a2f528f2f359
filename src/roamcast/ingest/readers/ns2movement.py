"""Line-by-line reader of ns-2 movement files, as written by `setdest` and BonnMotion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from roamcast.ingest.file_parts import BadLine, FilePart, read_lines, shorten
from roamcast.ingest.readers.position import LineError
from roamcast.scenario.traces.movement import GOD, PLACE, SETDEST
from roamcast.units import parse_finite

_finite = partial(parse_finite, most=1e8, error=LineError)


class MovementCommand(NamedTuple):
    """An initial coordinate or a destination of a node."""

    offset: int
    node: int
    what: str
    time: float | None = None
    x: float | None = None
    y: float | None = None
    speed: float | None = None


def _column(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning})


SCHEMA = pa.schema(
    [
        _column("offset", pa.int64(), "of the line's first byte in its file"),
        _column("node", pa.int32(), "node that moves"),
        _column("what", pa.string(), "X or Y: an initial coordinate; setdest: a destination"),
        _column("time", pa.float64(), "start of the movement; seconds"),
        _column("x", pa.float64(), "metres"),
        _column("y", pa.float64(), "metres"),
        _column("speed", pa.float64(), "m/s"),
    ]
)


def read(piece: FilePart) -> Iterator[MovementCommand | BadLine]:
    """Yield the commands in a part of a movement file."""
    for line in read_lines(piece):
        if isinstance(line, BadLine):
            yield line
            continue
        offset, text = line
        if text.startswith("#") or GOD.fullmatch(text):
            continue
        try:
            yield _parse(offset, text)
        except LineError as error:
            yield BadLine(offset, str(error), shorten(text))


def _parse(offset: int, text: str) -> MovementCommand:
    if found := PLACE.fullmatch(text):
        value = _finite(found[3])
        if found[2] == "Z" and value:
            raise LineError("a height other than 0 is not supported")
        at = {"x": value} if found[2] == "X" else {"y": value} if found[2] == "Y" else {}
        return MovementCommand(offset, _node(found[1]), found[2], **at)
    if found := SETDEST.fullmatch(text):
        time, x, y, speed = (_finite(found[group]) for group in (1, 3, 4, 5))
        if time < 0 or speed < 0:
            raise LineError("a time or a speed is negative")
        return MovementCommand(offset, _node(found[2]), "setdest", time, x, y, speed)
    raise LineError(
        "neither an initial position ('$node_(N) set X_ M') nor a "
        "destination ('$ns_ at S \"$node_(N) setdest X Y V\"')"
    )


def _node(digits: str) -> int:
    if len(digits) > 7:
        raise LineError(f"node {digits[:20]} is out of range")
    return int(digits)
