"""The constants of section 5.3 and those that the paper leaves open, each explained and checked."""

from __future__ import annotations

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class LeaseParameters(Parameters):
    """What can be said of leases and advertising, which all three protocols share."""

    renew: Seconds = Field(7.0, gt=0)
    "Between renewals of a lease. Shorter follows movement better and costs airtime."
    expire: Seconds = Field(15.0, gt=0)
    "Duration of a lease; must outlast two renewals."
    jitter: Seconds = Field(0.01, ge=0)
    "A broadcast that answers a broadcast waits up to this long, so that neighbours do not speak at once."
    hop_limit: int = Field(64, ge=1, le=255)
    "An advertisement that has travelled this far goes no further."
    adverts: int = Field(1024, ge=1)
    "Advertisements kept (one a publisher, pattern and neighbour); the oldest lease makes room."
    flood_adverts: bool = False
    """Whether each renewal of an advertisement is flooded by those who hear it, as Zhang et al. have it, and
    not told by everyone at its own renewal: quicker by far where renewals are rare."""
    advert_floods: int = Field(64, ge=1)
    "New advertisements passed on at once in one renewal period; more wait for the next renewal."
    advert_serials: bool = True
    """Whether an advertisement counts by its publisher's serial, so that neighbours do not renew each other's
    news of one that is gone. Not in the paper."""

    @model_validator(mode="after")
    def _check_leases(self) -> LeaseParameters:
        if self.expire <= 2 * self.renew:
            raise ValueError(
                f"expire = {self.expire:g} s must outlast two renewals (2 x {self.renew:g} s),"
                " or one lost renewal ends a lease"
            )
        return self


class CbrParameters(LeaseParameters):
    """What can be said of CBR."""

    covering: bool = False
    "Send a neighbour only the smallest set of subscriptions that covers all (section 4.1.1)."
    most_covering: bool = False
    "Prefer the neighbour that has most subscriptions like ours to the shortest path (section 4.1.2)."
    detour: int = Field(2, ge=0)
    "Hops that a path chosen by most-covering may be longer than the advertised one."
    avoid_rings: bool = True
    """Whether most-covering attaches to no neighbour that comes to the publisher through us. Not in the
    paper, whose subscriptions may go in a ring."""
    send_back: bool = False
    "Whether an event is also passed to a child that it has come from, as line 22 of figure 3 does."
    send_unwanted: bool = False
    "Whether a publisher sends an event for which it knows no child. The paper leaves it open."
    link_feedback: bool = False
    "Whether a subscription takes another way when the link gives up on it. Not in the paper."
    repeat: Seconds = Field(0.0, ge=0)
    """A wish that is heard again, and was not passed on for this long, is passed on again, as Zhang et al.
    have each request travel to its provider; 0: only once a lease."""
    pace: Seconds = Field(0.01, ge=0)
    "Between the subscriptions of one renewal; all at once they would overflow the link's queue."
    subscriptions: int = Field(4096, ge=1)
    "Subscriptions kept (one a child and pattern); the oldest lease makes room."
    neighbours_news: int = Field(4096, ge=1)
    "Most-covering entries kept; the oldest lease makes room."
    handled_limit: int = Field(65536, ge=1)
    "Events remembered as handled; the oldest is forgotten first."


class FtCbrParameters(CbrParameters):
    """What can be said of FT-CBR, beyond CBR."""

    ack_wait: Seconds = Field(0.5, gt=0)
    "Wait for a child's acknowledgement before the event is flooded for it."
    flood_hops: int = Field(2, ge=1, le=255)
    "How far a repair flood searches for a child."
    flood_memory: Seconds = Field(5.0, gt=0)
    "How long a handled event is remembered; must outlast the wait for an acknowledgement."
    remember_handled: bool = True
    """Whether what was handled here is remembered beyond `flood_memory`, so that no application gets an event
    twice. Not in the paper."""
    unacked: int = Field(4096, ge=1)
    "Events that may wait for acknowledgements; the oldest makes room."
    floods: int = Field(4096, ge=1)
    "Events remembered in the flood table; the oldest makes room."

    @model_validator(mode="after")
    def _check_memory(self) -> FtCbrParameters:
        if self.flood_memory <= self.ack_wait:
            raise ValueError(
                f"flood_memory = {self.flood_memory:g} s must outlast ack_wait = {self.ack_wait:g} s,"
                " or a repair is taken for a new event"
            )
        return self
