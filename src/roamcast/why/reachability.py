"""Reach: who could have heard of something by when, whatever the protocol, from movement alone.

Two nodes are joined in the very intervals in which they are within range (`roamcast.facts.contacts`); hops
take no time, and whoever has heard of something may carry it as long as he likes. So what is unreachable
here was unreachable for any protocol. Nodes at the range's very edge may or may not hear: `Reach` counts them
in, so that "no path" is a proof; `sure` leaves them out, so that "a path" is one.
"""

from __future__ import annotations

import heapq
from functools import cached_property, lru_cache
from math import inf

import numpy as np
import numpy.typing as npt

from roamcast.facts.contacts import EDGE, Contacts, find_contacts
from roamcast.facts.tracks import Reals, Tracks
from roamcast.why.outages import OutageIndex


class Reachability:
    """The network that changes with time."""

    def __init__(
        self, tracks: Tracks, range: float, edge: float = EDGE, outages: OutageIndex | None = None
    ) -> None:
        self.tracks = tracks
        self.nodes = tracks.nodes
        self.range = range
        self.edge = edge
        "Metres: who is nearer to the range's edge than this counts as joined, and may or may not have heard."
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
        self.neighbours = lru_cache(maxsize=256)(self._neighbours)

    @cached_property
    def sure(self) -> Reachability:
        """The network of those who hear each other for sure, all of them nearer than the edge."""
        return Reachability(self.tracks, self.range, -self.edge, self._outages)

    def distance(self, a: int, b: int, time: float) -> float:
        """Metres between two nodes."""
        return float(np.hypot(*(self.tracks.position(a, time) - self.tracks.position(b, time))))

    def in_range(self, a: int, b: int, time: float) -> bool:
        """Whether two nodes were within range."""
        return any(start <= time <= end for start, end in self.contacts.of(a, b))

    def together(self, a: int, b: int, time: float) -> bool:
        """Whether a path joined two nodes at that moment."""
        parts = self.parts(time)
        return bool(parts[a] == parts[b])

    def meets(self, source: int, target: int, since: float, until: float) -> bool:
        """Whether word could have come from `source` to `target` between two moments, carried by anyone."""
        return bool(self.first_hearing(source, since)[target] <= until)

    def _neighbours(self, start: float, end: float) -> dict[int, set[int]]:
        """Who was within whose range at some moment of a time."""
        found: dict[int, set[int]] = {}
        met = (self.contacts.start <= end) & (self.contacts.end >= start)
        for a, b in zip(self.contacts.a[met].tolist(), self.contacts.b[met].tolist(), strict=True):
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
        return found

    def _first_hearing(self, source: int, since: float) -> Reals:
        """For each node the first time at which word that `source` had at `since` could have come to it."""
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
        """The part of the network in which each node was at that moment, as numbers."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        found = self.contacts
        now = (found.start <= time) & (time <= found.end)
        links = coo_array((np.ones(now.sum()), (found.a[now], found.b[now])), (self.nodes, self.nodes))
        labels: npt.NDArray[np.int32] = connected_components(links, directed=False)[1]
        return labels
