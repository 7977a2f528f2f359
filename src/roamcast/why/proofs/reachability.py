"""Compute from movement alone which nodes information could reach by when, for any protocol.

Two nodes are connected exactly while they are within range (`roamcast.facts.contacts`); a hop takes no time,
and a node may carry information for any time. So a node that is unreachable here was unreachable for any
protocol. Reception at the edge of the range is uncertain: `Reachability` includes such links, so that "no
path" is a proof; `Reachability.sure` excludes them, so that "a path exists" is a proof.
"""

from __future__ import annotations

import heapq
from functools import cached_property, lru_cache
from math import inf

import numpy as np
import numpy.typing as npt

from roamcast.facts.contacts import EDGE, Contacts, find_contacts
from roamcast.facts.tracks import Reals, Tracks
from roamcast.why.proofs.outages import OutageIndex


class Reachability:
    """The time-varying graph of nodes within range of each other."""

    def __init__(
        self, tracks: Tracks, range: float, edge: float = EDGE, outages: OutageIndex | None = None
    ) -> None:
        self.tracks = tracks
        self.nodes = tracks.nodes
        self.range = range
        self.edge = edge
        "Nodes are connected up to this distance beyond the range; negative: only well within it [m]."
        self.contacts: Contacts = find_contacts(tracks, range, edge)
        self._outages = outages
        if outages:
            self.contacts = outages.cut(self.contacts)
        ends = np.concatenate([self.contacts.a, self.contacts.b])
        order = np.argsort(ends, kind="stable")
        self._first = np.searchsorted(ends[order], np.arange(self.nodes + 1))
        self._peer = np.concatenate([self.contacts.b, self.contacts.a])[order]
        self._start = np.concatenate([self.contacts.start, self.contacts.start])[order]
        self._end = np.concatenate([self.contacts.end, self.contacts.end])[order]
        self.first_hearing = lru_cache(maxsize=4096)(self._first_hearing)
        self.parts = lru_cache(maxsize=4096)(self._parts)
        self.neighbours = lru_cache(maxsize=1 << 14)(self._neighbours)

    @cached_property
    def sure(self) -> Reachability:
        """Return the graph of the links on which reception is certain, those shorter than the edge."""
        return Reachability(self.tracks, self.range, -self.edge, self._outages)

    def distance(self, a: int, b: int, time: float) -> float:
        """Return the distance of two nodes at a time [m]."""
        return float(np.hypot(*(self.tracks.position(a, time) - self.tracks.position(b, time))))

    def together(self, a: int, b: int, time: float) -> bool:
        """Return whether a path connected two nodes at a time."""
        parts = self.parts(time)
        return bool(parts[a] == parts[b])

    def meets(self, source: int, target: int, since: float, until: float) -> bool:
        """Return whether information could have travelled from `source` to `target` in an interval."""
        return bool(self.first_hearing(source, since)[target] <= until)

    def _neighbours(self, node: int, start: float, end: float) -> frozenset[int]:
        """Return the nodes that were within range of `node` at some time of an interval."""
        own = slice(self._first[node], self._first[node + 1])
        met = (self._start[own] <= end) & (self._end[own] >= start)
        return frozenset(self._peer[own][met].tolist())

    def _first_hearing(self, source: int, since: float) -> Reals:
        """Return for each node the earliest arrival of information that `source` had at `since` [s]."""
        first = np.full(self.nodes, inf)
        first[source] = since
        waiting = [(since, source)]
        while waiting:
            time, node = heapq.heappop(waiting)
            if time > first[node]:
                continue
            own = slice(self._first[node], self._first[node + 1])
            still = self._end[own] >= time
            peers, when = self._peer[own][still], np.maximum(self._start[own][still], time)
            sooner = when < first[peers]
            np.minimum.at(first, peers[sooner], when[sooner])
            for peer in np.unique(peers[sooner]).tolist():
                heapq.heappush(waiting, (float(first[peer]), peer))
        return first

    def _parts(self, time: float) -> npt.NDArray[np.int32]:
        """Return the label of the connected component of each node at a time."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        found = self.contacts
        now = (found.start <= time) & (time <= found.end)
        links = coo_array((np.ones(now.sum()), (found.a[now], found.b[now])), (self.nodes, self.nodes))
        labels: npt.NDArray[np.int32] = connected_components(links, directed=False)[1]
        return labels
