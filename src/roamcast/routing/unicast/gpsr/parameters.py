"""The parameters of GPSR."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds

GREEDY_ALONE = "greedy forwarding without perimeter mode"
"The reason why GPSR without perimeter mode does not find every path."


class GpsrParameters(Parameters):
    """The parameters of GPSR."""

    beacon: Seconds = Field(default=1.0, gt=0)
    "Mean interval between beacons; each is drawn from half to one and a half times this."
    silence: Seconds = Field(default=4.5, gt=0)
    "Time without a message after which a neighbour is lost; must be longer than three beacon intervals."
    implicit: bool = True
    "Whether a packet, which carries its sender's position, replaces a beacon and restarts the interval."
    planar: Literal["gabriel", "rng"] = "gabriel"
    "The planar graph of perimeter mode: Gabriel graph or relative neighbourhood graph."
    perimeter: bool = True
    "Whether packets go around voids; false is greedy forwarding alone."
    restart: bool = False
    """Whether a packet that has gone around a face, or takes an edge of it again, waits for a beacon interval
    and restarts, once per node. The paper drops it, or lets it circle up to the hop limit."""
    hop_limit: int = Field(default=128, ge=1, le=255)
    "Maximum number of hops of a packet; the path around a large face is long."
    neighbours: int = Field(default=256, ge=1)
    "Maximum number of neighbours; the least recently received is evicted."
    queue_limit: int = Field(default=64, ge=1)
    "Maximum number of messages that wait for a position or a neighbour; the oldest is evicted."
    queue_timeout: Seconds = Field(default=30.0, gt=0)
    "Maximum time that such a message waits."

    @model_validator(mode="after")
    def _check_leases(self) -> GpsrParameters:
        if self.silence <= 3 * self.beacon:
            raise ValueError(
                f"silence = {self.silence:g} s must be longer than three beacon intervals"
                f" (3 x {self.beacon:g} s), or one lost beacon removes a neighbour"
            )
        return self


class GpsrUnicastParameters(GpsrParameters):
    """The parameters of the GPSR baseline."""

    restart: bool = True
    "Whether a packet that has gone around a face in vain restarts, once at each node."
    location: Literal["announced", "known"] = "announced"
    "Whether nodes flood their positions ('announced'), or the simulator provides them ('known')."
    announce: Seconds = Field(default=10.0, gt=0)
    "Interval between position announcements of a node; with longer ones, positions are older."
    known: Seconds = Field(default=35.0, gt=0)
    "Lease of an announced position; must be longer than two intervals."
    places: int = Field(default=1024, ge=1)
    "Maximum number of stored positions; the least recently received is evicted."

    @model_validator(mode="after")
    def _check_announcements(self) -> GpsrUnicastParameters:
        if self.known <= 2 * self.announce:
            raise ValueError(
                f"known = {self.known:g} s must be longer than two announce intervals"
                f" (2 x {self.announce:g} s), or one lost announcement removes a node's position"
            )
        return self
