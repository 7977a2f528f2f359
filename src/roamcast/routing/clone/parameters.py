"""What can be said of CLONE and of grid-based CBR."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters
from roamcast.units import Meters, Seconds


class TwoTierParameters(Parameters):
    """What CLONE and grid-based CBR have in common."""

    advertise: Seconds = Field(50.0, gt=0)
    "Between two advertisements of a provider, on the mean (T_A)."
    advert_lease: Seconds = Field(125.0, gt=0)
    "How long an advertisement is believed; must outlast two."
    hop_limit: int = Field(64, ge=1, le=255)
    "An advertisement that has travelled this far goes no further."
    adverts_per_construction: int = Field(10, ge=1)
    "Communities are constructed anew at every so many advertisements heard (footnote 1)."
    ttl: int = Field(3, ge=1, le=64)
    "Hops from a principal to its members, at most (table II)."
    voting: Seconds = Field(3.0, gt=0)
    "Until the votes of a construction are counted. Open."
    confirmation_wait: Seconds = Field(1.0, gt=0)
    "Until whoever has no principal then is its own. Open."
    renew: Seconds = Field(10.0, gt=0)
    "What is wanted and has not come is asked for again so often. Open."
    subscription_lease: Seconds = Field(25.0, gt=0)
    "How long a wish is remembered on its way; must outlast two renewals. Open."
    subscription_aggregation: Seconds = Field(1.0, ge=0)
    """A wish equal to one that was passed on so lately, and not answered since, waits with that and goes no
    further; 0 passes on every one, as published. Ours: in a circle of stale ways wishes would multiply."""
    resubscribe: Seconds = Field(40.0, gt=0)
    "A principal that is asked for something tells the provider again, if it has not for so long. Open."
    service_lease: Seconds = Field(100.0, gt=0)
    "How long a provider sends a principal what it asked for; must outlast two tellings. Open."
    radius: Meters = Field(200.0, ge=1, le=65535)
    "Whoever is so near to where a node was believed looks for it there: the communication radius."
    publishing: Literal["separate", "tree"] = "separate"
    "Whether a provider sends each principal a copy of its own, or all of them one along a geographic tree."
    jitter: Seconds = Field(0.01, ge=0)
    "A broadcast that answers a broadcast waits up to this long, so that neighbours do not speak at once."
    cached_events: int = Field(64, ge=1)
    "Publications that a node keeps; the oldest makes room."
    subscriptions: int = Field(1024, ge=1)
    "Wishes of others that a node remembers; the oldest lease makes room."
    adverts: int = Field(256, ge=1)
    "Advertisements kept; the oldest lease makes room."
    served_principals: int = Field(1024, ge=1)
    "Wishes of principals that a provider remembers; the oldest lease makes room."
    candidates: int = Field(256, ge=1)
    "Votes remembered in one construction, and principals known; what comes on top is let go."
    gpsr: GpsrParameters = GpsrParameters(beacon=2.0, silence=9.0, implicit=False, hop_limit=32)
    "Of the geographic routing below, whose beacons carry interests and communities."

    @model_validator(mode="after")
    def _check_consistency(self) -> TwoTierParameters:
        for longer, shorter, what in (
            ("advert_lease", "advertise", "advertisements"),
            ("subscription_lease", "renew", "renewals"),
            ("service_lease", "resubscribe", "tellings"),
        ):
            if getattr(self, longer) <= 2 * getattr(self, shorter):
                raise ValueError(
                    f"{longer} = {getattr(self, longer):g} s must outlast two {what}"
                    f" (2 x {getattr(self, shorter):g} s)"
                )
        if self.gpsr.implicit:
            raise ValueError("gpsr.implicit: beacons tell more than places here, and cannot be saved")
        return self


class CloneParameters(TwoTierParameters):
    """What can be said of CLONE, beyond that."""

    enhanced: bool = True
    "Whether communities merge, split and re-organise, and delegates publish; false is basic CLONE."
    vote_delay: Seconds = Field(20.0, gt=0)
    "A node of weight 1 would vote after so long, a heavier one less in proportion; none past `voting`. Open."
    interest_memory: Seconds = Field(100.0, gt=0)
    "How long a node's requests count as its interests. Open."
    reorganise: Seconds = Field(20.0, gt=0)
    "Between two looks at whether another community is better, or the own one an orphan. Open."
    orphan: int = Field(3, ge=1)
    "A community with fewer members is an orphan (section II-A2)."


class GridParameters(TwoTierParameters):
    """What can be said of grid-based CBR, beyond that."""

    vote_delay: Seconds = Field(2.0, gt=0)
    "A node far from the middle of its square waits so long before it votes, one in the middle not at all."
    side: Meters = Field(500.0, gt=0)
    "Of a grid's square; 500 m divides the city into 4 x 4."
    ttl: int = Field(8, ge=1, le=64)
    "Hops from a head to the nodes of its square, at most."

    @model_validator(mode="after")
    def _vote_in_time(self) -> GridParameters:
        if self.voting <= self.vote_delay:
            raise ValueError(f"voting = {self.voting:g} s must outlast vote_delay = {self.vote_delay:g} s")
        return self
