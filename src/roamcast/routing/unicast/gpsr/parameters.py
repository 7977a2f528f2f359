"""What can be said of GPSR."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Seconds


class GpsrParameters(Parameters):
    """The constants of GPSR."""

    beacon: Seconds = Field(default=1.0, gt=0)
    "Between beacons, on the mean; each wait is drawn from half of it to one and a half."
    silence: Seconds = Field(default=4.5, gt=0)
    "A neighbour silent for so long is gone; must outlast two beacons."
    implicit: bool = True
    "Whether a packet, which tells where its sender is, saves that sender a beacon."
    planar: Literal["gabriel", "rng"] = "gabriel"
    "The planar graph of perimeter mode: Gabriel's, or the relative neighbourhood graph."
    perimeter: bool = True
    "Whether packets go around voids; false is greedy forwarding alone."
    restart: bool = False
    """Whether a packet that has gone around a face in vain, or takes an edge of it a second time, waits for a
    beacon and begins anew, once at each node. The paper drops it, or lets it go around to the hop limit."""
    hop_limit: int = Field(default=128, ge=1, le=255)
    "Hops that a packet may travel; the way around a large face is long."
    neighbours: int = Field(default=256, ge=1)
    "Neighbours kept; the one unheard longest makes room."
    queue_limit: int = Field(default=64, ge=1)
    "Messages kept until their destination's place, or any neighbour, is known; the oldest makes room."
    queue_timeout: Seconds = Field(default=30.0, gt=0)
    "How long such a message is kept."

    @model_validator(mode="after")
    def _check_leases(self) -> GpsrParameters:
        if self.silence <= 2 * self.beacon:
            raise ValueError(
                f"silence = {self.silence:g} s must outlast two beacons (2 x {self.beacon:g} s),"
                " or one lost beacon ends a neighbourhood"
            )
        return self


class GpsrUnicastParameters(GpsrParameters):
    """What can be said of the baseline that stands on GPSR, beyond GPSR."""

    restart: bool = True
    "Whether a packet that has gone around a face in vain begins anew, once at each node."
    location: Literal["told", "known"] = "told"
    "Whether nodes tell everyone where they are now and then, or the world tells it to whoever asks."
    announce: Seconds = Field(default=10.0, gt=0)
    "Between two such tellings of a node. Longer costs less, and places are staler."
    known: Seconds = Field(default=35.0, gt=0)
    "How long a place told once is believed; must outlast two tellings."
    places: int = Field(default=1024, ge=1)
    "Places kept; the one heard longest ago makes room."

    @model_validator(mode="after")
    def _check_announcements(self) -> GpsrUnicastParameters:
        if self.known <= 2 * self.announce:
            raise ValueError(
                f"known = {self.known:g} s must outlast two tellings (2 x {self.announce:g} s),"
                " or a lost one hides a node"
            )
        return self
