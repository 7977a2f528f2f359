"""Compute the exact contacts of nodes: the intervals in which two nodes are within range.

While both nodes move straight, their squared distance is a quadratic function of time, so the times at which
they enter and leave the range are its roots. Rounding errors of positions are far smaller than `EDGE`, which
is added to the range: no contact is missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roamcast.facts.near import find_near_legs
from roamcast.facts.tracks import Nodes, Reals, Tracks

EDGE = 1e-6
"Extension of the range for rounding; reception within this distance of the range is uncertain [m]."

_AT_ONCE = 1 << 20
"Number of pairs of legs per NumPy operation; their arrays fit into the processor's cache."


class Contacts(NamedTuple):
    """Pairs of nodes and the intervals in which they were within range [s], sorted by pair, then time."""

    a: Nodes
    b: Nodes
    "The node with the greater number."
    start: Reals
    end: Reals
    "The interval is closed at both ends."

    def of(self, a: int, b: int) -> list[tuple[float, float]]:
        """Return the start and end of each contact of two nodes [s]."""
        chosen = (self.a == min(a, b)) & (self.b == max(a, b))
        return list(zip(self.start[chosen].tolist(), self.end[chosen].tolist(), strict=True))


def find_contacts(tracks: Tracks, range: float, edge: float = EDGE) -> Contacts:
    """Return all contacts of nodes for a radio range of `range` [m], extended by `edge` [m]."""
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
    one, two = find_near_legs(tracks, range + edge)
    blocks = [slice(first, first + _AT_ONCE) for first in np.arange(0, len(one), _AT_ONCE).tolist()]
    pieces = [_within(tracks, range + edge, one[block], two[block]) for block in blocks]
    a, b, start, end = (np.concatenate(column) for column in zip(nothing, *pieces, strict=True))
    pair = a * max(tracks.nodes, 1) + b
    if (pair[1:] <= pair[:-1]).any():
        order = np.lexsort((start, pair))
        a, b, start, end = a[order], b[order], start[order], end[order]
    return _merge(Contacts(a, b, start, end))


def _within(tracks: Tracks, range: float, one: Nodes, two: Nodes) -> tuple[Nodes, Nodes, Reals, Reals]:
    """Return the nodes, start and end of the contact of each pair of legs that has one."""
    start = np.maximum(tracks.start[one], tracks.start[two])
    end = np.minimum(tracks.end[one], tracks.end[two])
    apart = _at(tracks, one, start) - _at(tracks, two, start)
    drift = tracks.velocity[one] - tracks.velocity[two]
    # |apart + drift u|^2 = range^2 is a u^2 + 2 b u + c = 0 in the time u since `start`.
    a = (drift**2).sum(-1)
    b = (apart * drift).sum(-1)
    c = (apart**2).sum(-1) - range**2
    square = b * b - a * c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -(b + np.copysign(np.sqrt(square), b))  # both terms have the same sign, so nothing cancels
        roots = np.sort(np.stack([np.where(q == 0, 0.0, c / q), q / a]), axis=0)
    still = a == 0
    enters = np.where(still, 0.0, np.maximum(roots[0], 0.0))
    leaves = np.where(still, end - start, np.minimum(roots[1], end - start))
    met = np.where(still, c <= 0, (square >= 0) & (enters <= leaves))
    begins = np.where(enters > 0, start + enters, start)[met]
    ends = np.where(leaves < end - start, start + leaves, end)[met]
    return tracks.node[one][met], tracks.node[two][met], begins, ends


def _at(tracks: Tracks, leg: Nodes, time: Reals) -> Reals:
    return np.asarray(tracks.place0[leg] + (time - tracks.start[leg])[:, None] * tracks.velocity[leg])


def _merge(pieces: Contacts) -> Contacts:
    """Join contacts of a pair that follow each other without a gap: each pair of legs gives its own."""
    follows = np.zeros(len(pieces.a), bool)
    follows[1:] = (
        (pieces.a[1:] == pieces.a[:-1])
        & (pieces.b[1:] == pieces.b[:-1])
        & (pieces.start[1:] <= pieces.end[:-1])
    )
    first = ~follows
    last = np.append(first, True)[1:]
    return Contacts(pieces.a[first], pieces.b[first], pieces.start[first], pieces.end[last[: len(first)]])
