"""Packing: columns of numbers and a header of JSON as one block of bytes that a browser unpacks quickly.

A block is gzip over: the length of the header (4 bytes, little-endian), the header as JSON, then the bytes of
the columns. The header says of each column where its bytes are. The bytes of a column of wide numbers are
grouped by significance (all lowest bytes first), and times are differences in microseconds, to compress well.
"""

from __future__ import annotations

import gzip
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

_TYPES = {
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "i4": np.int32,
    "f4": np.float32,
    "f8": np.float64,
}
_MICROSECONDS = 1e6
_LARGEST_GAP = 2**32
"Microseconds between two rows that a difference can hold."

Column = npt.NDArray[Any]


class Packer:
    """Collects columns; `finish` returns the block."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def numbers(self, values: Column) -> dict[str, Any]:
        """Add whole numbers in the narrowest type that holds them; return what the header says of them."""
        values = np.asarray(values)
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        if low < 0:
            return self._add(values, "i4")
        return self._add(values, "u1" if high < 1 << 8 else "u2" if high < 1 << 16 else "u4")

    def reals(self, values: Column, *, exact: bool = False) -> dict[str, Any]:
        """Add numbers in single precision, or in double with `exact`."""
        return self._add(np.asarray(values), "f8" if exact else "f4")

    def times(self, seconds: Column) -> dict[str, Any]:
        """Add times [s] to a microsecond; in double precision where they do not ascend."""
        ticks = np.rint(np.asarray(seconds, np.float64) * _MICROSECONDS)
        gaps = np.diff(ticks, prepend=0.0)
        if len(gaps) and (not np.isfinite(gaps).all() or gaps.min() < 0 or gaps.max() >= _LARGEST_GAP):
            return self._add(np.asarray(seconds), "f8")
        return self._add(gaps, "u4") | {"coding": "gaps"}

    def finish(self, header: dict[str, Any]) -> bytes:
        """Return the block: the same header and columns give the same bytes."""
        answer = msgspec.json.encode(header)
        return gzip.compress(len(answer).to_bytes(4, "little") + answer + bytes(self._bytes), 9, mtime=0)

    def _add(self, values: Column, kind: str) -> dict[str, Any]:
        wide = np.ascontiguousarray(
            values.astype(_TYPES[kind]).astype(np.dtype(_TYPES[kind]).newbyteorder("<"))
        )
        planes = wide.view(np.uint8).reshape(len(wide), wide.itemsize).T
        at = len(self._bytes)
        self._bytes += planes.tobytes()
        return {"type": kind, "at": at, "rows": len(wide)}


def unpack(block: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header of a block and the bytes of its columns."""
    plain = gzip.decompress(block)
    length = int.from_bytes(plain[:4], "little")
    return msgspec.json.decode(plain[4 : 4 + length]), plain[4 + length :]


def read_column(data: dict[str, Any], columns: bytes) -> Column:
    """Return a column of a block; times in seconds."""
    kind = np.dtype(_TYPES[data["type"]])
    size = data["rows"] * kind.itemsize
    planes = np.frombuffer(columns, np.uint8, size, data["at"]).reshape(kind.itemsize, data["rows"])
    values = np.ascontiguousarray(planes.T).reshape(-1).view(kind.newbyteorder("<"))
    if data.get("coding") == "gaps":
        return np.asarray(np.cumsum(values.astype(np.float64)) / _MICROSECONDS)
    return values
