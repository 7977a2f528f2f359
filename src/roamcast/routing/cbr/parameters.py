"""Parameters of CBR and FT-CBR: the constants of section 5.3, and values that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class LeaseParameters(Parameters):
    """Parameters of leases and advertising, shared by the three protocols."""

    renew: Seconds = Field(7.0, gt=0)
    "Renewal interval of leases; a shorter one follows movement better and uses more airtime."
    expire: Seconds = Field(15.0, gt=0)
    "Duration of a lease; must exceed two renewal intervals."
    jitter: Seconds = Field(0.01, ge=0)
    "Maximum random delay of a broadcast that is triggered by a broadcast, so that neighbours do not collide."
    hop_limit: int = Field(64, ge=1, le=255)
    "An advertisement that has travelled this many hops is not repeated."
    adverts: int = Field(1024, ge=1)
    """Maximum number of advertisements stored, one per publisher, filter and neighbour; the oldest lease is
    evicted."""
    flood_adverts: bool = False
    """Whether each renewal of an advertisement is flooded, as by Zhang et al., instead of repeated by every
    node at its own renewal; much faster if renewals are rare."""
    advert_floods: int = Field(64, ge=1)
    """Maximum number of new advertisements repeated at once per renewal period; others wait for the next
    renewal."""
    advert_serials: bool = True
    """Whether only a newer serial of the publisher renews an advertisement, so that neighbours cannot renew
    that of a dead publisher among themselves. Not in the paper."""

    @model_validator(mode="after")
    def _check_leases(self) -> LeaseParameters:
        if self.expire <= 2 * self.renew:
            raise ValueError(
                f"expire = {self.expire:g} s must exceed two renewal intervals (2 x {self.renew:g} s),"
                " so that one lost renewal does not end a lease"
            )
        return self


class CbrParameters(LeaseParameters):
    """Parameters of CBR."""

    covering: bool = False
    "Whether a neighbour is sent only the minimal set of subscriptions that covers all (section 4.1.1)."
    most_covering: bool = False
    """Whether to prefer the neighbour with the most covering subscriptions to the shortest path (section
    4.1.2)."""
    detour: int = Field(2, ge=0)
    "Maximum number of extra hops of a path chosen by most-covering."
    avoid_rings: bool = True
    """Whether most-covering avoids neighbours that reach the publisher through this node. Not in the paper,
    in which subscriptions may form loops."""
    send_back: bool = False
    "Whether an event is also forwarded to the child that it came from, as in line 22 of figure 3."
    send_unwanted: bool = False
    "Whether a publisher broadcasts an event without known subscribers. The paper leaves this open."
    unicast_events: bool = False
    """Whether an event is sent to each child by unicast, which the link acknowledges and repeats, instead of
    once to all by broadcast as in figure 3."""
    name_subscribers: bool = False
    """Whether a subscription names its subscriber (`s.sbr` of table 2), so that equal subscriptions of
    several subscribers are stored and forwarded separately. The tables of the paper have one entry per child
    and filter, and its subscribers are anonymous."""
    link_feedback: bool = False
    "Whether a subscription is sent to another next hop after a link failure. Not in the paper."
    repeat: Seconds = Field(0.0, ge=0)
    """A subscription that is received again is passed on again if it was not for this long, as each request
    of Zhang et al. travels to its provider; 0: only once per lease."""
    pace: Seconds = Field(0.01, ge=0)
    "Interval between the subscriptions of one renewal; all at once would overflow the link's queue."
    subscriptions: int = Field(4096, ge=1)
    "Maximum number of subscriptions stored, one per child and filter; the oldest lease is evicted."
    neighbours_news: int = Field(4096, ge=1)
    "Maximum number of most-covering entries stored; the oldest lease is evicted."
    handled_limit: int = Field(65536, ge=1)
    "Maximum number of event ids remembered as handled; the oldest is removed first."

    @model_validator(mode="after")
    def _check_names(self) -> CbrParameters:
        if self.name_subscribers and self.covering:
            raise ValueError(
                "name_subscribers = true: expected false with covering = true, since a covering subscription"
                " is forwarded for several subscribers"
            )
        return self


class FtCbrParameters(CbrParameters):
    """Parameters of FT-CBR in addition to those of CBR."""

    ack_wait: Seconds = Field(0.5, gt=0)
    "Timeout for a child's acknowledgement, after which the event is flooded."
    flood_hops: int = Field(2, ge=1, le=255)
    "Hop limit of a repair flood."
    search: Literal["flood", "ring"] = "flood"
    """Search for a child that did not acknowledge: one flood over `flood_hops` hops, which nobody
    acknowledges (figure 3), or an expanding ring of 1, 2, ... hops, one every `ack_wait`, until the child
    acknowledges (section 5.3)."""
    flood_memory: Seconds = Field(5.0, gt=0)
    "Duration for which a handled event is remembered; must exceed `ack_wait`."
    remember_handled: bool = True
    """Whether handled events are remembered beyond `flood_memory`, so that no event is delivered twice. Not
    in the paper."""
    unacked: int = Field(4096, ge=1)
    "Maximum number of events that wait for acknowledgements; the oldest is dropped."
    floods: int = Field(4096, ge=1)
    "Maximum number of events in the flood table; the oldest is evicted."

    @model_validator(mode="after")
    def _check_memory(self) -> FtCbrParameters:
        if self.flood_memory <= self.ack_wait:
            raise ValueError(
                f"flood_memory = {self.flood_memory:g} s must exceed ack_wait = {self.ack_wait:g} s,"
                " so that a repair is not handled as a new event"
            )
        return self
