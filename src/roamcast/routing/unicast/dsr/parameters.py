"""What can be said of DSR: RFC 4728's constants and rules, and how ns-2's differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class DsrParameters(Parameters):
    """The constants of DSR, by default RFC 4728's; `NS2` has ns-2's."""

    nonpropagating: bool = True
    "Whether neighbours are asked first."
    nonpropagating_timeout: Seconds = Field(default=0.03, gt=0)
    "How long to wait for their replies before everyone is asked."
    neighbours_each_time: bool = False
    "Whether neighbours are asked first in every round, or in the first alone."
    request_period: Seconds = Field(default=0.5, gt=0)
    "Wait after the first request to everyone."
    request_backoff: int = Field(default=2, ge=1, le=16)
    "Times that each further wait is longer."
    longest_wait: Seconds = Field(default=10.0, gt=0)
    "No wait between requests is longer."
    max_requests: int = Field(default=16, ge=0)
    "Rounds after which what waits is given up; 0: none, it waits until its time is over."
    keeps_backoff: bool = False
    "Whether waits stay long until a reply comes, even if nobody waited in the meantime."
    hop_limit: int = Field(default=255, ge=1, le=255)
    "Hops that a request to everyone travels."
    route_limit: int = Field(default=255, ge=2, le=255)
    "Nodes on a way."
    jitter: Seconds = Field(default=0.01, ge=0)
    "Repeated requests wait up to this long, so that neighbours do not speak at once."
    request_jitter: Seconds = Field(default=0.0, ge=0)
    "So do first requests."
    reply_jitter: Seconds = Field(default=0.0, ge=0)
    "So do replies of the target."
    cached_replies: bool = True
    "Whether nodes that know a way reply."
    reply_spacing: Seconds = Field(default=0.002, ge=0)
    "H of RFC 4728: a reply from a cache waits H (hops - 1 + r), r between 0 and 1; shorter ways come first."
    overhearing: bool = True
    "Whether a node learns from packets that are not for it."
    overheard_finds: bool = True
    "Whether a node learns the way that an overheard reply tells, even if it is not on it."
    forwarded_finds: bool = True
    "Whether a node learns the way that a reply tells when it passes it on."
    gratuitous_holdoff: Seconds = Field(default=1.0, ge=0)
    "The same shortcut is not told to the same origin again for this long."
    gratuitous_by_way: bool = False
    "Whether shortcuts of a way are the same, or those told to an origin of packets from one neighbour."
    gratuitous_table: int = Field(default=64, ge=1)
    "Shortcuts remembered as told; the oldest is forgotten first."
    max_salvages: int = Field(default=15, ge=0, le=15)
    "How often a packet may be given another way by nodes on the way."
    salvage_request: bool = False
    "Whether a node on the way that knows no other way asks its neighbours once, while the packet waits."
    salvage_control: bool = False
    "Whether replies and errors, too, are given another way, or wait for one."
    errors_for_each: bool = True
    "Whether every origin of what waits for a failed link is told of it, or that of the first packet alone."
    error_memory: Seconds = Field(default=1.0, ge=0)
    "A failed link that one was told of is named in the next request, if that is within this."
    buffer: int = Field(default=64, ge=0)
    "Messages that wait for ways; the oldest goes first."
    buffer_timeout: Seconds = Field(default=30.0, gt=0)
    "How long a message waits for a way."
    buffer_check: Seconds = Field(default=0.0, ge=0)
    "What waits is looked at after one to two times this; 0: as soon as something is learnt or due."
    release_gap: Seconds = Field(default=0.0, ge=0)
    "Between messages that waited, once a reply has come."
    primary: int = Field(default=30, ge=1)
    "Ways kept that were asked for or are used; they make room in turn."
    secondary: int = Field(default=34, ge=1)
    "Ways kept that were overheard; they make room in turn."
    cache_timeout: Seconds = Field(default=300.0, gt=0)
    "Life of a way that is not heard of again."
    flow_state: bool = False
    "Whether packets leave their way out once the nodes on it know the flow."
    flow_packets: int = Field(default=3, ge=1)
    "Packets with which a new flow tells its way."
    flow_repeat_interval: Seconds = Field(default=5.0, gt=0)
    "A flow that has not told its way for this long tells it again."
    flow_timeout: Seconds = Field(default=60.0, gt=0)
    "Life of a flow that nothing follows."
    flows: int = Field(default=1024, ge=1)
    "Flows remembered by a node on them; the oldest is forgotten first."
    inflated_requests: bool = False
    "Whether each repetition of a request counts the whole header again, a fault of ns-2."
    inflated_salvage: bool = False
    "Whether a message of another's that waits for a way counts its old header again, a fault of ns-2."
    targets: int = Field(default=64, ge=1)
    "Nodes asked for at a time; the first makes room."
    requests: int = Field(default=16384, ge=1)
    "Requests remembered as seen; the oldest is forgotten first."
    ordered_requests: int = Field(default=0, ge=0)
    """Origins of which a node remembers the newest request alone, and ignores older ones that come later, as
    ns-2 does (128); 0: each request is remembered by itself."""
    nested_errors: int = Field(default=1, ge=1, le=3)
    """Failed links that an error may tell. By ns-2 (3) an error that fails is sent another way, and also told
    inside of a second error to the node that chose its way, which sends it on, once if it overhears it and
    once when it arrives; 1: not told inside."""
    overheard_limit: int = Field(default=4096, ge=1)
    "Packets remembered as overheard; the oldest is forgotten first."


NS2: Mapping[str, Any] = {
    "neighbours_each_time": True,
    "request_backoff": 4,
    "request_period": 0.5,
    "max_requests": 0,
    "keeps_backoff": True,
    "hop_limit": 16,
    "route_limit": 16,
    "request_jitter": 0.01,
    "reply_jitter": 0.01,
    "reply_spacing": 0.0,
    "overheard_finds": False,
    "forwarded_finds": False,
    "gratuitous_by_way": True,
    "gratuitous_table": 10,
    "salvage_request": True,
    "salvage_control": True,
    "errors_for_each": False,
    "secondary": 64,
    "buffer_check": 0.03,
    "release_gap": 0.03,
    "cache_timeout": 1e6,
    "flow_state": True,
    "inflated_requests": True,
    "inflated_salvage": True,
    "ordered_requests": 128,
    "nested_errors": 3,
}
"ns-2's DSR (2.35), by parameter. Else as by default."
