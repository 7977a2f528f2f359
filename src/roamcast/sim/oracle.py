"""The oracle: knows the interests of all nodes, and so the expected receivers. Routers have no access."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.routing.router import NodeId

Audience = npt.NDArray[np.int32]


class Oracle:
    """The current interests of all nodes."""

    def __init__(self) -> None:
        self._subscribers: dict[Filter, dict[NodeId, int]] = {}
        self._index: MatchIndex[Filter] = MatchIndex()
        self._audiences: dict[tuple[Filter, ...], Audience] = {}
        "By matching filters; valid until an interest changes."

    def add(self, node: NodeId, filter: Filter) -> None:
        """Add an interest of `node`."""
        nodes = self._subscribers.get(filter)
        if nodes is None:
            nodes = self._subscribers[filter] = {}
            self._index.add(filter, filter)
        nodes[node] = nodes.get(node, 0) + 1
        self._audiences.clear()

    def remove(self, node: NodeId, filter: Filter) -> None:
        """Remove an interest of `node`."""
        nodes = self._subscribers[filter]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
            if not nodes:
                del self._subscribers[filter]
                self._index.remove(filter)
        self._audiences.clear()

    def audience(self, event: Event) -> Audience:
        """Return all nodes whose interests match `event`, in order; the array is shared until a change."""
        matching = tuple(self._index.match(event))
        found = self._audiences.get(matching)
        if found is None:
            nodes = set().union(*(self._subscribers[filter] for filter in matching))
            found = np.fromiter(nodes, np.int32, len(nodes))
            found.sort()
            found.flags.writeable = False
            self._audiences[matching] = found
        return found

    def expected(self, event: Event, publisher: NodeId) -> list[NodeId]:
        """Return the nodes, without the publisher, that should receive `event` if published now; sorted."""
        found: list[NodeId] = self.audience(event).tolist()
        return [node for node in found if node != publisher]
