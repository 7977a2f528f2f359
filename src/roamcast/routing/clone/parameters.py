"""The parameters of CLONE and of grid-based CBR."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters
from roamcast.units import Meters, Seconds


class TwoTierParameters(Parameters):
    """The parameters that CLONE and grid-based CBR share."""

    advertise: Seconds = Field(50.0, gt=0)
    "Mean interval between advertisements of a provider (T_A)."
    advert_lease: Seconds = Field(125.0, gt=0)
    "Lease of an advertisement; must be longer than two intervals."
    hop_limit: int = Field(64, ge=1, le=255)
    "Maximum number of hops of an advertisement."
    adverts_per_construction: int = Field(10, ge=1)
    "Number of advertisements received between two constructions of communities (footnote 1)."
    ttl: int = Field(3, ge=1, le=64)
    "Maximum distance from a principal to its members in hops (table II)."
    voting: Seconds = Field(3.0, gt=0)
    "Duration of the voting in a construction. The paper leaves it open."
    confirmation_wait: Seconds = Field(1.0, gt=0)
    "Time after the voting in which a node waits for confirmations of principals. The paper leaves it open."
    renew: Seconds = Field(10.0, gt=0)
    "Interval at which subscriptions and unanswered requests are repeated. The paper leaves it open."
    subscription_lease: Seconds = Field(25.0, gt=0)
    """Lease of a subscription at a forwarding node; must be longer than two renewals. The paper leaves it
    open."""
    subscription_aggregation: Seconds = Field(1.0, ge=0)
    """Time after forwarding a subscription in which equal ones are not forwarded, unless an event has
    answered it; 0 forwards all, as published. Not in the paper: without it, stale routes that form loops
    multiply subscriptions."""
    resubscribe: Seconds = Field(40.0, gt=0)
    """Minimum interval between equal subscriptions of a principal to a provider that has answered. The paper
    leaves it open."""
    service_lease: Seconds = Field(100.0, gt=0)
    """Lease of a principal's subscription at a provider; must be longer than two renewals. The paper leaves
    it open."""
    radius: Meters = Field(200.0, ge=1, le=65535)
    "Communication radius: a node this close to the destination's last known position starts a local search."
    publishing: Literal["separate", "tree"] = "separate"
    "Whether a provider sends a separate copy to each principal, or one along a geographic multicast tree."
    jitter: Seconds = Field(0.01, ge=0)
    "Maximum random delay before a broadcast is repeated, which desynchronises neighbours."
    cached_events: int = Field(64, ge=1)
    "Maximum number of cached publications; the oldest is evicted."
    subscriptions: int = Field(1024, ge=1)
    "Maximum number of stored subscriptions of neighbours; the oldest lease is evicted."
    adverts: int = Field(256, ge=1)
    "Maximum number of stored advertisements; the oldest lease is evicted."
    served_principals: int = Field(1024, ge=1)
    "Maximum number of subscriptions of principals at a provider; the oldest lease is evicted."
    candidates: int = Field(256, ge=1)
    "Maximum number of votes per construction and of known principals; further votes are dropped."
    gpsr: GpsrParameters = GpsrParameters(beacon=2.0, silence=9.0, implicit=False, hop_limit=32)
    "Parameters of GPSR, whose beacons also carry interests and communities."

    @model_validator(mode="after")
    def _check_consistency(self) -> TwoTierParameters:
        for longer, shorter, what in (
            ("advert_lease", "advertise", "advertisements"),
            ("subscription_lease", "renew", "renewals"),
            ("service_lease", "resubscribe", "subscriptions"),
        ):
            if getattr(self, longer) <= 2 * getattr(self, shorter):
                raise ValueError(
                    f"{longer} = {getattr(self, longer):g} s must be longer than two {what}"
                    f" (2 x {getattr(self, shorter):g} s)"
                )
        if self.gpsr.implicit:
            raise ValueError(
                "gpsr.implicit = true: expected false, since beacons also carry interests and communities"
            )
        return self


class CloneParameters(TwoTierParameters):
    """The parameters of CLONE."""

    enhanced: bool = True
    "Whether communities merge, split and reorganise, and delegates publish; false is basic CLONE."
    vote_delay: Seconds = Field(20.0, gt=0)
    """Vote delay of a node with weight 1; it is inversely proportional to the weight, and limited by
    `voting`. The paper leaves it open."""
    interest_memory: Seconds = Field(100.0, gt=0)
    "Time for which a request counts as an interest. The paper leaves it open."
    reorganise: Seconds = Field(20.0, gt=0)
    "Interval between checks for a better community or an orphaned one. The paper leaves it open."
    orphan: int = Field(3, ge=1)
    "A community with fewer members is an orphan (section II-A2)."


class GridParameters(TwoTierParameters):
    """The parameters of grid-based CBR."""

    vote_delay: Seconds = Field(2.0, gt=0)
    "Vote delay of a node far from the centre of its square; a node at the centre votes at once."
    side: Meters = Field(500.0, gt=0)
    "Side of a square; 500 m divides the city into 4 x 4."
    ttl: int = Field(8, ge=1, le=64)
    "Maximum distance from a head to the nodes of its square in hops."
    merge_heads: bool = True
    """Whether a head joins a head of its own square that is nearer to the centre, once it receives a beacon
    of that head or of a member; a grid has one head in the paper. Otherwise heads merge only at the next
    construction."""

    @model_validator(mode="after")
    def _vote_in_time(self) -> GridParameters:
        if self.voting <= self.vote_delay:
            raise ValueError(
                f"voting = {self.voting:g} s must be longer than vote_delay = {self.vote_delay:g} s"
            )
        return self
