"""The subscription graph: the covering order of filters as a Hasse diagram; its tops are the channels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.content.filter import Filter
from roamcast.content.grouping.cluster import FilterCluster, by_type

if TYPE_CHECKING:
    import networkx


class SubscriptionGraph:
    """Filters by covering: an edge leads from a filter to each that it covers most closely.

    Filters that are equivalent share a node, the first of them.
    """

    def __init__(self, filters: Sequence[Filter]) -> None:
        self.filters = list(filters)
        self.nodes: list[int] = []
        "Places of the filters that stand for themselves and their equals."
        self.equals: dict[int, list[int]] = {}
        "The places that each node stands for, itself first."
        self.below: dict[int, set[int]] = {}
        "Everything that a node covers, nodes only."
        self.children: dict[int, list[int]] = {}
        "What it covers with nothing in between."
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
        """The nodes that nothing covers."""
        covered = {below for node in self.nodes for below in self.below[node]}
        return [node for node in self.nodes if node not in covered]

    def groups(self) -> list[FilterCluster]:
        """A channel for each top; whoever is below several joins the first that has the fewest members."""
        members = {top: list(self.equals[top]) for top in self.tops}
        for node in self.nodes:
            above = [top for top in members if node in self.below[top]]
            if above:
                chosen = min(above, key=lambda top: (len(self.below[top]), top))
                members[chosen].extend(self.equals[node])
        return [FilterCluster(tuple(sorted(found)), self.filters[top]) for top, found in members.items()]

    def to_networkx(self) -> networkx.DiGraph[int]:
        """The Hasse diagram, its nodes labelled with their XPath."""
        import networkx

        graph: networkx.DiGraph[int] = networkx.DiGraph()
        for node in self.nodes:
            graph.add_node(node, label=str(self.filters[node]), count=len(self.equals[node]))
        graph.add_edges_from((node, child) for node in self.nodes for child in self.children[node])
        return graph

    def to_text(self) -> str:
        """The diagram as an indented list; what hangs below several nodes is written out below the first."""
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
        """Draw the diagram, wide filters above narrow ones, into a PNG, PDF or SVG file."""
        from roamcast.content.grouping.drawing import draw_graph

        draw_graph(self.to_networkx(), path)


def graph_groups(filters: Sequence[Filter]) -> list[FilterCluster]:
    """A channel for each filter that no other covers."""
    return SubscriptionGraph(filters).groups()
