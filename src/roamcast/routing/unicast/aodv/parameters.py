"""The parameters of AODV: constants and rules of RFC 3561, and the differences of ns-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class AodvParameters(Parameters):
    """The parameters of AODV; `NS2` has ns-2's.

    The defaults are RFC 3561's for links with failure detection, except `reply_lifetime` and `equal_replies`.
    """

    ttl_start: int = Field(default=1, ge=1, le=255)
    "TTL of the first request for a new destination, unless `threshold_first` [hops]."
    ttl_increment: int = Field(default=2, ge=1, le=255)
    """Increment of the TTL of each further request; for a known destination, added to its last distance
    [hops]."""
    ttl_threshold: int = Field(default=7, ge=1, le=255)
    "TTL above which a request floods the whole network [hops]."
    threshold_first: bool = False
    """Whether a destination that is new or was last beyond the threshold is searched network-wide at once:
    ns-2."""
    diameter: int = Field(default=35, ge=1, le=255)
    "Network diameter: TTL of network-wide requests and of messages [hops]."
    node_traversal: Seconds = Field(default=0.04, gt=0)
    "Estimated time per hop."
    timeout_buffer: int = Field(default=2, ge=0)
    "Additional hops in the reply timeout of a ring."
    rreq_retries: int = Field(default=2, ge=0)
    "Number of network-wide requests after the first, before the waiting messages are dropped."
    doubling: bool = True
    "Whether the timeout doubles with each network-wide request; in ns-2 it grows linearly."
    longest_wait: Seconds = Field(default=20.0, gt=0)
    "Maximum reply timeout."
    measured_hops: int = Field(default=0, ge=0, le=16)
    "Number of discoveries over which the time per hop is averaged; 0: `node_traversal` always."
    silence: Seconds = Field(default=0.0, ge=0)
    "Time after a failed discovery in which the destination is not searched again."
    rreq_rate: int = Field(default=10, ge=0)
    "Maximum number of requests that a node originates per second; 0: no limit."
    rerr_rate: int = Field(default=10, ge=0)
    "Maximum number of errors that a node sends per second; 0: no limit."
    active_route_timeout: Seconds = Field(default=10.0, gt=0)
    "Lifetime of a route after its last use. RFC 3561: 3 s, and at least 10 s with link failure detection."
    my_route_timeout: Seconds = Field(default=20.0, gt=0)
    "Lifetime of the route in a destination's own reply."
    reverse_route_lifetime: Seconds = Field(default=0.0, ge=0)
    "Lifetime of a reverse route; 0: the maximum time of a reply, as in RFC 3561."
    reboot_wait: Seconds = Field(default=25.0, ge=0)
    "Silent period of a node after a crash; must be longer than the lifetime of any forgotten route."
    delete_period: Seconds = Field(default=50.0, ge=0)
    "Time after a route's last use for which its sequence number is kept; 0: unlimited, as in ns-2."
    hello_interval: Seconds = Field(default=0.0, ge=0)
    "Interval between hellos of a node with active routes; 0: none, the link layer detects failures."
    allowed_hello_loss: int = Field(default=2, ge=1)
    "Number of hello intervals without a hello after which a neighbour is lost."
    local_repair: Literal["rfc", "ns2", "off"] = "rfc"
    """Whether an intermediate node repairs a broken route: 'rfc' near the destination, 'ns2' in the second
    half of the route."""
    repair_share: float = Field(default=0.3, ge=0, le=1)
    "Maximum distance to the destination for a repair, as a fraction of the diameter."
    local_add_ttl: int = Field(default=2, ge=0, le=255)
    "Hops added to the destination's last distance in the request of a repair."
    keep_own: bool = True
    "Whether a node searches again for its own message after a link failure; otherwise it is dropped."
    intermediate_replies: bool = True
    "Whether intermediate nodes with a fresh route may reply; otherwise requests carry the flag D."
    reply_lifetime: Seconds = Field(default=0.5, ge=0)
    """Minimum remaining lifetime of a route with which an intermediate node replies. It is 0 in RFC 3561 and
    ns-2: a route may expire before the first message arrives."""
    equal_replies: bool = True
    "Whether a reply that only confirms a route is forwarded; RFC 3561 and ns-2 discard it."
    gratuitous_replies: bool = False
    "Whether an intermediate node that replies also sends a reply to the destination (flag G)."
    parity: bool = False
    "Whether own sequence numbers are even and those of broken routes odd, as in ns-2."
    neighbour_routes: bool = True
    "Whether each received message creates or refreshes a route to its sender."
    refresh_both_ways: bool = True
    "Whether a forwarded message also refreshes the routes to its origin and to both neighbours."
    error_unicast: bool = True
    "Whether an error for a single neighbour is sent by unicast; otherwise errors are broadcast."
    error_to_all: bool = False
    "Whether a node reports all routes over a failed link, even those without known users."
    stale_errors: bool = True
    "Whether an error with a sequence number older than the route's invalidates it, too."
    control_breaks: bool = True
    "Whether a link failure of a reply or an error also invalidates the routes over that neighbour."
    errors_empty_queue: bool = False
    "Whether an error makes a node drop all messages in its link layer's queue for the sender."
    blacklist: Seconds = Field(default=5.6, ge=0)
    "Time for which requests of a neighbour are ignored after a reply to it has failed."
    jitter: Seconds = Field(default=0.01, ge=0)
    "Maximum random delay of repeated requests and errors, which desynchronises neighbours."
    release_gap: Seconds = Field(default=0.0, ge=0)
    "Interval between buffered messages that are sent when a route is found."
    tick: Seconds = Field(default=0.0, ge=0)
    "Period of the timers for route expiry and requests, the same at all nodes; 0: exact times."
    stamped: bool = False
    "Whether requests and replies have ns-2's form: four bytes longer, and lifetimes in whole seconds."
    buffer: int = Field(default=64, ge=0)
    "Maximum number of messages that wait for routes; the oldest is evicted."
    buffer_timeout: Seconds = Field(default=30.0, gt=0)
    "Maximum time that a message waits for a route."
    destinations: int = Field(default=1024, ge=1)
    "Maximum number of routes; the least recently changed is evicted."
    precursors: int = Field(default=64, ge=1)
    "Maximum number of precursors of a route; the oldest is evicted."
    requests: int = Field(default=16384, ge=1)
    "Number of seen requests that are remembered; the oldest is evicted."
    request_memory: Seconds = Field(default=0.0, ge=0)
    """Period after which seen requests are forgotten, at its multiples: each is remembered for one to two
    periods, as in ns-2 (6 s). 0: until `requests` newer ones were received."""

    @model_validator(mode="after")
    def _outlasts_routes(self) -> AodvParameters:
        back = self.reverse_route_lifetime or 4 * self.node_traversal * self.diameter
        longest = max(self.active_route_timeout, self.my_route_timeout, back)
        for name, why in (
            ("reboot_wait", "routes through a restarted node"),
            ("delete_period", "routes through a node without its sequence number"),
        ):
            period = getattr(self, name)
            if 0 < period <= longest:
                raise ValueError(
                    f"{name} ({period:g} s) must be longer than the lifetime of every route"
                    f" ({longest:g} s), or 0: otherwise {why} can form a loop"
                )
        return self

    @model_validator(mode="after")
    def _replies_pass(self) -> AodvParameters:
        if not self.intermediate_replies and not self.equal_replies:
            raise ValueError(
                "intermediate_replies and equal_replies cannot both be off:"
                " if only the destination may reply, a neighbour with a route to it would discard every reply"
            )
        return self


NS2: Mapping[str, Any] = {
    "reply_lifetime": "0 s",
    "ttl_start": 30,
    "threshold_first": True,
    "diameter": 30,
    "node_traversal": "0.03 s",
    "timeout_buffer": 0,
    "rreq_retries": 3,
    "doubling": False,
    "longest_wait": "10 s",
    "measured_hops": 3,
    "silence": "10 s",
    "rreq_rate": 0,
    "rerr_rate": 0,
    "my_route_timeout": "10 s",
    "reverse_route_lifetime": "6 s",
    "reboot_wait": "0 s",
    "delete_period": "0 s",
    "local_repair": "ns2",
    "keep_own": False,
    "equal_replies": False,
    "parity": True,
    "neighbour_routes": False,
    "refresh_both_ways": False,
    "error_unicast": False,
    "error_to_all": True,
    "stale_errors": False,
    "control_breaks": False,
    "errors_empty_queue": True,
    "blacklist": "0 s",
    "release_gap": "0.01 s",
    "tick": "0.5 s",
    "stamped": True,
    "request_memory": "6 s",
}
"Parameter values of ns-2's AODV (2.35); the others have their defaults."
