"""The parameters that ODMRP and Pub/Sub ODMRP share, and those of ODMRP."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Meters, Seconds

AIR = 0.005
"Allowance for the transmission of a message over one hop, without the delays that are parameters [s]."


class MeshParameters(Parameters):
    """Parameters of join requests, join tables and the forwarding group, shared by both protocols."""

    refresh: Seconds = Field(5.0, gt=0)
    "Interval at which an active source repeats its join request."
    timeout: Seconds = Field(25.0, gt=0)
    "Lease of a forwarding-group flag, and of the state about sources and members."
    jitter: Seconds = Field(0.01, ge=0)
    "Maximum random delay before a message is repeated, which desynchronises neighbours."
    reply_jitter: Seconds = Field(0.015, ge=0)
    "Maximum random delay before a member replies to a join request."
    reply_aggregation: Seconds = Field(0.025, ge=0)
    "Time that a forwarding node waits for other join tables before it sends its own."
    ack_wait: Seconds = Field(0.075, gt=0)
    "Time after which a join table is retransmitted if the next hop was not overheard repeating it."
    backoff: float = Field(2.0, ge=1, le=16)
    "Factor by which each further wait for an acknowledgement grows; 1 keeps it constant."
    tries: int = Field(3, ge=1)
    "Maximum number of transmissions of a join table per join request."
    passive_ack_tries: int = Field(3, ge=1, le=16)
    """Maximum number of transmissions of a packet by its source while no neighbour is overheard repeating it.
    1: no retransmission, as published."""
    passive_ack_timeout: Seconds = Field(0.1, gt=0)
    "Minimum time that a source waits for a repetition; the maximum is twice as long."
    piggyback: bool = True
    "Whether a due join request carries the event; otherwise the event follows after `setup`."
    setup: Seconds = Field(0.0, ge=0)
    """Delay between a join request and the event that follows it, in which the forwarding group is set up. 0:
    the time of a reply over `hop_limit` hops. With a shorter delay, distant members miss events."""
    prediction: bool = False
    "Whether link lifetimes are predicted from positions and velocities, and the refresh interval adapts."
    prediction_range: Meters = Field(250.0, gt=0)
    "Radio range that the prediction of link lifetimes assumes."
    refresh_least: Seconds = Field(1.0, gt=0)
    "Minimum interval between join requests with prediction."
    refresh_most: Seconds = Field(20.0, gt=0)
    "Maximum interval between join requests with prediction."
    hop_limit: int = Field(32, ge=1, le=255)
    "Maximum number of hops of a join request."
    routes: int = Field(4096, ge=1)
    "Maximum number of stored reverse paths; the oldest is evicted."
    groups: int = Field(4096, ge=1)
    "Maximum number of forwarding-group flags; the oldest is evicted."
    seen_limit: int = Field(65536, ge=1)
    "Number of packet ids and of delivered publication ids that are remembered; the oldest is evicted."

    @property
    def round_trip(self) -> float:
        """Time from a join request to the arrival of the farthest member's join table [s]."""
        return self.setup or self.hop_limit * (
            self.jitter + self.reply_aggregation + self.reply_jitter + 2 * AIR
        )

    @model_validator(mode="after")
    def _check_timeouts(self) -> MeshParameters:
        for name in ("refresh", "refresh_most") if self.prediction else ("refresh",):
            if self.timeout <= getattr(self, name):
                raise ValueError(
                    f"timeout = {self.timeout:g} s must be longer than {name} = {getattr(self, name):g} s,"
                    " or the forwarding group expires between two join requests"
                )
        if self.refresh_least > self.refresh_most:
            raise ValueError(
                f"refresh_least = {self.refresh_least:g} s must not exceed"
                f" refresh_most = {self.refresh_most:g} s"
            )
        return self


class OdmrpParameters(MeshParameters):
    """Parameters of ODMRP."""

    channels: Literal["each", "one"] = "each"
    "One channel for each distinct subscription, as in the papers' comparison, or one for all subscribers."
    announce: Seconds = Field(10.0, gt=0)
    "Interval between announcements of a node's channels, from which sources learn the channels."
    known: int = Field(4096, ge=1)
    "Maximum number of stored announcements; the oldest is evicted."
