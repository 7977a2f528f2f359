"""The oracle: knows everyone's interest, so it knows who should get an event. No router may ask it."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.routing.router import NodeId


class Oracle:
    """The interests of all nodes at this moment."""

    def __init__(self) -> None:
        self._wanting: dict[Filter, dict[NodeId, int]] = {}
        self._index: MatchIndex[Filter] = MatchIndex()

    def begin(self, node: NodeId, wanted: Filter) -> None:
        """Note that `node` starts wanting something."""
        nodes = self._wanting.get(wanted)
        if nodes is None:
            nodes = self._wanting[wanted] = {}
            self._index.add(wanted, wanted)
        nodes[node] = nodes.get(node, 0) + 1

    def end(self, node: NodeId, wanted: Filter) -> None:
        """Note that `node` stops wanting it."""
        nodes = self._wanting[wanted]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
            if not nodes:
                del self._wanting[wanted]
                self._index.remove(wanted)

    def expected(self, event: Event, publisher: NodeId) -> list[NodeId]:
        """Who should get `event` if it is published now, in order; never its publisher."""
        found: set[NodeId] = set()
        for wanted in self._index.match(event):
            found.update(self._wanting[wanted])
        found.discard(publisher)
        return sorted(found)
