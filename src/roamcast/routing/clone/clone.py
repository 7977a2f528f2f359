"""CLONE: communities of those who want the same, found by votes whose weight is common interest."""

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
    """Two tiers over communities by interest; `enhanced = false` is the basic scheme."""

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
        self.asked_for = RequestHistory(self.parameters.interest_memory)
        self.delegates = self.parameters.enhanced
        self.reorganisation = Reorganisation(self, self.asked_for)
        self.handlers[Merge] = self.reorganisation.handle_merge

    def tables(self) -> Mapping[str, Footprint]:
        """Those of the two tiers, the own interests and pleas of orphans."""
        return {
            **super().tables(),
            "interests": self.asked_for.footprint(),
            "pleas": self.reorganisation.footprint(),
        }

    def note_request(self, wanted: Filter) -> None:
        """Be interested in what was asked for."""
        self.asked_for.note(wanted, self.host.now())

    def subscribe(self, wanted: Filter) -> None:
        """Want all that matches, and be interested in it."""
        self.asked_for.note(wanted, self.host.now())
        super().subscribe(wanted)

    def interest_set(self) -> frozenset[int]:
        """S(i)."""
        return self.asked_for.set(self.host.now())

    def describe(self) -> OwnVote:
        """This node with its principal weight: what it has in common with its neighbours."""
        own = self.interest_set()
        beacons = self.community.heard.values(self.host.now())
        return OwnVote(weigh(own, (beacon.interests for beacon in beacons)), self.geo.here(), own)

    def admit(self, place: PointCm) -> bool:
        """Whoever is within some hops may be a principal."""
        return True

    def vote_delay(self, weight: int) -> float:
        """VDT: in inverse proportion to the weight while votes are taken; longest where there is none."""
        longest = LAST * self.parameters.voting
        return min(self.parameters.vote_delay / weight, 0.9 * longest) if weight else longest

    def check_community(self) -> None:
        """Re-organise now and then."""
        if self.parameters.enhanced:
            self.reorganisation.look()

    def on_principal(self, standing: KnownPrincipal) -> None:
        """Hear of a principal that split off, or that is better."""
        if self.parameters.enhanced:
            self.reorganisation.consider(standing)
