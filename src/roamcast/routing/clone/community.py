"""Communities: who votes, who is a principal, and over whom it is reached (section II-A1).

A construction begins at every tenth advertisement, or with the first vote heard. Each node waits in inverse
proportion to its weight and votes, unless it has heard a heavier vote; a vote that is the heaviest so far is
passed on, to `ttl` hops. When the votes are counted, who has heard none heavier than its own is a principal
and says so to all that its vote has reached; who has none then chooses the heaviest of these. Who is left,
because the candidate it heard has joined another, votes once more among its like before it is alone.
Between constructions beacons keep the way to the principal fresh, as the tables of traditional CBR do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from roamcast.routing.clone.messages import NO_WAY, CommunityBeacon, Confirmation, Vote
from roamcast.routing.clone.parameters import TwoTierParameters
from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.gpsr.messages import PointCm

LAST = 0.9
"The share of `voting` after which nobody votes any more, so that every vote can still travel."


class KnownPrincipal(NamedTuple):
    """A principal as a node knows it."""

    principal: NodeId
    weight: int
    interests: frozenset[int]
    hops: int
    via: NodeId
    "The neighbour that it was heard from."


class OwnVote(NamedTuple):
    """What a node puts into its own vote."""

    weight: int
    place: PointCm
    interests: frozenset[int]


class Community:
    """One node's membership."""

    def __init__(
        self,
        host: Host,
        parameters: TwoTierParameters,
        describe: Callable[[], OwnVote],
        admit: Callable[[PointCm], bool],
        delay: Callable[[int], float],
    ) -> None:
        """`describe`: this node as a candidate; `admit`: whether a candidate at a place may be its principal;
        `delay`: how long a weight waits before it votes."""
        p = parameters
        self.host = host
        self.parameters = p
        self.describe, self.admit, self.delay = describe, admit, delay
        self.principal = self.parent = host.node
        self.weight = self.hops = 0
        self.heard: Leases[NodeId, CommunityBeacon] = Leases(p.gpsr.silence, p.gpsr.neighbours)
        "The last beacon of each neighbour."
        self.known: Leases[NodeId, KnownPrincipal] = Leases(p.advert_lease, p.candidates)
        "Principals that said so, of late."
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
        return self.principal == self.host.node

    def members(self) -> int:
        """How many reach the principal over this node, itself counted."""
        node, principal = self.host.node, self.principal
        children = [each for each in self.heard.values(self.host.now()) if each.parent == node]
        return 1 + sum([each.members for each in children if each.principal == principal])

    # Construction.

    def construct(self) -> bool:
        """Begin a construction, unless one is under way; say whether it did."""
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
        """Compare a vote with the heaviest so far, and pass it on if it is heavier."""
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
        self, said: Confirmation, sender: NodeId
    ) -> tuple[Drop | None, KnownPrincipal | None]:
        """Join whoever was heaviest once it says that it is a principal.

        The second value is a principal of whom no vote was expected: one that split off, or came late.
        """
        if said.principal == self.host.node or said.principal in self._confirmed:
            return Drop.DUPLICATE, None
        if not self.admit(said.place):
            return Drop.NOT_MINE, None
        if said.hops >= self.parameters.ttl:
            return Drop.HOP_LIMIT, None
        standing = KnownPrincipal(said.principal, said.weight, said.interests, said.hops + 1, sender)
        now = self.host.now()
        self.known.sweep(now)
        self.known.renew(said.principal, standing, now)
        if not self.constructing:
            return None, standing
        if len(self._confirmed) >= self.parameters.candidates:
            return Drop.TABLE_FULL, None
        self._confirmed[said.principal] = standing
        if self._best == self._rank(said.weight, said.principal):
            self._decided = True
            self.join(standing)
        if said.principal in self._passed_on and standing.hops < self.parameters.ttl:
            self._broadcast(
                Confirmation(said.principal, said.weight, said.place, said.interests, standing.hops)
            )
        return None, None

    def _refuse(self, vote: Vote) -> Drop | None:
        """Why a vote does not count, if it does not."""
        if vote.candidate == self.host.node or vote.candidate in self._votes:
            return Drop.DUPLICATE
        if not self.admit(vote.place):
            return Drop.NOT_MINE
        if vote.hops >= self.parameters.ttl:
            return Drop.HOP_LIMIT
        # A vote of the construction that has just ended must not begin another.
        return Drop.EXPIRED if not self.constructing and self.host.now() < self._rests_until else None

    def announce(self) -> None:
        """Be a principal, and say so."""
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
        """Have a principal now: the heaviest that said so; who has none votes once more, and then leads."""
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
        self._decided = True
        self._votes.clear()
        # Others may have begun later, and vote once more.
        self._rests_until = self.host.now() + 2 * (self.parameters.voting + self.parameters.confirmation_wait)

    def _rank(self, weight: int, node: NodeId) -> tuple[int, int]:
        """Heavier is higher; of equals the lower node is."""
        return weight, -node

    def _broadcast(self, message: Message) -> None:
        call_within(self.host, self.parameters.jitter, self.host.broadcast, message)

    # Membership.

    def join(self, standing: KnownPrincipal) -> None:
        """Be a member of another's community."""
        self.parent, self.weight, self.hops = standing.via, standing.weight, standing.hops
        self._set_principal(standing.principal)

    def become_principal(self, weight: int) -> None:
        """Be a principal."""
        self.parent, self.weight, self.hops = self.host.node, weight, 0
        self._set_principal(self.host.node)

    def _set_principal(self, principal: NodeId) -> None:
        if principal != self.principal:
            self.principal = principal
            self.host.state("community", float(principal))

    # The way to the principal.

    def lose(self, neighbour: NodeId) -> None:
        """Know that a neighbour is gone."""
        self.heard.discard(neighbour)
        if neighbour == self.parent and not self.is_principal:
            self.refresh()

    def refresh(self) -> bool:
        """Find the way to the principal among the neighbours' beacons; say whether there is one."""
        if self.is_principal:
            return True
        now = self.host.now()
        told = self.heard.get(self.parent, now)
        if told is None or not self._is_towards_principal(told):
            ways = [
                (each.hops, node) for node, each in self.heard.items(now) if self._is_towards_principal(each)
            ]
            if not ways:
                self.hops = NO_WAY
                return False
            self.parent = min(ways)[1]
            told = self.heard.get(self.parent, now)
        self.hops = told.hops + 1 if told is not None else NO_WAY
        return self.hops < NO_WAY

    def next_hop(self) -> NodeId | None:
        """The neighbour that a wish for the principal goes to; None while no way is known."""
        if self.is_principal or (self.heard.get(self.parent, self.host.now()) is None and not self.refresh()):
            return None
        return self.parent if self.hops < NO_WAY else None

    def _is_towards_principal(self, beacon: CommunityBeacon) -> bool:
        """Whether a neighbour is a way to this node's principal, and not over this node."""
        return (
            beacon.principal == self.principal
            and beacon.parent != self.host.node
            and beacon.hops < 2 * self.parameters.ttl
            and self.admit(beacon.here)
        )

    def tables(self) -> dict[str, Footprint]:
        """Beacons of neighbours, votes and principals."""
        p, heard = self.parameters, len(self.heard)
        volume = sum(beacon.size for beacon in self.heard.values(-inf))
        votes, known = len(self._votes) + len(self._confirmed), len(self.known)
        return {
            "beacons": Footprint(heard, volume, p.gpsr.neighbours),
            "votes": Footprint(votes, 20 * votes, 2 * p.candidates),
            "principals": Footprint(known, 24 * known, p.candidates),
        }
