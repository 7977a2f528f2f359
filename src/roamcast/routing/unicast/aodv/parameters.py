"""What can be said of AODV: RFC 3561's constants and rules, and how ns-2's differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class AodvParameters(Parameters):
    """The constants of AODV, by default RFC 3561's for links that tell of failures; `NS2` has ns-2's."""

    ttl_start: int = Field(default=1, ge=1, le=255)
    "Hops that the first request for a destination never known travels, unless `threshold_first`."
    ttl_increment: int = Field(default=2, ge=1, le=255)
    "Hops that each further request travels more; one for a destination once known begins that far beyond it."
    ttl_threshold: int = Field(default=7, ge=1, le=255)
    "Rings beyond this are the whole network."
    threshold_first: bool = False
    "Whether a destination never known, or last beyond the threshold, is asked of everyone at once: ns-2."
    diameter: int = Field(default=35, ge=1, le=255)
    "Hops across the network: of requests to everyone, and of messages."
    node_traversal: Seconds = Field(default=0.04, gt=0)
    "Estimated time that one hop takes."
    timeout_buffer: int = Field(default=2, ge=0)
    "Hops by which the wait for replies to a ring is lengthened."
    rreq_retries: int = Field(default=2, ge=0)
    "Requests to the whole network after the first, before what waits is given up."
    doubling: bool = True
    "Whether the wait after each request to the whole network doubles; ns-2 adds as much each time."
    longest_wait: Seconds = Field(default=20.0, gt=0)
    "No wait for replies is longer."
    measured_hops: int = Field(default=0, ge=0, le=16)
    "Discoveries from whose duration the time of a hop is measured; 0: `node_traversal` always."
    silence: Seconds = Field(default=0.0, ge=0)
    "After a discovery that failed, a destination is not asked for again for this long."
    rreq_rate: int = Field(default=10, ge=0)
    "Requests that a node originates in any second; 0: no limit."
    rerr_rate: int = Field(default=10, ge=0)
    "Errors that a node sends in any second; 0: no limit."
    active_route_timeout: Seconds = Field(default=10.0, gt=0)
    "Life of a route after its last use. RFC 3561: 3 s, and at least 10 s where links tell of failures."
    my_route_timeout: Seconds = Field(default=20.0, gt=0)
    "Life of a route that a destination tells of itself."
    reverse_route_lifetime: Seconds = Field(default=0.0, ge=0)
    "Life of the route back to who asked; 0: as long as a reply may take, as RFC 3561 has it."
    reboot_wait: Seconds = Field(default=25.0, ge=0)
    "A node that starts anew only listens for this long: longer than any route lives that it has forgotten."
    delete_period: Seconds = Field(default=50.0, ge=0)
    "A number is forgotten this long after its route was last up or asked of; 0: never, as in ns-2."
    hello_interval: Seconds = Field(default=0.0, ge=0)
    "Between hellos of a node with active routes; 0: none, links tell of failures."
    allowed_hello_loss: int = Field(default=2, ge=1)
    "A neighbour whose hellos were heard, silent for so many intervals, is gone."
    local_repair: Literal["rfc", "ns2", "off"] = "rfc"
    "Whether a node on the way looks for another way itself: near the destination, or past half of the way."
    repair_share: float = Field(default=0.3, ge=0, le=1)
    "Repair where the destination was no further than this share of the diameter."
    local_add_ttl: int = Field(default=2, ge=0, le=255)
    "Hops that a repairing request travels beyond the destination's last distance."
    keep_own: bool = True
    "Whether a node asks anew for a message of its own that the link gave up on; else it is dropped."
    intermediate_replies: bool = True
    "Whether nodes that know a fresh route may reply (else requests carry the flag D)."
    equal_replies: bool = True
    "Whether a reply that only confirms a route is passed on; RFC 3561 and ns-2 swallow it."
    gratuitous_replies: bool = False
    "Whether who replies from its table also tells the destination (flag G)."
    parity: bool = False
    "Whether own sequence numbers are even and those of broken routes odd, as in ns-2."
    neighbour_routes: bool = True
    "Whether every message heard makes or refreshes a route to the neighbour that sent it."
    refresh_both_ways: bool = True
    "Whether a message passed on refreshes the routes to its origin and to both neighbours, too."
    error_unicast: bool = True
    "Whether an error that concerns one neighbour goes to it alone; else errors are broadcast."
    error_to_all: bool = False
    "Whether who finds a link broken tells of all routes over it, even those that nobody is known to use."
    stale_errors: bool = True
    "Whether an error with an older sequence number than the route's breaks it too."
    control_breaks: bool = True
    "Whether routes over a neighbour break when the link cannot bring it a reply or an error, too."
    errors_empty_queue: bool = False
    "Whether an error makes a node let go all that waits in its link for the neighbour that sent it."
    blacklist: Seconds = Field(default=5.6, ge=0)
    "How long requests of a neighbour are ignored to which a reply could not be sent."
    jitter: Seconds = Field(default=0.01, ge=0)
    "Repeated requests and errors passed on wait up to this long, so that neighbours do not speak at once."
    release_gap: Seconds = Field(default=0.0, ge=0)
    "Between messages that waited for a route, once there is one."
    tick: Seconds = Field(default=0.0, ge=0)
    "Routes lapse and requests are repeated at multiples of this, at all nodes alike; 0: when they are due."
    stamped: bool = False
    "Whether requests and replies have ns-2's form: four bytes more, and lives in whole seconds."
    buffer: int = Field(default=64, ge=0)
    "Messages that wait for routes; the oldest goes first."
    buffer_timeout: Seconds = Field(default=30.0, gt=0)
    "How long a message waits for a route."
    destinations: int = Field(default=1024, ge=1)
    "Routes kept; the one that changed longest ago makes room."
    precursors: int = Field(default=64, ge=1)
    "Neighbours remembered as users of a route; the first makes room."
    requests: int = Field(default=16384, ge=1)
    "Requests remembered as seen; the oldest is forgotten first."
    request_memory: Seconds = Field(default=0.0, ge=0)
    """Requests are remembered for one to two times this long, and forgotten at its multiples, as in ns-2
    (6 s); 0: until `requests` newer ones have come."""

    @model_validator(mode="after")
    def _outlasts_routes(self) -> AodvParameters:
        back = self.reverse_route_lifetime or 4 * self.node_traversal * self.diameter
        longest = max(self.active_route_timeout, self.my_route_timeout, back)
        for name, why in (
            ("reboot_wait", "routes through a node that has started anew"),
            ("delete_period", "routes through a node that has forgotten a number"),
        ):
            period = getattr(self, name)
            if 0 < period <= longest:
                raise ValueError(
                    f"{name} ({period:g} s) must outlast every route ({longest:g} s), or be 0:"
                    f" else {why} can form a loop"
                )
        return self

    @model_validator(mode="after")
    def _replies_pass(self) -> AodvParameters:
        if not self.intermediate_replies and not self.equal_replies:
            raise ValueError(
                "intermediate_replies and equal_replies cannot both be off:"
                " where only the destination may answer, a neighbour that knows it would swallow every reply"
            )
        return self


NS2: Mapping[str, Any] = {
    "ttl_start": 30,
    "threshold_first": True,
    "diameter": 30,
    "node_traversal": 0.03,
    "timeout_buffer": 0,
    "rreq_retries": 3,
    "doubling": False,
    "longest_wait": 10.0,
    "measured_hops": 3,
    "silence": 10.0,
    "rreq_rate": 0,
    "rerr_rate": 0,
    "my_route_timeout": 10.0,
    "reverse_route_lifetime": 6.0,
    "reboot_wait": 0.0,
    "delete_period": 0.0,
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
    "blacklist": 0.0,
    "release_gap": 0.01,
    "tick": 0.5,
    "stamped": True,
    "request_memory": 6.0,
}
"ns-2's AODV (2.35), by parameter; what is not named is as by default."
