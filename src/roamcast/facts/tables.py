"""The facts of one run, as Arrow tables in memory or as Parquet files in a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.folder import FactsFolder
from roamcast.facts.schema import TABLES
from roamcast.facts.writer import RUN_FILE, FactsError, FactsWriter

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CODE_DEPENDENT_KEYS",
    "RUN_FILE",
    "Facts",
    "FactsError",
    "MessageKind",
    "RunManifest",
    "read_table",
]

CODE_DEPENDENT_KEYS = ("version", "events_processed")
"Keys of run.json that depend on the code; equal facts may differ in them."


class MessageKind(msgspec.Struct, frozen=True):
    """The category and the role of a kind of message."""

    category: str
    role: str = ""


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of run.json; equal on every machine for the same scenario, protocol, seed and code."""

    scenario: str
    protocol: str
    parameters: dict[str, Any]
    seed: int
    version: str
    nodes: int
    duration: float
    warmup: float
    range: float | None = None
    "Radio range [m]; None if unknown."
    frames: dict[str, int]
    "Frames sent, received and lost by cause, as the kernel counted them."
    drops: dict[str, int]
    "Messages that routers dropped, by reason."
    events_processed: int
    "Events that the kernel processed."
    resolved: dict[str, Any] = {}
    """The scenario with all keys, defaults and event types, in SI units, as `Scenario.model_validate` reads
    it. Files are named without their folders."""
    files: dict[str, str] = {}
    "The SHA-256 of each file that the scenario names, by its key."
    kinds: dict[str, MessageKind] = {}
    "The kinds of messages that were sent or dropped."
    traits: dict[str, Any] = {}
    "The traits that the router declares (`roamcast.routing.traits`)."


class Facts:
    """The tables of one run (`roamcast.facts.schema`) and its manifest."""

    def __init__(
        self, run: RunManifest, tables: Mapping[str, pa.Table], cpu_seconds: float | None = None
    ) -> None:
        self.run = run
        self.tables = dict(tables) if isinstance(tables, dict) else tables
        "The tables by name; a table in a folder is read at each access."
        self.cpu_seconds = cpu_seconds
        "CPU time of the run, None if unknown; not part of the facts, because it is not reproducible [s]."

    def to_pandas(self, name: str) -> pd.DataFrame:
        """Return one of the tables."""
        found: pd.DataFrame = self.tables[name].to_pandas()
        return found

    def __repr__(self) -> str:
        run = self.run
        return f"<Facts {run.scenario}, {run.protocol}, seed {run.seed}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        run = self.run
        rows = "".join(
            f"<tr><td style='text-align:left'>{name}</td><td>{len(self.tables[name]):,}</td>"
            f"<td style='text-align:left'>{', '.join(self.tables[name].column_names)}</td></tr>"
            for name in self.tables
        )
        head = f"<b>{escape(run.scenario)}</b>, {escape(run.protocol)}, seed {run.seed}"
        return f"{head}<table><tr><th>table</th><th>rows</th><th>columns</th></tr>{rows}</table>"

    def __getitem__(self, name: str) -> pa.Table:
        return self.tables[name]

    def write(self, folder: str | Path) -> None:
        """Write a Parquet file for each table, then run.json; equal facts give equal bytes."""
        writer = FactsWriter(folder, tables=self.tables)
        for name, table in self.tables.items():
            writer.append(name, table)
        writer.finish(self.run)

    @classmethod
    def read(cls, folder: str | Path) -> Facts:
        """Return the facts in a folder; raise FactsError if a file is missing, damaged or malformed."""
        folder = Path(folder)
        run = _read_manifest(folder)
        return cls(
            run, {name: read_table(folder / f"{name}.parquet", schema) for name, schema in TABLES.items()}
        )

    @classmethod
    def open(cls, folder: str | Path) -> Facts:
        """Return the facts in a folder; each access to a table reads it."""
        return cls(_read_manifest(Path(folder)), FactsFolder(Path(folder)))

    def digests(self) -> dict[str, str]:
        """Return a SHA-256 of each table and of run.json, independent of the Parquet writer."""
        about = msgspec.to_builtins(self.run)
        content = {key: value for key, value in about.items() if key not in CODE_DEPENDENT_KEYS}
        digests = {"run": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}
        for name in TABLES:
            hashed = hashlib.sha256()
            for column in self.tables[name].columns:
                if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
                    hashed.update("\0".join(column.cast(pa.string()).to_pylist()).encode())
                else:
                    values = column.to_numpy()
                    hashed.update(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes())
                hashed.update(b"\n")
            digests[name] = hashed.hexdigest()
        return digests

    def digest(self) -> str:
        """Return one SHA-256 of all facts."""
        return hashlib.sha256(json.dumps(self.digests()).encode()).hexdigest()


def _read_manifest(folder: Path) -> RunManifest:
    if not folder.is_dir():
        raise FactsError(f"{folder}: no such folder; expected the folder of a run's facts")
    try:
        return msgspec.json.decode((folder / RUN_FILE).read_bytes(), type=RunManifest)
    except FileNotFoundError:
        raise FactsError(f"{folder}: no {RUN_FILE}, so no run finished writing its facts here") from None
    except (OSError, ValueError) as error:  # msgspec's own errors are ValueErrors
        raise FactsError(f"{folder / RUN_FILE}: damaged: {error}") from None


def from_rows(name: str, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Return the table `name` with the given rows."""
    schema = TABLES[name]
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        if pa.types.is_dictionary(field.type):
            arrays.append(pa.array(column, pa.string()).dictionary_encode().cast(field.type))
        else:
            arrays.append(pa.array(column, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Return a table from its Parquet file; raise FactsError if it is damaged or of another schema."""
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        table = file.read()
        table.validate(full=True)  # a dictionary code may be out of range
    except FileNotFoundError:
        raise FactsError(f"{path}: missing") from None
    except (OSError, ValueError, pa.ArrowException) as error:  # ValueError: the name of a column is not UTF-8
        raise FactsError(f"{path}: damaged or not Parquet: {error}") from None
    if len(table) != file.metadata.num_rows:  # the footer has no checksum
        raise FactsError(f"{path}: damaged: found {len(table)} rows, expected {file.metadata.num_rows}")
    return shape_table(path, table, schema)


def shape_table(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table that was read from a file in the given schema, or raise FactsError if it has another."""
    for field in schema:
        if table.schema.names.count(field.name) != 1:
            raise FactsError(f"{path}: no column {field.name!r}; it has {', '.join(table.schema.names)}")
        found = table.schema.field(field.name).type
        if _plain(found) != _plain(field.type):
            raise FactsError(f"{path}: column {field.name!r} holds {found}, expected {_plain(field.type)}")
        if table[field.name].null_count:
            raise FactsError(f"{path}: column {field.name!r} has {table[field.name].null_count} empty cells")
    columns = []
    for field in schema:
        column = table[field.name].combine_chunks()
        if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
