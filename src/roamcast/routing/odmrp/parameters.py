"""The constants of both protocols and those that the papers leave open, each explained and checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Meters, Seconds

AIR = 0.005
"Seconds that a message may take from one node to the next, besides the waits that are parameters."


class MeshParameters(Parameters):
    """What can be said of join requests, join tables and the forwarding group, which both protocols share."""

    refresh: Seconds = Field(5.0, gt=0)
    "While a source has something to send, its join request is flooded again after so long."
    timeout: Seconds = Field(25.0, gt=0)
    "Life of a forwarding-group flag, and of what was learned of sources and members, unless it is renewed."
    jitter: Seconds = Field(0.01, ge=0)
    "Whatever is passed on waits up to this long, so that neighbours do not speak at once."
    reply_jitter: Seconds = Field(0.015, ge=0)
    "A member answers a join request after up to this long."
    reply_aggregation: Seconds = Field(0.025, ge=0)
    "A forwarding node waits this long for other join tables before it sends its own."
    ack_wait: Seconds = Field(0.075, gt=0)
    "A join table that the next hop was not heard to pass on by then is sent again."
    backoff: float = Field(2.0, ge=1, le=16)
    "Each further wait for it is so many times as long as the one before; 1 is always as long."
    tries: int = Field(3, ge=1)
    "How often a join table is sent at most, for one join request."
    passive_ack_tries: int = Field(3, ge=1, le=16)
    """How often a source sends a packet at most while none of its neighbours is heard to repeat it, though
    they should. 1: once, as published."""
    passive_ack_timeout: Seconds = Field(0.1, gt=0)
    "A source listens for a repetition so long, up to twice as long."
    piggyback: bool = True
    "Whether the event that is due rides on the join request; else it follows after `setup`."
    setup: Seconds = Field(0.0, ge=0)
    """An event that does not ride on its join request waits this long for the forwarding group. 0: as long as
    the answer takes over `hop_limit` hops. A shorter one loses events for members that are farther away."""
    prediction: bool = False
    "Whether link lifetimes are predicted from positions and velocities, and the refresh adapts to them."
    prediction_range: Meters = Field(250.0, gt=0)
    "Metres within which a link is predicted to last."
    refresh_least: Seconds = Field(1.0, gt=0)
    "However soon a route is predicted to break, a join request is not flooded more often."
    refresh_most: Seconds = Field(20.0, gt=0)
    "However long a route is predicted to last, a join request is not flooded less often."
    hop_limit: int = Field(32, ge=1, le=255)
    "A join request that has travelled this far goes no further."
    routes: int = Field(4096, ge=1)
    "Sources (of a channel) whose last hop is remembered; the oldest makes room."
    groups: int = Field(4096, ge=1)
    "Forwarding-group flags kept; the oldest makes room."
    seen_limit: int = Field(65536, ge=1)
    "Packets remembered as seen, and publications as delivered; the oldest is forgotten first."

    @property
    def round_trip(self) -> float:
        """Seconds until the farthest member's join table has come, counted from the join request."""
        return self.setup or self.hop_limit * (
            self.jitter + self.reply_aggregation + self.reply_jitter + 2 * AIR
        )

    @model_validator(mode="after")
    def _check_timeouts(self) -> MeshParameters:
        for name in ("refresh", "refresh_most") if self.prediction else ("refresh",):
            if self.timeout <= getattr(self, name):
                raise ValueError(
                    f"timeout = {self.timeout:g} s must outlast {name} = {getattr(self, name):g} s,"
                    " or the forwarding group falls apart between two join requests"
                )
        if self.refresh_least > self.refresh_most:
            raise ValueError("refresh_least must not be above refresh_most")
        return self


class OdmrpParameters(MeshParameters):
    """What can be said of ODMRP."""

    channels: Literal["each", "one"] = "each"
    "A channel for each distinct subscription, as the papers compare with; or one for everyone."
    announce: Seconds = Field(10.0, gt=0)
    "Between two announcements of a node's channels, by which sources know what channels there are."
    known: int = Field(4096, ge=1)
    "Announced subscriptions that a node remembers; the oldest makes room."
