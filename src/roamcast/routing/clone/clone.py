"""CLONE: communities of nodes with similar interests, elected by votes weighted with common interests."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.clone.community import LAST, KnownPrincipal, OwnVote
from roamcast.routing.clone.messages import Merge
from roamcast.routing.clone.parameters import CloneParameters
from roamcast.routing.clone.reorganisation import Reorganisation
from roamcast.routing.clone.similarity import RequestHistory, weigh
from roamcast.routing.clone.two_tier import TwoTier
from roamcast.routing.router import Footprint, Host, Message, Parameters
from roamcast.routing.unicast.gpsr.messages import PointCm


class Clone(TwoTier):
    """Two-tier routing over interest communities; `enhanced = false` is the basic scheme."""

    shares_process = True
    main_parameters = ("advertise", "radius", "publishing", "resubscribe", "enhanced", "reorganise")
    parameters_type: ClassVar[type[Parameters]] = CloneParameters
    live = MappingProxyType(
        {**TwoTier.live, "vote_delay": "2 s", "interest_memory": "10 s", "reorganise": "5 s"}
    )
    parameters: CloneParameters
    messages: ClassVar[tuple[type[Message], ...]] = (*TwoTier.messages, Merge)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.requests = RequestHistory(self.parameters.interest_memory)
        self.delegates = self.parameters.enhanced
        self.reorganisation = Reorganisation(self, self.requests)
        self.handlers[Merge] = self.reorganisation.handle_merge

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the two-tier tables, the request history and the merge requests of orphans."""
        return {
            **super().tables(),
            "interests": self.requests.footprint(),
            "pleas": self.reorganisation.footprint(),
        }

    def note_request(self, filter: Filter) -> None:
        """Add a request to the history that defines this node's interests."""
        self.requests.note(filter, self.host.now())

    def subscribe(self, filter: Filter) -> None:
        """Add a subscription, and count it as an interest."""
        self.requests.note(filter, self.host.now())
        super().subscribe(filter)

    def interest_set(self) -> frozenset[int]:
        """Return S(i), the interest set of this node."""
        return self.requests.set(self.host.now())

    def describe(self) -> OwnVote:
        """Return this node's vote, weighted with the interests that it shares with its neighbours."""
        own = self.interest_set()
        beacons = self.community.heard.values(self.host.now())
        return OwnVote(weigh(own, (beacon.interests for beacon in beacons)), self.geo.here(), own)

    def admit(self, place: PointCm) -> bool:
        """Accept every candidate; the hop limit of votes restricts them."""
        return True

    def vote_delay(self, weight: int) -> float:
        """Return the vote delay VDT [s]: inversely proportional to the weight, longest for weight 0."""
        longest = LAST * self.parameters.voting
        return min(self.parameters.vote_delay / weight, 0.9 * longest) if weight else longest

    def check_community(self) -> None:
        """Check periodically whether to merge or to join another community."""
        if self.parameters.enhanced:
            self.reorganisation.check()

    def on_principal(self, candidate: KnownPrincipal) -> None:
        """Consider joining a principal that has split off or is better."""
        if self.parameters.enhanced:
            self.reorganisation.consider(candidate)
