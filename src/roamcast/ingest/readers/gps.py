"""Reader of GPS positions: GPX documents, and CSV files with a header.

Columns are recognised by common names: the node (`id`, `node`, `vehicle`, `taxi`, ...), the time (`time`,
`timestamp`: seconds, or an ISO 8601 date, in UTC unless it has a time zone), and the position (`lat` and
`lon`, or `x` and `y` in metres).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from roamcast.ingest.file_parts import BadLine, FilePart, IngestError, open_binary, read_lines, shorten
from roamcast.ingest.readers.markup import read_elements
from roamcast.ingest.readers.position import LineError, TracePosition, place, real

_NAMES = {
    "id": (
        "id",
        "node",
        "vehicle",
        "vehicle_id",
        "taxi",
        "taxi_id",
        "device",
        "user",
        "trip",
        "track",
        "name",
    ),
    "time": ("time", "timestamp", "datetime", "date_time", "date", "t"),
    "latitude": ("lat", "latitude"),
    "longitude": ("lon", "lng", "long", "longitude"),
    "x": ("x",),
    "y": ("y",),
}
_MOST_HEADER = 1 << 16


def read(piece: FilePart) -> Iterator[TracePosition | BadLine]:
    """Yield the positions in a file part."""
    return read_gpx(piece) if is_gpx(piece.path) else read_csv(piece)


def is_gpx(path: str) -> bool:
    """Return whether a file is a GPX document, by its name."""
    return path.lower().removesuffix(".gz").endswith((".gpx", ".xml"))


def read_csv(piece: FilePart) -> Iterator[TracePosition | BadLine]:
    """Yield the positions in a part of a CSV file; cells with line breaks are not supported."""
    header, separator = read_header(piece.path)
    columns = find_columns(piece.path, header)
    alone = Path(piece.path).name.removesuffix(".gz").removesuffix(".csv")
    for line in read_lines(piece):
        if isinstance(line, BadLine):
            yield line
            continue
        offset, text = line
        if offset == 0:
            continue
        try:
            cells = _cells(text, separator)
            if len(cells) != len(header):
                raise LineError(f"{len(cells)} cells under {len(header)} columns")
            fields = {name: cells[at].strip() for name, at in columns.items()}
            degrees = "latitude" in fields
            at = place(
                fields["longitude" if degrees else "x"],
                fields["latitude" if degrees else "y"],
                degrees=degrees,
            )
            who = fields.get("id", alone)
            if not who:
                raise LineError("the id is empty")
            yield TracePosition(offset, who[:200], read_time(fields["time"]), **at)
        except LineError as error:
            yield BadLine(offset, str(error), shorten(text))


def read_header(path: str) -> tuple[list[str], str]:
    """Return the column names of a CSV file and its separator."""
    with open_binary(path) as file:
        first = file.readline(_MOST_HEADER).decode("utf-8-sig", errors="replace").strip()
    separator = max(",;\t", key=first.count)
    try:
        return [cell.strip().lower() for cell in _cells(first, separator)], separator
    except LineError:
        return [], separator


def find_columns(path: str, header: list[str]) -> dict[str, int]:
    """Return the indices of the required columns; x and y are used only without latitude and longitude."""
    found = {
        what: header.index(name) for what, names in _NAMES.items() for name in names[::-1] if name in header
    }
    pairs = [pair for pair in (("latitude", "longitude"), ("x", "y")) if all(each in found for each in pair)]
    if "time" not in found or not pairs:
        raise IngestError(
            f"{path}: the first line must name columns for time and position (lat and lon, or x and y); "
            f"it has {', '.join(header)[:200] or 'none'}"
        )
    return {what: at for what, at in found.items() if what in ("id", "time", *pairs[0])}


def _cells(text: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=separator, strict=True))
    except (csv.Error, StopIteration) as error:
        raise LineError(f"no CSV: {error}") from None


def read_gpx(piece: FilePart) -> Iterator[TracePosition | BadLine]:
    """Yield the track points of a GPX document; a track is named after the file and its number."""
    name = Path(piece.path).name.removesuffix(".gz").removesuffix(".gpx")
    track, root = -1, True
    point: tuple[int, str, str] | None = None
    time: str | None = None

    def start(tag: str, attributes: dict[str, str], line: int) -> BadLine | None:
        nonlocal track, root, point, time
        if root:
            root = False
            if tag != "gpx":
                return BadLine(line, f"<{tag[:40]}> is not the <gpx> of a GPX document", "")
        if tag == "trk":
            track += 1
        elif tag == "trkpt":
            point, time = (line, attributes.get("lon", ""), attributes.get("lat", "")), None
        return None

    def end(tag: str, text: str, _: int) -> TracePosition | BadLine | None:
        nonlocal point, time
        if tag == "time" and point is not None:
            time = text.strip()
        if tag != "trkpt" or point is None:
            return None
        line, lon, lat = point
        point = None
        try:
            if not time:
                raise LineError("a track point without time")
            return TracePosition(line, f"{name}/{track}", read_time(time), **place(lon, lat, degrees=True))
        except LineError as error:
            return BadLine(line, str(error), f"lat={lat[:40]} lon={lon[:40]} {(time or '')[:40]}")

    yield from read_elements(piece, start, end)


def read_time(text: str) -> float:
    """Return a time [s]: a number, or the seconds since 1970 of an ISO 8601 date."""
    try:
        return real(text, "time")
    except LineError:
        pass
    try:
        found = datetime.fromisoformat(text[:40])
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise LineError(f"time {text[:40]!r} is neither a number nor a date as in ISO 8601") from None
