"""Reorganisation of communities (section II-A2): merging, splitting and joining.

Orphan communities merge, a node between orphans splits off to form a new community with them, and a node
between two principals joins the one with the smaller expected number of hops, E(H).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.routing.clone.community import KnownPrincipal
from roamcast.routing.clone.messages import UNREACHABLE, Merge
from roamcast.routing.clone.similarity import RequestHistory
from roamcast.routing.router import Drop, Footprint, NodeId
from roamcast.routing.state.leases import Leases

if TYPE_CHECKING:
    from roamcast.routing.clone.clone import Clone

MERGE_REQUESTS = 64
"Maximum number of orphan communities whose merge requests are stored."


class Reorganisation:
    """One node's role in changes of communities between constructions."""

    def __init__(self, router: Clone, interests: RequestHistory) -> None:
        p = router.parameters
        self._router = router
        self._host = router.host
        self._community = router.community
        self._interests = interests
        self._merge_requests: Leases[NodeId, bool] = Leases(2 * p.reorganise, MERGE_REQUESTS)
        "Orphan communities that have sent a merge request."
        self._next = 0.0
        self._checked_construction = 0
        "Number of the construction after which the last check was scheduled."
        self._requested_merge = False
        "Whether this node's community was an orphan at the last check, and sent a merge request."

    def expected_hops(self, candidate: KnownPrincipal) -> float:
        """Return E(H), the expected hops of a request through a principal, which caches its own interests."""
        hit = self._interests.share(candidate.interests, self._host.now())
        return hit * candidate.hops + (1 - hit) * self._router.ads.span()

    def is_orphan(self) -> bool:
        """Return whether this node's community has too few members, as far as this node knows."""
        community, fewest = self._community, self._router.parameters.orphan
        if community.is_principal:
            return community.members() < fewest
        beacon = community.heard.get(community.principal, self._host.now())
        return beacon is not None and beacon.principal == community.principal and beacon.members < fewest

    def check(self) -> None:
        """Rejoin if the principal is unreachable; periodically merge, or join a better community."""
        community, now = self._community, self._host.now()
        if community.constructing:
            return
        if not community.is_principal and community.hops >= UNREACHABLE:
            self._rejoin()
        if self._checked_construction != community.constructions:
            self._checked_construction = community.constructions
            self._next = now + self._router.parameters.gpsr.silence  # until then, beacons count the members
        if now < self._next:
            return
        self._next = now + self._router.parameters.reorganise
        if not self.is_orphan():
            self._requested_merge = False
            if not community.is_principal:
                self._improve()
        elif self._requested_merge and (others := self._others()):
            self._join_best(others)  # no other orphan has answered
            self._requested_merge = False
        else:
            self._host.broadcast(Merge(community.principal, community.weight, community.hops))
            self._requested_merge = True

    def handle_merge(self, merge: Merge, sender: NodeId) -> Drop | None:
        """Handle the merge request of a neighbouring orphan community."""
        community = self._community
        if not self._router.parameters.enhanced or merge.principal == community.principal:
            return Drop.NOT_MINE
        if community.constructing or merge.hops >= self._router.parameters.ttl:
            return Drop.HOP_LIMIT
        if self.is_orphan():
            return self._merge(merge, sender)
        if community.is_principal:
            return Drop.UNWANTED
        now = self._host.now()
        self._merge_requests.sweep(now)
        self._merge_requests.renew(merge.principal, True, now)
        if len(self._merge_requests) < 2:
            return None
        for orphan, _ in self._merge_requests.items(now):
            self._merge_requests.discard(orphan)
        community.announce()  # the orphans receive the confirmation and join
        return None

    def consider(self, candidate: KnownPrincipal) -> None:
        """Join a principal if this node's community is an orphan, or E(H) is smaller over that principal."""
        community = self._community
        if community.is_principal:
            if self.is_orphan() and candidate.hops <= 2:
                community.join(candidate)
        elif self.is_orphan() or self.expected_hops(candidate) < self._expected_now():
            community.join(candidate)

    def footprint(self) -> Footprint:
        """Return the size: principal and lease per merge request."""
        return Footprint(len(self._merge_requests), 12 * len(self._merge_requests), MERGE_REQUESTS)

    def _merge(self, merge: Merge, sender: NodeId) -> Drop | None:
        """Merge two neighbouring orphans: the lighter one joins the heavier."""
        community = self._community
        if (merge.weight, -merge.principal) <= (community.weight, -community.principal):
            # The other community is to join, and may not know this one.
            self._host.send(Merge(community.principal, community.weight, community.hops), sender)
            return Drop.SUPPRESSED
        if community.is_principal:
            community.join(KnownPrincipal(merge.principal, merge.weight, frozenset(), merge.hops + 1, sender))
        elif community.parent != sender:
            self._host.send(Merge(merge.principal, merge.weight, merge.hops + 1), community.parent)
        return None

    def _expected_now(self) -> float:
        community = self._community
        known = community.known.get(community.principal, self._host.now())
        interests = known.interests if known is not None else frozenset()
        own = KnownPrincipal(
            community.principal, community.weight, interests, community.hops, community.parent
        )
        return self.expected_hops(own)

    def _neighbouring(self) -> list[KnownPrincipal]:
        """Return the principals of the neighbours, each over the nearest neighbour."""
        community, now = self._community, self._host.now()
        found: dict[NodeId, KnownPrincipal] = {}
        for node, beacon in community.heard.items(now):
            hops = beacon.hops + 1
            if hops > self._router.parameters.ttl or beacon.parent == self._host.node:
                continue
            known = community.known.get(beacon.principal, now)
            interests = known.interests if known is not None else frozenset()
            candidate = KnownPrincipal(beacon.principal, beacon.weight, interests, hops, node)
            held = found.get(beacon.principal)
            if beacon.principal != self._host.node and (held is None or hops < held.hops):
                found[beacon.principal] = candidate
        return list(found.values())

    def _rejoin(self) -> None:
        """Join the best neighbouring community, or become a principal, if the principal is unreachable."""
        beacon = self._community.heard.get(self._community.parent, self._host.now())
        around = self._neighbouring()
        followed = [each for each in around if beacon is not None and each.principal == beacon.principal]
        if followed or around:
            self._join_best(followed or around)
        else:
            self._community.become_principal(0)

    def _others(self) -> list[KnownPrincipal]:
        """Return the neighbouring principals of other communities."""
        return [each for each in self._neighbouring() if each.principal != self._community.principal]

    def _join_best(self, around: list[KnownPrincipal]) -> None:
        """Join the principal with the smallest E(H); of equal ones the nearest, then the lowest node id."""
        self._community.join(
            min(around, key=lambda each: (self.expected_hops(each), each.hops, each.principal))
        )

    def _improve(self) -> None:
        limit = self._expected_now()
        better = [each for each in self._others() if self.expected_hops(each) < limit]
        if better:
            self._join_best(better)
