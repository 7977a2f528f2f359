"""Reader of BonnMotion's native format: one node per line, as waypoints `time x y time x y ...`."""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.ingest.file_parts import BadLine, FilePart, read_lines, shorten
from roamcast.ingest.readers.position import LineError, TracePosition, place, real


def read(piece: FilePart) -> Iterator[TracePosition | BadLine]:
    """Yield the waypoints of a file; the name of a node is its line number, from 0."""
    node = -1
    for line in read_lines(piece):
        if not isinstance(line, BadLine) and line[1].startswith("#"):
            continue
        node += 1
        if isinstance(line, BadLine):
            yield line
            continue
        offset, text = line
        try:
            yield from list(_parse(offset, str(node), text.split()))
        except LineError as error:
            yield BadLine(offset, str(error), shorten(text))


def _parse(offset: int, node: str, words: list[str]) -> Iterator[TracePosition]:
    if len(words) % 3:
        hint = "; it may be movement in three dimensions" if len(words) % 4 == 0 else ""
        raise LineError(f"{len(words)} numbers; expected triples of time, x and y{hint}")
    before = float("-inf")
    for time, x, y in zip(words[::3], words[1::3], words[2::3], strict=True):
        now = real(time, "time")
        if now < before:
            raise LineError(f"{now:g} s comes after {before:g} s")
        before = now
        yield TracePosition(offset, node, now, **place(x, y, degrees=False))
