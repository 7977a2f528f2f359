"""State of a provider: subscriptions of principals, publications sent, and the choice of delegates.

A delegate sends a publication to a principal that subscribes late (section II-B3, figure 3).
"""

from __future__ import annotations

from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, NodeId, Publication
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import squared
from roamcast.wire.blobs import filter_size


class ServedPrincipal(NamedTuple):
    """A served principal, with its position at its last subscription."""

    principal: NodeId
    place: PointCm


class ServiceList:
    """The subscriptions of principals, by principal and filter."""

    def __init__(self, lease: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], PointCm] = Leases(lease, capacity)
        self._sent: Leases[tuple[NodeId, int], bool] = Leases(lease, capacity)
        "Pairs of principal and publication id that were sent."

    def hear(self, principal: NodeId, pattern: Filter, place: PointCm, now: float) -> None:
        """Store or renew a subscription."""
        self.leases.sweep(now)
        self.leases.renew((principal, pattern), place, now)

    def interested(self, event: Event, now: float) -> list[ServedPrincipal]:
        """Return the principals whose subscriptions match `event`, by node id, with their last positions."""
        found: dict[NodeId, PointCm] = {}
        for (principal, pattern), place in self.leases.items(now):
            if pattern.matches(event):
                found.pop(principal, None)
                found[principal] = place
        return [ServedPrincipal(principal, found[principal]) for principal in sorted(found)]

    def note(self, principal: NodeId, publication: Publication, now: float) -> None:
        """Record that a publication was sent to a principal."""
        self._sent.sweep(now)
        self._sent.renew((principal, publication.id), True, now)

    def has(self, principal: NodeId, publication: Publication, now: float) -> bool:
        """Return whether a publication was sent to a principal."""
        return self._sent.get((principal, publication.id), now) is not None

    def delegate(
        self, publication: Publication, for_: NodeId, at: PointCm, here: PointCm, now: float
    ) -> ServedPrincipal | None:
        """Return the principal nearest to `at` that has the publication; None if the provider is nearer."""
        places = {principal: place for (principal, _), place in self.leases.items(now)}
        able = [
            (squared(place, at), principal)
            for principal, place in places.items()
            if principal != for_ and self.has(principal, publication, now)
        ]
        if not able or min(able)[0] >= squared(here, at):
            return None
        nearest = min(able)[1]
        return ServedPrincipal(nearest, places[nearest])

    def lapsed(self, event: Event, now: float) -> bool:
        """Return whether an expired subscription of a principal matches `event`."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))

    def footprint(self) -> dict[str, Footprint]:
        """Return the sizes: principal, filter, position and lease; principal and id of publications sent."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(float("-inf")))
        entries, sent, most = len(self.leases), len(self._sent), self.leases.capacity
        return {
            "served": Footprint(entries, 18 * entries + patterns, most),
            "sent": Footprint(sent, 20 * sent, most),
        }
