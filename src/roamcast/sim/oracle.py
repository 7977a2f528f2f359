"""The oracle: knows everyone's interest, so it knows who should get an event. No router may ask it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.routing.router import NodeId

Audience = npt.NDArray[np.int32]


class Oracle:
    """The interests of all nodes at this moment."""

    def __init__(self) -> None:
        self._wanting: dict[Filter, dict[NodeId, int]] = {}
        self._index: MatchIndex[Filter] = MatchIndex()
        self._audiences: dict[tuple[Filter, ...], Audience] = {}
        "By the filters that match; valid until an interest changes."

    def add(self, node: NodeId, wanted: Filter) -> None:
        """Note that `node` starts wanting something."""
        nodes = self._wanting.get(wanted)
        if nodes is None:
            nodes = self._wanting[wanted] = {}
            self._index.add(wanted, wanted)
        nodes[node] = nodes.get(node, 0) + 1
        self._audiences.clear()

    def remove(self, node: NodeId, wanted: Filter) -> None:
        """Note that `node` stops wanting it."""
        nodes = self._wanting[wanted]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
            if not nodes:
                del self._wanting[wanted]
                self._index.remove(wanted)
        self._audiences.clear()

    def audience(self, event: Event) -> Audience:
        """Return all nodes that want `event` now, in order; the same array until an interest changes."""
        matching = tuple(self._index.match(event))
        found = self._audiences.get(matching)
        if found is None:
            nodes = set().union(*(self._wanting[wanted] for wanted in matching))
            found = np.fromiter(nodes, np.int32, len(nodes))
            found.sort()
            found.flags.writeable = False
            self._audiences[matching] = found
        return found

    def expected(self, event: Event, publisher: NodeId) -> list[NodeId]:
        """Who should get `event` if it is published now, in order; never its publisher."""
        found: list[NodeId] = self.audience(event).tolist()
        return [node for node in found if node != publisher]
