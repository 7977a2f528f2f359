"""What can be said of DSDV; the constants are ns-2's."""

from __future__ import annotations

from pydantic import Field

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class DsdvParameters(Parameters):
    """The constants of DSDV."""

    period: Seconds = Field(default=15.0, gt=0)
    "Between full updates; each wait is shortened by up to a quarter at random."
    missed_periods: int = Field(default=3, ge=1)
    "A neighbour silent for this many periods is gone."
    settling: Seconds = Field(default=6.0, ge=0)
    "The settling time assumed of a destination never heard of before."
    settling_memory: float = Field(default=0.875, ge=0, lt=1)
    "Weight of the past in the smoothed settling time; with all of it nothing would be learnt."
    settle_anew: bool = False
    """Whether every fresh sequence number puts off news of a route that has not settled, as in ns-2: with a
    period that is shorter than twice the settling time, again and again. Otherwise the first wait stands."""
    trigger_gap: Seconds = Field(default=1.0, ge=0)
    "Least time between two triggered updates."
    trigger_on_fresh: bool = False
    "Whether a fresh sequence number alone is news worth a triggered update."
    advertise_awaited: bool = False
    """Whether a destination never heard of before that messages wait for is told of at once, before it has
    settled, as in ns-2: there a message makes an entry, and news of it is that of a broken route."""
    link_feedback: bool = True
    "Whether a failed transmission breaks the routes over that neighbour at once, or silence alone does."
    start_jitter: Seconds = Field(default=2.0, ge=0)
    "The first full update comes within this time."
    broadcast_jitter: Seconds = Field(default=0.01, ge=0)
    "Each update waits up to this long, so that neighbours do not speak at once."
    detours: bool = False
    "Whether a datagram that the link gave up on takes another way that a neighbour told of. Not DSDV's."
    detour_lease: Seconds = Field(default=1.0, gt=0)
    "How long a neighbour that the link failed to reach is gone around."
    hop_limit: int = Field(default=32, ge=1, le=255)
    "Hops that a datagram may travel."
    queue_per_destination: int = Field(default=5, ge=0)
    "Messages kept for a destination without a route; the oldest goes first."
    queue_timeout: Seconds = Field(default=30.0, ge=0)
    "How long a message waits for a route; 0: until there is one, as in ns-2."
    destinations: int = Field(default=1024, ge=1)
    "Routes kept; the one that changed longest ago makes room."
    entries_per_update: int = Field(default=120, ge=1, le=1024)
    "A larger table is told in several messages."
