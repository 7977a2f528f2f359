"""Selection of the next hops of a subscription (figure 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.content.covering import RelationCache
from roamcast.content.filter import Filter
from roamcast.routing.cbr.adverts import AdvertRoute, AdvertRoutes
from roamcast.routing.cbr.most_covering import Branch
from roamcast.routing.router import NodeId

FindBranch = Callable[[NodeId, Filter, NodeId], Branch | None]
"(publisher, filter, child) -> the branch that most-covering selects, if any."


class NextHops:
    """The next hops towards all publishers at one moment."""

    def __init__(
        self,
        adverts: Iterable[AdvertRoutes],
        relations: RelationCache,
        find_branch: FindBranch | None = None,
        detour: int = 0,
    ) -> None:
        self.adverts = list(adverts)
        self._relations = relations
        self._find_branch = find_branch
        self._detour = detour
        self._known: dict[tuple[Filter, NodeId], dict[NodeId, AdvertRoute]] = {}

    def of(self, pattern: Filter, child: NodeId) -> dict[NodeId, AdvertRoute]:
        """Return the chosen route to each publisher whose advertisement intersects `pattern`.

        A subscription is never sent back to the `child` that it came from.
        """
        known = self._known.get((pattern, child))
        if known is not None:
            return known
        chosen: dict[NodeId, AdvertRoute] = {}
        for advert in self.adverts:
            if not self._relations.intersects(advert.pattern, pattern):
                continue
            nearest = next((route for route in advert.routes if route.neighbour != child), None)
            held = chosen.get(advert.publisher)
            if nearest is not None and (held is None or nearest < held):
                chosen[advert.publisher] = nearest
        if self._find_branch is not None:
            for publisher in {advert.publisher for advert in self.adverts}:
                branch = self._find_branch(publisher, pattern, child)
                nearest = chosen.get(publisher)
                if branch is not None and nearest is not None and branch.hops <= nearest.hops + self._detour:
                    chosen[publisher] = AdvertRoute(0, branch.hops, branch.neighbour)
        self._known[pattern, child] = chosen
        return chosen

    def neighbours(self, pattern: Filter, child: NodeId) -> set[NodeId]:
        """Return the next hops of a subscription of `child`."""
        return {route.neighbour for route in self.of(pattern, child).values()}
