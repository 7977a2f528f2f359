"""Near legs: the pairs of legs whose nodes may come within range, found by a grid over time and place.

Legs are cut into pieces that lie in one slice of time and are not longer than a step. Each piece belongs to
the cell of its middle; a cell is as wide as the range and the longest piece, so pieces that come within range
lie in the same cell or in adjacent ones. The time taken grows with the legs and with the pairs found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from roamcast.facts.tracks import Nodes, Reals, Tracks

_AT_ONCE = 1 << 20
"Pairs of pieces compared together: few enough for the processor's cache, enough for NumPy."

_PIECES = 64
"The most pieces that a leg has on the mean; a short range among long legs would make more."

_CELLS = 1 << 20
"The most cells along one side of the grid."


class _Pieces(NamedTuple):
    """Pieces of legs in order of their cells."""

    leg: Nodes
    x: Reals
    "Of the middle, as `y`."
    y: Reals
    half: Reals
    "From the middle to either end."
    cell: Nodes
    "Number of the cell: (slice * columns + column) * rows + row."
    rows: int


def find_near_legs(tracks: Tracks, range: float) -> tuple[Nodes, Nodes]:
    """Return all pairs of legs of different nodes that share some time and may come within `range` [m].

    The first of a pair is the leg of the lesser node; pairs are in order, each once.
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
    if len(pieces.leg) > count:  # legs of several pieces may have met several times
        keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
    return keys // max(count, 1), keys % max(count, 1)


def _rounding(range: float) -> float:
    """Metres by which computed places may be wrong, and more."""
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
    """Return the times at which slices begin [s]: a node of mean speed walks `step` [m] in each."""
    if not way:
        return np.array([-np.inf])
    first, last = float(tracks.start.min()), float(tracks.end.max())
    length = step * float((tracks.end - tracks.start).sum()) / way
    count = int(min((last - first) / length, _PIECES * len(tracks.node)))
    return np.append(-np.inf, first + length * np.arange(1, count + 1))


def _slice(tracks: Tracks, edges: Reals) -> tuple[Nodes, Nodes, Reals, Reals]:
    """Cut legs at the edges of slices; return leg, number of the slice, start and end of each piece."""
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
    """Return for `counts` rows of each index: the index, and the number of the row within it."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def _sort_into_cells(range: float, leg: Nodes, number: Nodes, middle: Reals, half: Reals) -> _Pieces:
    if not len(leg):
        return _Pieces(leg, half, half, half, leg, 1)
    corner = middle.min(0)
    extent = float((middle.max(0) - corner).max())
    width = max(range + 2 * float(half.max()) + _rounding(range), extent / _CELLS)
    column, row = ((middle - corner) / width).astype(np.int64).T
    # One column and two rows more, which are empty: no cell at a border has a neighbour across it.
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
