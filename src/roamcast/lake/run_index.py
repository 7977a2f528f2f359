"""The index of a file of facts: where the rows of each run are. It is kept in the metadata of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

INDEX_KEY = b"roamcast.index"
"The key in a file's metadata: a line for each run with its id and its number of rows, in the order of rows."


class RowSlice(NamedTuple):
    """Rows of one run in a row group."""

    run: str
    group: int
    start: int
    length: int


class RunIndex:
    """The row groups and positions of each run's rows."""

    def __init__(self, opened: pq.ParquetFile) -> None:
        sizes = [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]
        index = (opened.metadata.metadata or {}).get(INDEX_KEY)
        counts = _decode(index) if index is not None else list(_count_runs(opened))
        self.groups: list[list[RowSlice]] = [[] for _ in sizes]
        "The slices of each row group."
        self.runs: dict[str, list[RowSlice]] = {}
        "The slices of each run, in the order of rows."
        for piece in _lay_out(counts, sizes):
            self.groups[piece.group].append(piece)
            self.runs.setdefault(piece.run, []).append(piece)


def encode_index(counts: Iterable[tuple[str, int]]) -> bytes:
    """Return the index of a file with these runs and numbers of rows."""
    return "\n".join(f"{run} {count}" for run, count in counts).encode()


def _decode(index: bytes) -> list[tuple[str, int]]:
    lines = (line.rpartition(" ") for line in index.decode().split("\n"))
    return [(run, int(count)) for run, _, count in lines]


def _lay_out(counts: Sequence[tuple[str, int]], sizes: Sequence[int]) -> Iterator[RowSlice]:
    """Yield the slices of runs that follow each other over row groups of these sizes."""
    if sum(count for _, count in counts) != sum(sizes):
        raise ValueError("the index of runs does not fit the number of rows")
    group = start = 0
    for run, count in counts:
        left = count
        while left:
            while start == sizes[group]:
                group, start = group + 1, 0
            length = min(left, sizes[group] - start)
            yield RowSlice(run, group, start, length)
            start, left = start + length, left - length


def _count_runs(opened: pq.ParquetFile) -> Iterator[tuple[str, int]]:
    """Yield the runs of a file without an index (format 2), with the lengths of their slices."""
    for group in range(opened.num_row_groups):
        column = opened.read_row_group(group, columns=["run"], use_threads=False)["run"].combine_chunks()
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = coded.indices.to_numpy()
        starts = np.concatenate(([0], np.flatnonzero(codes[1:] != codes[:-1]) + 1, [len(codes)]))
        names = coded.dictionary.to_pylist()
        for start, length in zip(starts[:-1].tolist(), np.diff(starts).tolist(), strict=True):
            yield names[codes[start]], length
