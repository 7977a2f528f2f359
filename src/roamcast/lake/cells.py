"""The cell of a run, which each row of its facts carries, and the resulting order of runs in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from roamcast.lake.columns import CELL, RUN


class RunCell(msgspec.Struct, frozen=True):
    """Campaign, protocol, seed and point of a run; None if unknown.

    A run may serve several cells of a campaign: this is the first one of the plan.
    """

    campaign: str | None = None
    protocol: str | None = None
    seed: int | None = None
    point: str | None = None


UNKNOWN = RunCell()


def sort_key(run: str, cell: RunCell) -> tuple[str, int, str, str]:
    """Return the key by which the runs of a file are sorted: protocol, seed, point and id.

    The rows of a protocol and a seed are thus contiguous, and statistics of row groups and pages tell where.
    """
    return cell.protocol or "", -1 if cell.seed is None else cell.seed, cell.point or "", run


def tag_rows(
    rows: pa.Table, counts: Sequence[tuple[str, int]], cells: Mapping[str, RunCell], schema: pa.Schema
) -> pa.Table:
    """Return the rows with the columns of their run and its cell added, in the types of `schema`.

    `counts` has the runs in the order of the rows, each with its number of rows.
    """
    times = np.array([count for _, count in counts], np.int64)
    found = [cells.get(run, UNKNOWN) for run, _ in counts]
    columns = {"run": _repeat([run for run, _ in counts], times, RUN.type)}
    for field in CELL:
        columns[field.name] = _repeat([getattr(cell, field.name) for cell in found], times, field.type)
    return pa.Table.from_arrays(
        [*columns.values(), *rows.columns], names=[*columns, *rows.column_names]
    ).cast(schema)


def _repeat(values: list[Any], times: Any, kind: pa.DataType) -> pa.Array:
    """Return an array in which each value is repeated so many times."""
    if not pa.types.is_dictionary(kind):
        return pa.array(values, kind).take(pa.array(np.repeat(np.arange(len(values)), times)))
    coded = pa.array(values, kind.value_type).dictionary_encode()
    codes = coded.indices.take(pa.array(np.repeat(np.arange(len(values)), times)))
    return pa.DictionaryArray.from_arrays(codes, coded.dictionary)
