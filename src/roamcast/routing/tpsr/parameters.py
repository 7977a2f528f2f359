"""Parameters of P-PUBS and TPSR: the constants of section V, and values that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.pampa.parameters import PampaParameters
from roamcast.routing.router import Parameters
from roamcast.routing.tpsr.messages import LONGEST_ROUTE, MOST_RECIPIENTS
from roamcast.units import Meters, Seconds


class PPubsParameters(PampaParameters):
    """Parameters of P-PUBS: those of PAMPA and a hop limit."""

    hop_limit: int = Field(default=64, ge=0, le=255)
    "A publication that has travelled this many hops is not repeated."


class SubscriptionFlood(PampaParameters):
    """Parameters of PAMPA for flooding subscriptions."""

    copies: int = Field(default=3, ge=1)
    "A node that receives this many copies while it waits does not repeat the subscription."
    delay: Literal["far-first", "signal", "target"] = "target"
    "Delay function: equation 1, decreasing with distance, or proportional to the signal."


class FallbackFlood(PampaParameters):
    """Parameters of PAMPA for flooding publications whose route is broken."""

    copies: int = Field(default=3, ge=1)
    "A node that receives this many copies while it waits does not repeat the publication."


class TpsrParameters(Parameters):
    """Parameters of TPSR."""

    renew: Seconds = Field(default=200.0, gt=0)
    "Renewal interval of a subscription; each interval is shortened by a random part of up to a tenth."
    expire: Seconds = Field(default=500.0, gt=0)
    "Lease of a subscription; must exceed two renewal intervals. Not in the paper."
    ranking: Literal["length", "signal", "sound"] = "length"
    """Ranking of two routes of one renewal: the shorter one (then the one with the stronger weakest signal),
    the one with the stronger weakest signal, or the shorter one among those that are not fragile."""
    spacing: Seconds = Field(default=0.005, ge=0)
    "Time between the turns of addressees of one message (delayIndex)."
    ack_wait: Seconds = Field(default=0.1, gt=0)
    "Timeout after an addressee's turn for overhearing that it forwards."
    retries: int = Field(default=2, ge=0)
    "Maximum number of retransmissions of an unacknowledged job before the fallback."
    last_hop: Literal["ack", "forward", "none"] = "ack"
    """Acknowledgement by a recipient that has nothing to forward: a short message, a repetition of the
    publication, or none, in which case the sender does not wait for it."""
    repair_gap: Seconds = Field(default=1.0, ge=0)
    "Minimum time between a renewal and one triggered by a broken or fragile route. Not in the paper."
    reissue: Literal["missed", "wanted", "any"] = "missed"
    """Which flooded publications make a subscriber renew its subscription: those that match and had not
    arrived before, all that match, or all."""
    proactive: bool = True
    "Whether a subscriber renews its subscription when a publication came over a fragile route."
    fragile: Meters = Field(default=240.0, gt=0)
    "A route is fragile if its weakest signal corresponds to a greater distance than this."
    local_repair: bool = False
    "Whether neighbours are asked for another route before the fallback flood. The paper's future work."
    rescue_wait: Seconds = Field(default=0.05, gt=0)
    "Time for a neighbour to answer; the shorter its route, the sooner it answers."
    adaptive_delay: bool = False
    """Whether delays of subscriptions grow with the number of neighbours and with losses. The paper's future
    work."""
    subscription: SubscriptionFlood = SubscriptionFlood()
    "Flooding of subscriptions."
    last_resort: FallbackFlood = FallbackFlood()
    "Flooding of publications whose route is broken."
    hop_limit: int = Field(default=LONGEST_ROUTE, ge=1, le=LONGEST_ROUTE)
    "A subscription or flooded publication that has travelled this many hops is not repeated."
    subscribers: int = Field(default=MOST_RECIPIENTS, ge=1, le=MOST_RECIPIENTS)
    "Maximum number of subscribers stored; the one renewed longest ago is evicted."
    pending_jobs: int = Field(default=1024, ge=1)
    "Maximum number of publications with unacknowledged jobs; the oldest is dropped."
    publication_limit: int = Field(default=65536, ge=1)
    """Maximum number of publications remembered as delivered, and of accepted recipients; the oldest is
    removed first."""

    @model_validator(mode="after")
    def _check_leases(self) -> TpsrParameters:
        if self.expire <= 2 * self.renew:
            raise ValueError(
                f"expire = {self.expire:g} s must exceed two renewal intervals (2 x {self.renew:g} s),"
                " so that one lost renewal does not end a subscription"
            )
        return self
