"""Reader of SUMO's FCD output: `<timestep time="1.00"><vehicle id="a" x="1.0" y="2.0" .../></timestep>`."""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.ingest.file_parts import BadLine, FilePart
from roamcast.ingest.readers.markup import read_elements
from roamcast.ingest.readers.position import LineError, TracePosition, place, real

_MOVING = frozenset({"vehicle", "person", "container"})


def read(piece: FilePart, geo: bool = False) -> Iterator[TracePosition | BadLine]:
    """Yield the positions in a document; with `geo` they are longitude and latitude."""
    now: float | None = None
    root = True

    def start(tag: str, attributes: dict[str, str], line: int) -> TracePosition | BadLine | None:
        nonlocal now, root
        if root:
            root = False
            if tag != "fcd-export":
                return BadLine(line, f"<{tag[:40]}> is not the <fcd-export> of SUMO's floating car data", "")
        try:
            if tag == "timestep":
                now = None  # a broken step has no time, and so no places
                now = real(attributes.get("time", ""), "time")
            elif tag in _MOVING:
                if now is None:
                    raise LineError(f"a <{tag}> outside of a timestep with a time")
                if not attributes.get("id"):
                    raise LineError(f"a <{tag}> without id")
                at = place(attributes.get("x", ""), attributes.get("y", ""), degrees=geo)
                return TracePosition(line, attributes["id"][:200], now, **at)
        except LineError as error:
            return BadLine(line, str(error), f"<{tag} {' '.join(attributes.values())[:100]}")
        return None

    yield from read_elements(piece, start, lambda *_: None)
