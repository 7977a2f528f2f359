"""The subscription graph: the covering order of filters as a Hasse diagram, whose maximal nodes are
channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.content.filter import Filter
from roamcast.content.grouping.cluster import FilterCluster, by_type

if TYPE_CHECKING:
    import networkx


class SubscriptionGraph:
    """Filters ordered by covering: an edge leads from a filter to each filter that it covers directly.

    Equivalent filters share one node, the first of them.
    """

    def __init__(self, filters: Sequence[Filter]) -> None:
        self.filters = list(filters)
        self.nodes: list[int] = []
        "Indices of the filters that represent themselves and their equivalents."
        self.equals: dict[int, list[int]] = {}
        "The indices that each node represents, its own first."
        self.below: dict[int, set[int]] = {}
        "All nodes that a node covers."
        self.children: dict[int, list[int]] = {}
        "The nodes that a node covers directly."
        for places in by_type(self.filters).values():
            self._add(places)
        for node in self.nodes:
            indirect = {far for near in self.below[node] for far in self.below[near]}
            self.children[node] = sorted(self.below[node] - indirect)

    def _add(self, places: list[int]) -> None:
        fresh: list[int] = []
        for place in places:
            filter = self.filters[place]
            wider = [node for node in fresh if self.filters[node].covers(filter)]
            same = [node for node in wider if filter.covers(self.filters[node])]
            if same:
                self.equals[same[0]].append(place)
                continue
            self.below[place] = {node for node in fresh if filter.covers(self.filters[node])}
            for node in wider:
                self.below[node].add(place)
            self.equals[place] = [place]
            fresh.append(place)
        self.nodes.extend(fresh)

    @property
    def tops(self) -> list[int]:
        """The nodes that no other node covers."""
        covered = {below for node in self.nodes for below in self.below[node]}
        return [node for node in self.nodes if node not in covered]

    def groups(self) -> list[FilterCluster]:
        """Return one cluster per top; a node below several tops joins the one that covers the fewest
        nodes.
        """
        members = {top: list(self.equals[top]) for top in self.tops}
        for node in self.nodes:
            above = [top for top in members if node in self.below[top]]
            if above:
                chosen = min(above, key=lambda top: (len(self.below[top]), top))
                members[chosen].extend(self.equals[node])
        return [FilterCluster(tuple(sorted(found)), self.filters[top]) for top, found in members.items()]

    def to_networkx(self) -> networkx.DiGraph[int]:
        """Return the Hasse diagram, with the XPath of each filter as label."""
        import networkx

        graph: networkx.DiGraph[int] = networkx.DiGraph()
        for node in self.nodes:
            graph.add_node(node, label=str(self.filters[node]), count=len(self.equals[node]))
        graph.add_edges_from((node, child) for node in self.nodes for child in self.children[node])
        return graph

    def to_text(self) -> str:
        """Return the diagram as an indented list; the subtree of a shared node is written once."""
        lines: list[str] = []
        written: set[int] = set()
        waiting = [(top, 0) for top in reversed(self.tops)]
        while waiting:
            node, depth = waiting.pop()
            line = "  " * depth + str(self.filters[node])
            if len(self.equals[node]) > 1:
                line += f"  (x{len(self.equals[node])})"
            if node in written and self.children[node]:
                line += "  (see above)"
            elif node not in written:
                waiting.extend((child, depth + 1) for child in reversed(self.children[node]))
            written.add(node)
            lines.append(line)
        return "\n".join(lines)

    def draw(self, path: Path) -> None:
        """Draw the diagram into a PNG, PDF or SVG file, covering filters above covered ones."""
        from roamcast.content.grouping.drawing import draw_graph

        draw_graph(self.to_networkx(), path)


def graph_groups(filters: Sequence[Filter]) -> list[FilterCluster]:
    """Return one cluster per filter that no other filter covers."""
    return SubscriptionGraph(filters).groups()
