"""The parameters of DSDV; the constants are ns-2's."""

from __future__ import annotations

from pydantic import Field

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class DsdvParameters(Parameters):
    """The parameters of DSDV."""

    period: Seconds = Field(default=15.0, gt=0)
    "Interval between full updates; each is shortened at random by up to a quarter."
    missed_periods: int = Field(default=3, ge=1)
    "Number of periods without an update after which a neighbour is lost."
    settling: Seconds = Field(default=6.0, ge=0)
    "Initial settling time of a new destination."
    settling_memory: float = Field(default=0.875, ge=0, lt=1)
    "Weight of the past in the smoothed settling time; must be less than 1."
    settle_anew: bool = False
    """Whether each newer sequence number restarts the delay of a route that has not settled, as in ns-2; if
    the period is shorter than twice the settling time, this repeats. Otherwise the first delay stands."""
    trigger_gap: Seconds = Field(default=1.0, ge=0)
    "Minimum interval between triggered updates."
    trigger_on_fresh: bool = False
    "Whether a newer sequence number alone causes a triggered update."
    advertise_awaited: bool = False
    """Whether a new destination for which messages wait is reported before it has settled, as in ns-2, where
    a waiting message creates a broken route and the new route is reported as its repair."""
    link_feedback: bool = True
    "Whether a link failure invalidates the routes over that neighbour at once, or only missing updates do."
    start_jitter: Seconds = Field(default=2.0, ge=0)
    "Maximum random delay of the first full update."
    broadcast_jitter: Seconds = Field(default=0.01, ge=0)
    "Maximum random delay of each update, which desynchronises neighbours."
    detours: bool = False
    "Whether a datagram takes an alternative next hop after a link failure. Not part of DSDV."
    detour_lease: Seconds = Field(default=1.0, gt=0)
    "Time for which a neighbour is avoided after a link failure."
    hop_limit: int = Field(default=32, ge=1, le=255)
    "Maximum number of hops of a datagram."
    queue_per_destination: int = Field(default=5, ge=0)
    "Maximum number of messages that wait for a route to a destination; the oldest is evicted."
    queue_timeout: Seconds = Field(default=30.0, ge=0)
    "Maximum time that a message waits for a route; 0: unlimited, as in ns-2."
    destinations: int = Field(default=1024, ge=1)
    "Maximum number of routes; the least recently changed is evicted."
    entries_per_update: int = Field(default=120, ge=1, le=1024)
    "Maximum number of entries in a message; a larger table is sent in several."
