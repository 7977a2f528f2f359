"""What can be said of RAFT-CBR: the constants of section 5.3 and those that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.cbr.parameters import LeaseParameters
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.units import Seconds


class RaftDsdvParameters(DsdvParameters):
    """DSDV below RAFT-CBR."""

    link_feedback: bool = False
    "Whether a failed link breaks the routes over it; as ns-2 ships DSDV, it does not."
    settle_anew: bool = True
    "Whether fresh sequence numbers put off news of a route that has not settled, as in ns-2."
    detours: bool = True
    "Whether a datagram that the link gave up on takes another way that is known. Not in the paper."


class RaftDsrParameters(DsrParameters):
    """DSR below RAFT-CBR."""

    cache_timeout: Seconds = Field(default=30.0, gt=0)
    "Life of a way that is not heard of again: DSR does not see the events that go by it from hop to hop."


class RaftCbrParameters(LeaseParameters):
    """What can be said of RAFT-CBR."""

    ack_delay: Seconds = Field(0.01, gt=0)
    "How long acknowledgements are gathered before they travel on together."
    nack_delay: Seconds = Field(0.03, gt=0)
    "How long a subscriber that misses events waits for them before it asks."
    ping_wait: Seconds = Field(10.0, gt=0)
    "Silence of a subscriber, while events wait for its acknowledgement, before the publisher pings it."
    cache_lease: Seconds = Field(10.0, gt=0)
    "How long a broker keeps an event to serve those who miss it."
    subscribe_retry: Seconds = Field(1.0, gt=0)
    "Between copies of a subscription until the publisher acknowledges it. The paper leaves it open."
    recall: Seconds = Field(600.0, ge=0)
    "How far back a late subscription reaches, for events that were wanted when they were published."
    retract: bool = True
    """Whether a publisher gives up events that a newer subscription shows were not wanted when they were
    published, and a subscriber holds events published after it changed its interests until then. Needs
    `recall`. Not in the paper."""
    advert_hints: bool = True
    """Whether a subscription without a route goes to the neighbour nearest to the publisher by its
    advertisements. Not in the paper."""
    reroute: bool = True
    """Whether what the link gave up on, or cannot reach its next stop, goes another way. The paper does not
    say what happens then."""
    share_hops: bool = True
    """Whether events and pings use as few next hops as equally short ways allow, so that a copy serves more
    destinations. The paper takes each destination's next hop by its route."""
    custody: bool = True
    "Whether an event that found no way is kept where it is and tried again. Not in the paper."
    paced: bool = True
    """Whether requests and retransmissions keep the pace of acknowledgements. Otherwise each event that shows
    a gap has all that is missing asked for, and all of it is sent at once. The paper knows no pace."""
    window: int = Field(16, ge=1)
    "Events retransmitted at a time; more follow as they are acknowledged. The paper leaves it open."
    retransmit_runs: bool = True
    """Whether up to `window` retransmitted events for the same subscribers follow each other, and subscribers
    gather their acknowledgements `window` times as long as others. Needs `paced`. Not in the paper."""
    retransmit_timeout: Seconds = Field(1.0, gt=0)
    "A retransmitted event not acknowledged for this long makes room for the next. The paper leaves it open."
    link_retry: Seconds = Field(0.1, gt=0)
    "First wait before an event is tried again where a link gave up and no other way is known; then doubled."
    chain_limit: int = Field(32, ge=2, le=255)
    "Nodes that an event for many may pass together; to whom it is further, it goes alone, by unicast."
    subscribers: int = Field(1024, ge=1)
    "Subscribers that a publisher keeps; the one silent longest makes room."
    publishers: int = Field(1024, ge=1)
    "Publishers that a subscriber keeps; the one silent longest makes room."
    unacknowledged_events: int = Field(65536, ge=1)
    "Events that a publisher keeps for subscribers that have not acknowledged; the oldest is given up."
    cached_events: int = Field(1024, ge=1)
    "Events that a broker caches; the oldest makes room."
    reorder_buffer: int = Field(1024, ge=1)
    "Events that a subscriber holds until those before them arrive; the furthest ahead makes room."
    unicast: Literal["dsdv", "aodv", "dsr"] = "dsdv"
    "The unicast routing below; the paper's is DSDV."
    dsdv: RaftDsdvParameters = RaftDsdvParameters()
    "What can be said of DSDV below."
    aodv: AodvParameters = AodvParameters()
    "What can be said of AODV below."
    dsr: RaftDsrParameters = RaftDsrParameters()
    "What can be said of DSR below."

    @model_validator(mode="after")
    def _check_timeouts(self) -> RaftCbrParameters:
        if max(self.ack_delay, self.nack_delay) >= min(self.ping_wait, self.cache_lease):
            raise ValueError(
                f"ping_wait = {self.ping_wait:g} s and cache_lease = {self.cache_lease:g} s must outlast"
                f" ack_delay = {self.ack_delay:g} s and nack_delay = {self.nack_delay:g} s,"
                " or nobody can answer in time"
            )
        return self
