"""The parameters of DSR: constants and rules of RFC 4728, and the differences of ns-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class DsrParameters(Parameters):
    """The parameters of DSR, by default RFC 4728's; `NS2` has ns-2's."""

    nonpropagating: bool = True
    "Whether a search asks the neighbours first (a non-propagating request)."
    nonpropagating_timeout: Seconds = Field(default=0.03, gt=0)
    "Time to wait for the neighbours' replies before the network-wide request."
    neighbours_each_time: bool = False
    "Whether every round of a search asks the neighbours first, or only the first round."
    request_period: Seconds = Field(default=0.5, gt=0)
    "Wait after the first network-wide request."
    request_backoff: int = Field(default=2, ge=1, le=16)
    "Factor by which each further wait grows."
    longest_wait: Seconds = Field(default=10.0, gt=0)
    "Maximum wait between requests."
    max_requests: int = Field(default=16, ge=0)
    "Rounds after which the waiting messages are dropped; 0: no limit, they wait for their own timeout."
    keeps_backoff: bool = False
    "Whether the backoff lasts until a reply arrives, even if no message waited in the meantime."
    hop_limit: int = Field(default=255, ge=1, le=255)
    "TTL of a network-wide request [hops]."
    route_limit: int = Field(default=255, ge=2, le=255)
    "Maximum number of nodes on a route."
    jitter: Seconds = Field(default=0.01, ge=0)
    "Maximum random delay of repeated requests, which desynchronises neighbours."
    request_jitter: Seconds = Field(default=0.0, ge=0)
    "Maximum random delay of new requests."
    reply_jitter: Seconds = Field(default=0.0, ge=0)
    "Maximum random delay of the target's replies."
    cached_replies: bool = True
    "Whether nodes reply from their caches."
    reply_spacing: Seconds = Field(default=0.002, ge=0)
    """H of RFC 4728: a reply from a cache is delayed by H (hops - 1 + r), with r between 0 and 1, so that
    shorter routes come first."""
    overhearing: bool = True
    "Whether a node learns from overheard packets."
    overheard_finds: bool = True
    "Whether a node learns the route in an overheard reply, even if it is not on that route."
    forwarded_finds: bool = True
    "Whether a node learns the route in a reply that it forwards."
    gratuitous_holdoff: Seconds = Field(default=1.0, ge=0)
    "Minimum interval between reports of the same shortcut to the same origin."
    gratuitous_by_way: bool = False
    "Whether shortcuts are identified by the route, or by origin and neighbour."
    gratuitous_table: int = Field(default=64, ge=1)
    "Number of reported shortcuts that are remembered; the oldest is evicted."
    max_salvages: int = Field(default=15, ge=0, le=15)
    "Maximum number of times that a packet is salvaged."
    salvage_request: bool = False
    """Whether a node that salvages a packet and has no other route asks its neighbours once, while the packet
    waits."""
    salvage_control: bool = False
    "Whether replies and errors are salvaged, too, or wait for a route."
    errors_for_each: bool = True
    "Whether every origin of messages queued for a failed link receives an error, or only the first packet's."
    error_memory: Seconds = Field(default=1.0, ge=0)
    "Time for which the next request reports a failed link from a received error."
    buffer: int = Field(default=64, ge=0)
    "Maximum number of messages that wait for routes; the oldest is evicted."
    buffer_timeout: Seconds = Field(default=30.0, gt=0)
    "Maximum time that a message waits for a route."
    buffer_check: Seconds = Field(default=0.0, ge=0)
    "Interval between checks of the buffer, each one to two times this long; 0: checked at each change."
    release_gap: Seconds = Field(default=0.0, ge=0)
    "Interval between buffered messages that are sent after a reply."
    primary: int = Field(default=30, ge=1)
    "Maximum number of routes in the primary cache (requested or used); evicted in turn."
    secondary: int = Field(default=34, ge=1)
    "Maximum number of routes in the secondary cache (overheard); evicted in turn."
    cache_timeout: Seconds = Field(default=300.0, gt=0)
    "Lifetime of a cached route that is not seen again."
    flow_state: bool = False
    "Whether packets omit their source routes once the nodes on them know the flow."
    flow_packets: int = Field(default=3, ge=1)
    "Number of packets with which a new flow carries its route."
    flow_repeat_interval: Seconds = Field(default=5.0, gt=0)
    "Interval after which a flow carries its route again."
    flow_timeout: Seconds = Field(default=60.0, gt=0)
    "Lifetime of an unused flow."
    flows: int = Field(default=1024, ge=1)
    "Maximum number of flows that a node stores; the oldest is evicted."
    inflated_requests: bool = False
    "Whether each repetition of a request counts the whole header again, an error of ns-2."
    inflated_salvage: bool = False
    "Whether another node's waiting message counts its old header again, an error of ns-2."
    targets: int = Field(default=64, ge=1)
    "Maximum number of simultaneous searches; the oldest is ended."
    requests: int = Field(default=16384, ge=1)
    "Number of seen requests that are remembered; the oldest is evicted."
    ordered_requests: int = Field(default=0, ge=0)
    """Number of origins of which a node remembers only the newest request and ignores older ones, as in ns-2
    (128); 0: each request is remembered separately."""
    nested_errors: int = Field(default=1, ge=1, le=3)
    """Maximum number of failed links in an error. In ns-2 (3), an error that fails is salvaged and also
    nested in a second error to the node that chose its route, which forwards it once if it overhears it and
    once when it arrives. 1: no nesting."""
    overheard_limit: int = Field(default=4096, ge=1)
    "Number of overheard packets that are remembered; the oldest is evicted."


NS2: Mapping[str, Any] = {
    "neighbours_each_time": True,
    "request_backoff": 4,
    "max_requests": 0,
    "keeps_backoff": True,
    "hop_limit": 16,
    "route_limit": 16,
    "request_jitter": "0.01 s",
    "reply_jitter": "0.01 s",
    "reply_spacing": "0 s",
    "overheard_finds": False,
    "forwarded_finds": False,
    "gratuitous_by_way": True,
    "gratuitous_table": 10,
    "salvage_request": True,
    "salvage_control": True,
    "errors_for_each": False,
    "secondary": 64,
    "buffer_check": "0.03 s",
    "release_gap": "0.03 s",
    "cache_timeout": "1000000 s",
    "flow_state": True,
    "inflated_requests": True,
    "inflated_salvage": True,
    "ordered_requests": 128,
    "nested_errors": 3,
}
"Parameter values of ns-2's DSR (2.35); the others have their defaults."
