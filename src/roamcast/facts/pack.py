"""Pack the facts of a short run into one file, until they are committed to a lake.

Writing a Parquet file takes at least a millisecond, and a run has ten of them. A pack is a line of JSON with
the rows and bytes of each part, followed by the parts: run.json as text, and the tables that have rows as
Arrow streams.
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
"Maximum number of rows of a pack; compaction holds hundreds of packs in memory."

_ABOUT = "about"
"The name of the part that holds run.json."


class FactsPack(NamedTuple):
    """The contents of a pack."""

    about: str
    tables: dict[str, pa.Table]
    "The tables that have rows, by name."


def pack(about: str, tables: Mapping[str, pa.Table]) -> bytes:
    """Return a pack of `about`, the text of run.json, and of the tables that have rows."""
    parts = {_ABOUT: about.encode()}
    rows = {name: len(table) for name, table in tables.items() if len(table)}
    for name in rows:
        sink = pa.BufferOutputStream()
        plain = tables[name].replace_schema_metadata(None)
        with pa.ipc.new_stream(sink, plain.schema) as stream:
            stream.write_table(plain)
        parts[name] = sink.getvalue().to_pybytes()
    header = {"rows": rows, "bytes": {name: len(part) for name, part in parts.items()}}
    return b"".join([json.dumps(header).encode(), b"\n", *parts.values()])


def unpack(content: bytes) -> FactsPack:
    """Return the contents of a pack; raise ValueError or an Arrow error if it is damaged."""
    line, _, _ = content.partition(b"\n")
    lengths: dict[str, int] = json.loads(line)["bytes"]
    starts = list(accumulate(lengths.values(), initial=len(line) + 1))
    if starts[-1] != len(content):
        raise ValueError("the pack is truncated or damaged: its length differs from its header")
    whole = pa.py_buffer(content)
    parts = {
        name: whole.slice(start, length)
        for (name, length), start in zip(lengths.items(), starts[:-1], strict=True)
    }
    about = parts.pop(_ABOUT).to_pybytes().decode()
    return FactsPack(about, {name: pa.ipc.open_stream(part).read_all() for name, part in parts.items()})


def count_rows(file: Path) -> int:
    """Return the total number of rows of the tables in a pack."""
    with file.open("rb") as content:
        rows: dict[str, int] = json.loads(content.readline())["rows"]
    return sum(rows.values())
