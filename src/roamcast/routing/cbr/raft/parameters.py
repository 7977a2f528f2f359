"""Parameters of RAFT-CBR: the constants of section 5.3, and values that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.cbr.parameters import LeaseParameters
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.units import Seconds


class RaftDsdvParameters(DsdvParameters):
    """Parameters of DSDV as the unicast protocol of RAFT-CBR."""

    link_feedback: bool = False
    "Whether a link failure invalidates the routes over it; false in DSDV as distributed with ns-2."
    settle_anew: bool = True
    "Whether a newer sequence number delays the announcement of an unsettled route, as in ns-2."
    detours: bool = True
    "Whether a datagram takes another known route after a link failure. Not in the paper."


class RaftDsrParameters(DsrParameters):
    """Parameters of DSR as the unicast protocol of RAFT-CBR."""

    cache_timeout: Seconds = Field(default=30.0, gt=0)
    "Lifetime of an unused route; DSR does not see the events that RAFT-CBR forwards hop by hop."


class RaftCbrParameters(LeaseParameters):
    """Parameters of RAFT-CBR."""

    ack_delay: Seconds = Field(0.01, gt=0)
    "Duration for which acknowledgements are aggregated before they are sent."
    ack_collection: Literal["interval", "latest", "children"] = "interval"
    """How a broker aggregates acknowledgements: 'interval' sends all that arrived within `ack_delay` (section
    5.3); 'children' waits until all destinations of an event that it forwarded have acknowledged it, or until
    `ack_delay` has passed since the last acknowledgement of the event (section 4.3.2, table 3); 'latest' is
    for live nodes: a subscriber acknowledges only the latest event of each publisher every `ack_delay`, and a
    broker forwards an acknowledgement at once if all destinations of its event have acknowledged it."""
    nack_delay: Seconds = Field(0.03, gt=0)
    "Delay before a subscriber requests missing events."
    ping_wait: Seconds = Field(10.0, gt=0)
    "Timeout for an acknowledgement, after which the publisher pings the subscriber."
    cache_lease: Seconds = Field(10.0, gt=0)
    "Duration for which a broker caches an event for retransmission."
    subscribe_retry: Seconds = Field(1.0, gt=0)
    "Retransmission interval of an unacknowledged subscription. The paper leaves this open."
    recall: Seconds = Field(600.0, ge=0)
    "How far back a late subscription reaches, for events that matched an interest when they were published."
    retract: bool = True
    """Whether a publisher drops outstanding events that, by a newer subscription, matched no interest when
    they were published, and a subscriber buffers events published after a change of its interests until the
    publisher has acknowledged it. Needs `recall`. Not in the paper."""
    advert_hints: bool = True
    """Whether a subscription without a route is sent to the neighbour nearest to the publisher, by its
    advertisements. Not in the paper."""
    reroute: bool = True
    """Whether a message takes another route after a link failure or if its next stop is unreachable. The
    paper leaves this open."""
    share_hops: bool = True
    """Whether events and pings use as few next hops as routes of equal length allow, so that one copy serves
    more destinations. In the paper each destination has its own next hop."""
    custody: bool = True
    "Whether a node stores and retries an event for which it has no route. Not in the paper."
    paced: bool = True
    """Whether requests and retransmissions are paced by acknowledgements. Otherwise each event that shows a
    gap triggers a request for all missing events, which are all sent at once. The paper has no pacing."""
    window: int = Field(16, ge=1)
    """Maximum number of retransmitted events in flight; others follow as these are acknowledged. Open in the
    paper."""
    retransmit_runs: bool = True
    """Whether up to `window` events for the same subscribers are retransmitted consecutively, and subscribers
    aggregate their acknowledgements `window` times as long. Needs `paced`. Not in the paper."""
    retransmit_timeout: Seconds = Field(1.0, gt=0)
    "Time after which an unacknowledged retransmission leaves the window. The paper leaves this open."
    link_retry: Seconds = Field(0.1, gt=0)
    "First retry delay of an event without a route after a link failure; then doubled."
    chain_limit: int = Field(32, ge=2, le=255)
    """Maximum path length of a multicast event [nodes]; beyond it, the event is sent to each destination by
    unicast."""
    subscribers: int = Field(1024, ge=1)
    "Maximum number of subscribers of a publisher; the one silent longest is evicted."
    publishers: int = Field(1024, ge=1)
    "Maximum number of publishers of a subscriber; the one silent longest is evicted."
    unacknowledged_events: int = Field(65536, ge=1)
    "Maximum number of unacknowledged events that a publisher stores; the oldest is dropped."
    cached_events: int = Field(1024, ge=1)
    "Maximum number of events in a broker's cache; the oldest is evicted."
    reorder_buffer: int = Field(1024, ge=1)
    "Maximum number of events that a subscriber buffers for reordering; the one furthest ahead is dropped."
    unicast: Literal["dsdv", "aodv", "dsr"] = "dsdv"
    "The unicast protocol; DSDV in the paper."
    dsdv: RaftDsdvParameters = RaftDsdvParameters()
    "Parameters of DSDV."
    aodv: AodvParameters = AodvParameters()
    "Parameters of AODV."
    dsr: RaftDsrParameters = RaftDsrParameters()
    "Parameters of DSR."
    event_bytes: int = Field(2**26, ge=2**17)
    """Maximum size of the events in each of four tables of a node [B]: its cache, those in custody, its
    reorder buffers together, and the copies received lately. Beyond it, the oldest are removed; of the
    buffers, those furthest ahead. The least limit holds the largest event with all its destinations."""

    quick_retry: Seconds = Field(0.0, ge=0)
    """Age up to which an event is retried `link_retry` after a link failure, and does not wait for as long as
    it has been under way: the links of live nodes take 0.15 s to notice a failure. Not in the paper."""

    def retry_delay(self, age: float) -> float:
        """Return the delay [s] until an event is retried that was under way for `age` seconds when a link
        failed."""
        return self.link_retry if age < self.quick_retry else max(self.link_retry, age)

    @model_validator(mode="after")
    def _check_timeouts(self) -> RaftCbrParameters:
        if max(self.ack_delay, self.nack_delay) >= min(self.ping_wait, self.cache_lease):
            raise ValueError(
                f"ping_wait = {self.ping_wait:g} s and cache_lease = {self.cache_lease:g} s must exceed"
                f" ack_delay = {self.ack_delay:g} s and nack_delay = {self.nack_delay:g} s,"
                " so that answers arrive in time"
            )
        return self
