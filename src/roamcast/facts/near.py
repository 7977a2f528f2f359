"""Find pairs of legs whose nodes may come within range, with a grid over time and space.

Legs are cut into pieces that lie in one time slice and are not longer than a step. Each piece belongs to
the cell of its midpoint; a cell is as wide as the range plus the longest piece, so pieces that come within
range lie in the same cell or in adjacent ones. The run time is linear in the legs and the pairs found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from roamcast.facts.tracks import Nodes, Reals, Tracks

_AT_ONCE = 1 << 20
"Number of pairs of pieces per NumPy operation; their arrays fit into the processor's cache."

_PIECES = 64
"Maximum mean number of pieces per leg; bounds the memory if the range is short and legs are long."

_CELLS = 1 << 20
"Maximum number of cells along one side of the grid."


class _Pieces(NamedTuple):
    """Pieces of legs, sorted by cell."""

    leg: Nodes
    x: Reals
    "Midpoint of the piece [m], as `y`."
    y: Reals
    half: Reals
    "Distance from the midpoint to either end [m]."
    cell: Nodes
    "Number of the cell: (slice * columns + column) * rows + row."
    rows: int


def find_near_legs(tracks: Tracks, range: float) -> tuple[Nodes, Nodes]:
    """Return all pairs of legs of different nodes that overlap in time and may come within `range` [m].

    The first leg of a pair belongs to the node with the smaller number; pairs are sorted and distinct.
    """
    pieces = _cut(tracks, range)
    count = len(tracks.node)
    found = [np.empty(0, np.int64)]
    for one, two in _adjacent(pieces):
        reach = range + pieces.half[one] + pieces.half[two] + _rounding(range)
        near = (pieces.x[one] - pieces.x[two]) ** 2 + (pieces.y[one] - pieces.y[two]) ** 2 <= reach * reach
        legs = pieces.leg[one[near]], pieces.leg[two[near]]
        first, second = np.minimum(*legs), np.maximum(*legs)
        shared = tracks.start[first] < tracks.end[second]
        shared &= tracks.end[first] > tracks.start[second]
        shared &= tracks.node[first] != tracks.node[second]
        found.append(first[shared] * count + second[shared])
    keys = np.concatenate(found)
    del found
    keys.sort()
    if len(pieces.leg) > count:  # two legs with several pieces may be found several times
        keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
    return keys // max(count, 1), keys % max(count, 1)


def _rounding(range: float) -> float:
    """Return an upper bound of the rounding error of positions [m]."""
    return 1e-6 + 1e-9 * range


def _cut(tracks: Tracks, range: float) -> _Pieces:
    """Cut all legs into pieces and sort them into cells."""
    way = float((np.hypot(*tracks.velocity.T) * (tracks.end - tracks.start)).sum())
    step = max(range / 2, way / (_PIECES * max(len(tracks.node), 1)))
    leg, number, start, end = _slice(tracks, _edges(tracks, step, way))
    velocity = tracks.velocity[leg]
    moved = (end - start)[:, None] * velocity
    begin = tracks.place0[leg] + (start - tracks.start[leg])[:, None] * velocity
    long = np.hypot(*moved.T)
    parts = np.maximum(np.ceil(long / step), 1).astype(np.int64)
    which, part = _number_within(parts)
    middle = begin[which] + ((part + 0.5) / parts[which])[:, None] * moved[which]
    return _sort_into_cells(range, leg[which], number[which], middle, (long / parts / 2)[which])


def _edges(tracks: Tracks, step: float, way: float) -> Reals:
    """Return the starts of the time slices [s]; a node of mean speed moves `step` [m] in each."""
    if not way:
        return np.array([-np.inf])
    first, last = float(tracks.start.min()), float(tracks.end.max())
    length = step * float((tracks.end - tracks.start).sum()) / way
    count = int(min((last - first) / length, _PIECES * len(tracks.node)))
    return np.append(-np.inf, first + length * np.arange(1, count + 1))


def _slice(tracks: Tracks, edges: Reals) -> tuple[Nodes, Nodes, Reals, Reals]:
    """Cut legs at the starts of slices; return leg, slice, start and end [s] of each piece."""
    first = np.searchsorted(edges, tracks.start, "right") - 1
    last = np.maximum(np.searchsorted(edges, tracks.end, "left") - 1, first)
    leg, number = _number_within(last - first + 1)
    number += first[leg]
    until = np.append(edges[1:], np.inf)
    return (
        leg,
        number,
        np.maximum(tracks.start[leg], edges[number]),
        np.minimum(tracks.end[leg], until[number]),
    )


def _number_within(counts: Nodes) -> tuple[Nodes, Nodes]:
    """Repeat each index `counts` times; return the indices, and the number of each repetition from 0."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def _sort_into_cells(range: float, leg: Nodes, number: Nodes, middle: Reals, half: Reals) -> _Pieces:
    if not len(leg):
        return _Pieces(leg, half, half, half, leg, 1)
    corner = middle.min(0)
    extent = float((middle.max(0) - corner).max())
    width = max(range + 2 * float(half.max()) + _rounding(range), extent / _CELLS)
    column, row = ((middle - corner) / width).astype(np.int64).T
    # Empty cells at the borders, one column and two rows: cell numbers do not wrap to other cells.
    rows, columns = int(row.max()) + 3, int(column.max()) + 2
    cell = (number * columns + column) * rows + row
    order = np.argsort(cell, kind="stable")
    x, y = middle[order].T
    return _Pieces(leg[order], x, y, half[order], cell[order], rows)


def _adjacent(pieces: _Pieces) -> Iterator[tuple[Nodes, Nodes]]:
    """Yield pairs of pieces in the same cell or in adjacent ones, each pair once."""
    cell, rows = pieces.cell, pieces.rows
    count = len(cell)
    own = np.arange(1, count + 1), np.searchsorted(cell, cell + 1, "right")
    beside = np.searchsorted(cell, cell + rows - 1, "left"), np.searchsorted(cell, cell + rows + 1, "right")
    for low, high in (own, beside):
        many = high - low
        total = np.cumsum(many)
        first = 0
        while first < count:
            done = int(total[first - 1]) if first else 0
            last = max(int(np.searchsorted(total, done + _AT_ONCE, "right")), first + 1)
            one, offset = _number_within(many[first:last])
            one += first
            yield one, low[one] + offset
            first = last
