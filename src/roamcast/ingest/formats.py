"""The supported trace formats: name, schema, reader, and detection by content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from roamcast.ingest.file_parts import BadLine, FilePart, IngestError, open_binary
from roamcast.ingest.readers import bonnmotion, gps, ns2movement, ns2trace, position, sumofcd


@dataclass(frozen=True)
class TraceFormat:
    """A trace format."""

    name: str
    meaning: str
    schema: pa.Schema
    "Schema of the rows that the reader yields."
    read: Callable[[FilePart, Mapping[str, str]], Iterator[Any]]
    "Reads a file part with the given options; yields rows and bad lines."
    splittable: Callable[[str], bool]
    "Returns whether a file of this name can be split into parts."


def _switch(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "false").lower() == "true"


FORMATS: dict[str, TraceFormat] = {
    each.name: each
    for each in (
        TraceFormat(
            "ns2trace",
            "ns-2's wireless traces, old format and new",
            ns2trace.SCHEMA,
            lambda piece, _: ns2trace.read(piece),
            lambda _: True,
        ),
        TraceFormat(
            "ns2movement",
            "ns-2's movement files (setdest)",
            ns2movement.SCHEMA,
            lambda piece, _: ns2movement.read(piece),
            lambda _: True,
        ),
        TraceFormat(
            "bonnmotion",
            "BonnMotion's waypoints, a node a line",
            position.SCHEMA,
            lambda piece, _: bonnmotion.read(piece),
            lambda _: False,  # a node's name is its line number
        ),
        TraceFormat(
            "sumofcd",
            "SUMO's floating car data (XML)",
            position.SCHEMA,
            lambda piece, options: sumofcd.read(piece, _switch(options, "geo")),
            lambda _: False,
        ),
        TraceFormat(
            "gps",
            "positions of satellite receivers (CSV or GPX)",
            position.SCHEMA,
            lambda piece, _: gps.read(piece),
            lambda path: not gps.is_gpx(path),
        ),
    )
}
"The supported formats, by name."

_LOOKED_AT = 1 << 16


def find(name: str) -> TraceFormat:
    """Return the format of this name."""
    if name not in FORMATS:
        raise IngestError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(path: str) -> TraceFormat:
    """Return the format of a file, detected by its beginning; raise `IngestError` if it is ambiguous."""
    with open_binary(path) as file:
        head = file.read(_LOOKED_AT)
    text = head.decode("utf-8-sig", errors="replace")
    if text.lstrip().startswith("<"):
        for mark, name in (("<fcd-export", "sumofcd"), ("<gpx", "gps")):
            if mark in text:
                return FORMATS[name]
        raise IngestError(f"{path}: XML, but neither SUMO floating car data nor GPX")
    lines = text.splitlines()[: -1 if len(head) == _LOOKED_AT else None]
    fitting = [name for name, fits in _FITS.items() if fits(path, [line for line in lines if line.strip()])]
    if len(fitting) != 1:
        raise IngestError(f"{path}: the format cannot be detected; specify it with --format")
    return FORMATS[fitting[0]]


def _fits_trace(_: str, lines: list[str]) -> bool:
    return _most(lines, ns2trace.understands)


def _fits_movement(_: str, lines: list[str]) -> bool:
    return _most(lines, lambda line: line.lstrip().startswith(("$node_(", "$ns_ at", "$god_")))


def _fits_bonnmotion(path: str, lines: list[str]) -> bool:
    def fits(line: str) -> bool:
        try:
            return not list(filter(lambda word: float(word) != float(word), line.split()[:30]))
        except ValueError:
            return False

    named = ".movements" in path
    return (named or all(len(line.split()) >= 3 for line in lines)) and _most(lines, fits)


def _fits_csv(path: str, lines: list[str]) -> bool:
    try:
        gps.find_columns(path, gps.read_header(path)[0])
    except IngestError:
        return False
    return bool(lines)


_FITS: dict[str, Callable[[str, list[str]], bool]] = {
    "ns2trace": _fits_trace,
    "ns2movement": _fits_movement,
    "bonnmotion": _fits_bonnmotion,
    "gps": _fits_csv,
}


def _most(lines: list[str], fits: Callable[[str], bool]) -> bool:
    """Return whether more than half of the first lines fit; comments are ignored."""
    telling = [line for line in lines[:200] if not line.lstrip().startswith("#")]
    return bool(telling) and sum(map(fits, telling)) > len(telling) / 2


def read(
    form: TraceFormat, piece: FilePart, options: Mapping[str, str] | None = None
) -> Iterator[Any | BadLine]:
    """Yield the rows and bad lines of a file part."""
    return form.read(piece, options or {})
