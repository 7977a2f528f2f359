"""What can be said of PAMPA: equation 1's constants, and what the paper leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from roamcast.routing.router import Parameters
from roamcast.units import Meters, Seconds, Watts


class PampaParameters(Parameters):
    """The constants of a flood by PAMPA."""

    copies: int = Field(default=2, ge=1)
    "A node that hears so many copies while it waits does not repeat the message."
    count_first: bool = False
    "Whether the copy that made it wait is one of them; the paper leaves it open."
    delay: Literal["far-first", "signal", "target"] = "far-first"
    "How the wait follows from distance: the farther the sooner, the signal times k, or equation 1."
    distance: Literal["inverse", "friis"] = "inverse"
    "How distance follows from the signal: by the scenario's propagation, or by the paper's formula."
    max_delay: Seconds = Field(default=0.2, ge=0)
    "The longest wait (del_max)."
    range: Meters = Field(default=250.0, gt=0)
    "Whoever seems farther away is taken to be this far (d_max)."
    target: Meters = Field(default=180.0, ge=0)
    "Who is this far away repeats first (d_t); only equation 1 asks for it."
    strong_signal: Watts = Field(default=5.84e-9, gt=0)
    "Whoever hears this or more waits the longest (k = longest / strong); for the delay by signal."
    jitter: Seconds = Field(default=0.01, ge=0)
    "Whoever waits the longest waits up to this much more: where no signal is known, all would speak at once."
    flood_limit: int = Field(default=65536, ge=1)
    "Floods remembered as done; the oldest is forgotten first."
    pending_limit: int = Field(default=4096, ge=1)
    "Floods that may wait at a time; the oldest makes room."

    @model_validator(mode="after")
    def _check_consistency(self) -> PampaParameters:
        if self.copies == 1 and self.count_first:
            raise ValueError("copies = 1 with count_first = true would let nobody repeat anything")
        if self.target > self.range:
            raise ValueError(f"target = {self.target:g} m must not be beyond range = {self.range:g} m")
        return self
