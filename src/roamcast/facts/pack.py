"""A pack: the facts of a short run in one file, on their way into a lake.

A Parquet file costs a millisecond however few rows it has, and a run has ten of them. A pack is a line of
JSON that tells the rows and bytes of each part, then the parts: tables with rows as Arrow streams, and what
was run as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

PACK = "facts.pack"
"The name of the file."

MOST_ROWS = 2048
"Of a pack: whoever joins hundreds of them holds them all in memory."

_ABOUT = "about"
"The part that tells what was run."


class FactsPack(NamedTuple):
    """What is in a pack."""

    about: str
    tables: dict[str, pa.Table]
    "Those with rows."


def pack(about: str, tables: Mapping[str, pa.Table]) -> bytes:
    """What was run, and the tables that have rows."""
    parts = {_ABOUT: about.encode()}
    rows = {name: len(table) for name, table in tables.items() if len(table)}
    for name in rows:
        sink = pa.BufferOutputStream()
        plain = tables[name].replace_schema_metadata(None)
        with pa.ipc.new_stream(sink, plain.schema) as stream:
            stream.write_table(plain)
        parts[name] = sink.getvalue().to_pybytes()
    told = {"rows": rows, "bytes": {name: len(part) for name, part in parts.items()}}
    return b"".join([json.dumps(told).encode(), b"\n", *parts.values()])


def unpack(content: bytes) -> FactsPack:
    """The same again; ValueError or an Arrow error if it is not whole."""
    line, _, _ = content.partition(b"\n")
    lengths: dict[str, int] = json.loads(line)["bytes"]
    starts = list(accumulate(lengths.values(), initial=len(line) + 1))
    if starts[-1] != len(content):
        raise ValueError("a pack is not whole")
    whole = pa.py_buffer(content)
    parts = {
        name: whole.slice(start, length)
        for (name, length), start in zip(lengths.items(), starts[:-1], strict=True)
    }
    about = parts.pop(_ABOUT).to_pybytes().decode()
    return FactsPack(about, {name: pa.ipc.open_stream(part).read_all() for name, part in parts.items()})


def count_rows(file: Path) -> int:
    """The rows of all tables in a pack."""
    with file.open("rb") as content:
        rows: dict[str, int] = json.loads(content.readline())["rows"]
    return sum(rows.values())
