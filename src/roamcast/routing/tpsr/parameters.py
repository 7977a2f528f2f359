"""What can be said of P-PUBS and TPSR: the constants of section V, and those that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.pampa.parameters import PampaParameters
from roamcast.routing.router import Parameters
from roamcast.routing.tpsr.messages import LONGEST_ROUTE, MOST_RECIPIENTS
from roamcast.units import Meters, Seconds


class PPubsParameters(PampaParameters):
    """What can be said of P-PUBS: all of PAMPA."""

    hop_limit: int = Field(default=64, ge=0, le=255)
    "A publication that has travelled this far is not repeated."


class SubscriptionFlood(PampaParameters):
    """PAMPA as TPSR floods subscriptions."""

    copies: int = Field(default=3, ge=1)
    "A node that hears so many copies while it waits does not repeat the subscription."
    delay: Literal["far-first", "signal", "target"] = "target"
    "How the wait follows from distance: equation 1, the farther the sooner, or the signal times k."


class FallbackFlood(PampaParameters):
    """PAMPA as TPSR floods publications whose route is broken."""

    copies: int = Field(default=3, ge=1)
    "A node that hears so many copies while it waits does not repeat the publication."


class TpsrParameters(Parameters):
    """What can be said of TPSR."""

    renew: Seconds = Field(default=200.0, gt=0)
    "Between renewals of a subscription; each interval is shortened by up to a tenth, by chance."
    expire: Seconds = Field(default=500.0, gt=0)
    "A subscription not renewed for so long is forgotten; must outlast two renewals. Not in the paper."
    ranking: Literal["length", "signal", "sound"] = "length"
    """Which of two routes of one renewal is better: the shorter (of equals the one with the stronger weakest
    signal), the one with the stronger weakest signal, or the shorter of those that are not fragile."""
    spacing: Seconds = Field(default=0.005, ge=0)
    "Between the turns of those who are addressed together (delayIndex)."
    ack_wait: Seconds = Field(default=0.1, gt=0)
    "After an addressee's turn, how long it may take until its forwarding is overheard."
    retries: int = Field(default=2, ge=0)
    "How often a job that nobody was heard to take is sent again before the last resort."
    last_hop: Literal["ack", "forward", "none"] = "ack"
    """How a recipient that has nothing to forward is heard: by a short acknowledgement, by repeating the
    publication, or not at all, and then nobody waits for it."""
    repair_gap: Seconds = Field(default=1.0, ge=0)
    "Least time between a renewal and one that a broken or fragile route asks for. Not in the paper."
    proactive: bool = True
    "Whether a subscriber renews its subscription when a publication came over a fragile route."
    fragile: Meters = Field(default=240.0, gt=0)
    "A route is fragile if its weakest hop is heard like a sender farther away than this."
    local_repair: bool = False
    "Whether a neighbour that knows another way is asked before the last resort. The paper's future work."
    rescue_wait: Seconds = Field(default=0.05, gt=0)
    "How long a neighbour may take to answer; the shorter its way, the sooner it does."
    adaptive_delay: bool = False
    "Whether subscriptions wait longer where more neighbours or losses are seen. The paper's future work."
    subscription: SubscriptionFlood = SubscriptionFlood()
    "How subscriptions are flooded."
    last_resort: FallbackFlood = FallbackFlood()
    "How publications are flooded whose route is broken."
    hop_limit: int = Field(default=LONGEST_ROUTE, ge=1, le=LONGEST_ROUTE)
    "A subscription or flooded publication that has travelled this far is not repeated."
    subscribers: int = Field(default=MOST_RECIPIENTS, ge=1, le=MOST_RECIPIENTS)
    "Subscriptions kept, one a subscriber; the one renewed longest ago makes room."
    pending_jobs: int = Field(default=1024, ge=1)
    "Publications whose jobs may wait to be taken; the oldest is given up."
    publication_limit: int = Field(default=65536, ge=1)
    "Publications remembered as delivered, or as taken for their recipients; the oldest is forgotten first."

    @model_validator(mode="after")
    def _check_leases(self) -> TpsrParameters:
        if self.expire <= 2 * self.renew:
            raise ValueError(
                f"expire = {self.expire:g} s must outlast two renewals (2 x {self.renew:g} s),"
                " or one lost renewal ends a subscription"
            )
        return self
