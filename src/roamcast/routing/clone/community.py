"""Communities: votes, election of principals, and the route to the principal (section II-A1).

A construction begins at every tenth advertisement, or with the first vote received. Each node delays its vote
in inverse proportion to its weight, and does not vote if it has received a heavier vote. Nodes repeat a vote
that is the heaviest so far, up to `ttl` hops. When voting ends, a node that has received no vote heavier than
its own becomes a principal and sends a confirmation to all nodes that its vote has reached. A node without a
principal chooses the heaviest confirmed candidate. If the candidate of a node has joined another community,
the node votes once more before it forms a community alone. Between constructions, beacons keep the routes to
the principals fresh, as the tables of traditional CBR do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from roamcast.routing.clone.messages import UNREACHABLE, CommunityBeacon, Confirmation, Vote
from roamcast.routing.clone.parameters import TwoTierParameters
from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.gpsr.messages import PointCm

if TYPE_CHECKING:
    from roamcast.routing.unicast.gpsr.plain_forwarding import PlainForwarding

LAST = 0.9
"Fraction of `voting` after which no node votes, so that every vote has time to propagate."


class KnownPrincipal(NamedTuple):
    """A principal or candidate, as known to a node."""

    principal: NodeId
    weight: int
    interests: frozenset[int]
    hops: int
    via: NodeId
    "The neighbour from which it was received."


class OwnVote(NamedTuple):
    """The content of a node's own vote."""

    weight: int
    place: PointCm
    interests: frozenset[int]


class Community:
    """One node's membership in a community."""

    def __init__(
        self,
        host: Host,
        parameters: TwoTierParameters,
        describe: Callable[[], OwnVote],
        admit: Callable[[PointCm], bool],
        delay: Callable[[int], float],
        *,
        forwarding: PlainForwarding,
    ) -> None:
        """Set the callbacks.

        `describe` returns this node's vote, `admit` whether a candidate at a position may become its
        principal, and `delay` the time that a node of a given weight waits before it votes [s].
        `forwarding` keeps the beacons of the neighbours, and reports those of the next hop to the principal.
        """
        p = parameters
        self.host = host
        self.parameters = p
        self.describe, self.admit, self.delay = describe, admit, delay
        self._node = host.node
        self._forwarding = forwarding
        self.principal = host.node
        self._set_parent(host.node)
        self.weight = self.hops = 0
        self.heard: Leases[NodeId, CommunityBeacon] = Leases(p.gpsr.silence, p.gpsr.neighbours)
        "The last beacon of each neighbour."
        forwarding.keep_beacons(self.heard)
        self.known: Leases[NodeId, KnownPrincipal] = Leases(p.advert_lease, p.candidates)
        "Principals that have sent a confirmation recently."
        self.constructions = 0
        self.constructing = False
        self._own = OwnVote(0, PointCm(0, 0), frozenset())
        self._best = (0, 0)
        self._votes: dict[NodeId, KnownPrincipal] = {}
        self._passed_on: set[NodeId] = set()
        self._confirmed: dict[NodeId, KnownPrincipal] = {}
        self._decided = True
        self._again = False
        "Whether this construction follows one that left this node without a principal."
        self._rests_until = 0.0

    @property
    def is_principal(self) -> bool:
        """Whether this node is the principal of its community."""
        return self.principal == self._node

    def members(self) -> int:
        """Return the number of nodes that reach the principal through this node, including itself."""
        node, principal = self._node, self.principal
        children = [each for each in self.heard.values(self.host.now()) if each.parent == node]
        return 1 + sum([each.members for each in children if each.principal == principal])

    # Construction.

    def construct(self) -> bool:
        """Start a construction unless one is in progress; return whether it was started."""
        if self.constructing:
            return False
        self.constructing, self._decided, self._again = True, False, False
        self.constructions += 1
        self._votes.clear()
        self._passed_on.clear()
        self._confirmed.clear()
        self._own = own = self.describe()
        self._best = self._rank(own.weight, self.host.node)
        wait = self.delay(own.weight) + self.host.random.random() * self.parameters.jitter
        self.host.call_later(min(wait, LAST * self.parameters.voting), self._vote)
        self.host.call_later(self.parameters.voting, self._count)
        return True

    def hear_vote(self, vote: Vote, sender: NodeId) -> Drop | None:
        """Compare a vote with the heaviest so far, and repeat it if it is heavier."""
        refused = self._refuse(vote)
        if refused is not None:
            return refused
        self.construct()
        if self._decided or len(self._votes) >= self.parameters.candidates:
            return Drop.EXPIRED if self._decided else Drop.TABLE_FULL
        heard = KnownPrincipal(vote.candidate, vote.weight, vote.interests, vote.hops + 1, sender)
        self._votes[vote.candidate] = heard
        rank = self._rank(vote.weight, vote.candidate)
        if rank <= self._best:
            return Drop.SUPPRESSED
        self._best = rank
        if heard.hops < self.parameters.ttl:
            self._passed_on.add(vote.candidate)
            onward = Vote(vote.candidate, vote.weight, vote.place, vote.interests, heard.hops)
            self._broadcast(onward)
        return None

    def hear_confirmation(
        self, confirmation: Confirmation, sender: NodeId
    ) -> tuple[Drop | None, KnownPrincipal | None]:
        """Join the heaviest candidate when it confirms that it is a principal.

        The second value is a principal that confirmed outside a construction: one that split off or is late.
        """
        if confirmation.principal == self.host.node or confirmation.principal in self._confirmed:
            return Drop.DUPLICATE, None
        if not self.admit(confirmation.place):
            return Drop.NOT_MINE, None
        if confirmation.hops >= self.parameters.ttl:
            return Drop.HOP_LIMIT, None
        candidate = KnownPrincipal(
            confirmation.principal, confirmation.weight, confirmation.interests, confirmation.hops + 1, sender
        )
        now = self.host.now()
        self.known.sweep(now)
        self.known.renew(confirmation.principal, candidate, now)
        if not self.constructing:
            return None, candidate
        if len(self._confirmed) >= self.parameters.candidates:
            return Drop.TABLE_FULL, None
        self._confirmed[confirmation.principal] = candidate
        if self._best == self._rank(confirmation.weight, confirmation.principal):
            self._decided = True
            self.join(candidate)
        if confirmation.principal in self._passed_on and candidate.hops < self.parameters.ttl:
            self._broadcast(
                Confirmation(
                    confirmation.principal,
                    confirmation.weight,
                    confirmation.place,
                    confirmation.interests,
                    candidate.hops,
                )
            )
        return None, None

    def _refuse(self, vote: Vote) -> Drop | None:
        """Return the reason for which a vote is rejected; None if it counts."""
        if vote.candidate == self.host.node or vote.candidate in self._votes:
            return Drop.DUPLICATE
        if not self.admit(vote.place):
            return Drop.NOT_MINE
        if vote.hops >= self.parameters.ttl:
            return Drop.HOP_LIMIT
        # A late vote of the construction that has just ended must not start another.
        return Drop.EXPIRED if not self.constructing and self.host.now() < self._rests_until else None

    def announce(self) -> None:
        """Become a principal, and broadcast a confirmation."""
        own = self.describe()
        self.become_principal(own.weight)
        self.host.broadcast(Confirmation(self.host.node, own.weight, own.place, own.interests, 0))

    def _vote(self) -> None:
        own = self._own
        if self._best == self._rank(own.weight, self.host.node):
            self.host.broadcast(Vote(self.host.node, own.weight, own.place, own.interests, 0))

    def _count(self) -> None:
        own = self._own
        if self._best == self._rank(own.weight, self.host.node):
            self._decided = True
            self.become_principal(own.weight)
            self.host.broadcast(Confirmation(self.host.node, own.weight, own.place, own.interests, 0))
        self.host.call_later(self.parameters.confirmation_wait, self._choose_principal)

    def _choose_principal(self) -> None:
        """Choose the heaviest confirmed principal; without one, vote once more, then become one."""
        heaviest = max(
            (each for node, each in self._confirmed.items() if node in self._votes),
            key=lambda each: self._rank(each.weight, each.principal),
            default=None,
        )
        self.constructing = False
        if not self._decided and heaviest is None and not self._again:
            self.construct()
            self._again = True
            return
        if not self._decided and heaviest is None:
            self.announce()
        elif not self._decided and heaviest is not None:
            self.join(heaviest)
        self._votes.clear()
        # Other nodes may have started later, and may vote once more.
        self._rests_until = self.host.now() + 2 * (self.parameters.voting + self.parameters.confirmation_wait)

    def _rank(self, weight: int, node: NodeId) -> tuple[int, int]:
        """Return the rank of a candidate: by weight, then by lower node id."""
        return weight, -node

    def _broadcast(self, message: Message) -> None:
        call_within(self.host, self.parameters.jitter, self.host.broadcast, message)

    # Membership.

    def join(self, candidate: KnownPrincipal) -> None:
        """Become a member of another node's community."""
        self._set_parent(candidate.via)
        self.weight, self.hops = candidate.weight, candidate.hops
        self._set_principal(candidate.principal)

    def become_principal(self, weight: int) -> None:
        """Become the principal of this node's community."""
        self._set_parent(self.host.node)
        self.weight, self.hops = weight, 0
        self._set_principal(self.host.node)

    def _set_parent(self, parent: NodeId) -> None:
        self.parent = self._forwarding.followed = parent

    def _set_principal(self, principal: NodeId) -> None:
        if principal != self.principal:
            self.principal = principal
            self.host.state("community", float(principal))

    # The route to the principal.

    def lose(self, neighbour: NodeId) -> None:
        """Remove a neighbour to which the link has failed."""
        self.heard.discard(neighbour)
        if neighbour == self.parent and not self.is_principal:
            self.refresh()

    def refresh(self) -> bool:
        """Update the route to the principal from the neighbours' beacons; return whether there is one."""
        if self.is_principal:
            return True
        now = self.host.now()
        beacon = self.heard.get(self.parent, now)
        if beacon is None or not self._is_towards_principal(beacon):
            principal = self.principal
            routes = [
                (each.hops, node)
                for node, each in self.heard.items(now)
                if each.principal == principal and self._is_towards_principal(each)
            ]
            if not routes:
                self.hops = UNREACHABLE
                return False
            self._set_parent(min(routes)[1])
            beacon = self.heard.get(self.parent, now)
        self.hops = beacon.hops + 1 if beacon is not None else UNREACHABLE
        return self.hops < UNREACHABLE

    def next_hop(self) -> NodeId | None:
        """Return the next hop to the principal; None at the principal itself or without a route."""
        if self.is_principal or (self.heard.get(self.parent, self.host.now()) is None and not self.refresh()):
            return None
        return self.parent if self.hops < UNREACHABLE else None

    def _is_towards_principal(self, beacon: CommunityBeacon) -> bool:
        """Return whether a neighbour leads to this node's principal by a route that avoids this node."""
        return (
            beacon.principal == self.principal
            and beacon.parent != self._node
            and beacon.hops < 2 * self.parameters.ttl
            and self.admit(beacon.here)
        )

    def tables(self) -> dict[str, Footprint]:
        """Return the sizes of the tables of beacons, votes and principals."""
        p, heard = self.parameters, len(self.heard)
        volume = sum(beacon.size for beacon in self.heard.values(-inf))
        votes, known = len(self._votes) + len(self._confirmed), len(self.known)
        return {
            "beacons": Footprint(heard, volume, p.gpsr.neighbours),
            "votes": Footprint(votes, 20 * votes, 2 * p.candidates),
            "principals": Footprint(known, 24 * known, p.candidates),
        }
