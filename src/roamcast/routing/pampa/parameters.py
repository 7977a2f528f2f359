"""Parameters of PAMPA: the constants of equation 1, and values that the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Meters, Seconds, Watts


class PampaParameters(Parameters):
    """Parameters of a PAMPA flood."""

    copies: int = Field(default=2, ge=1)
    "A node that receives this many copies while it waits does not repeat the message."
    count_first: bool = False
    "Whether the first copy counts as one of them; the paper leaves this open."
    delay: Literal["far-first", "signal", "target"] = "far-first"
    "Delay function: decreasing with distance, proportional to the signal, or equation 1."
    distance: Literal["inverse", "friis"] = "inverse"
    "Distance estimation: by the scenario's propagation model, or by the paper's formula."
    max_delay: Seconds = Field(default=0.2, ge=0)
    "Maximum delay (del_max)."
    range: Meters = Field(default=250.0, gt=0)
    "Radio range (d_max)."
    clamp: bool = True
    "Whether a greater estimated distance counts as the range; otherwise the delay may exceed the maximum."
    target: Meters = Field(default=180.0, ge=0)
    "Distance at which nodes repeat first (d_t); used only by equation 1."
    strong_signal: Watts = Field(default=5.84e-9, gt=0)
    "Signal from which on the delay is the maximum (k = max_delay / strong_signal); used only by `signal`."
    jitter: Seconds = Field(default=0.01, ge=0)
    """Maximum random addition to the maximum delay; without it all nodes would repeat at once if no signal is
    known."""
    flood_limit: int = Field(default=65536, ge=1)
    "Maximum number of floods remembered as done; the oldest is removed first."
    pending_limit: int = Field(default=4096, ge=1)
    "Maximum number of pending floods; the oldest is dropped."

    @model_validator(mode="after")
    def _check_consistency(self) -> PampaParameters:
        if self.copies == 1 and self.count_first:
            raise ValueError(
                "copies = 1 with count_first = true suppresses every repetition; set copies to 2 or more"
            )
        if self.target > self.range:
            raise ValueError(f"target = {self.target:g} m must not exceed range = {self.range:g} m")
        return self
