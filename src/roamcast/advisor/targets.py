"""The metrics that the advisor predicts, and the scale on which its models work."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from roamcast.scenario.model import Scenario

Reals = npt.NDArray[np.float64]


class Target(NamedTuple):
    """A metric that the advisor predicts."""

    metric: str
    "Name of the metric."
    unit: str
    scale: Literal["share", "log", "log rate"]
    """A share between 0 and 1; the decimal logarithm of an amount; or that of an amount per second of the
    time that metrics count."""

    def encode(self, values: Reals, seconds: Reals | float) -> Reals:
        """Return values of the metric on the scale of the models; `seconds` is the time that counts."""
        if self.scale == "share":
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log10(values / seconds if self.scale == "log rate" else values)

    def decode(self, encoded: Reals, seconds: Reals | float) -> Reals:
        """Return values on the scale of the models as values of the metric."""
        if self.scale == "share":
            return np.clip(encoded, 0.0, 1.0)
        amounts: Reals = 10.0**encoded
        return amounts * seconds if self.scale == "log rate" else amounts


TARGETS: dict[str, Target] = {
    "delivery": Target("delivery_rate", "", "share"),
    "delay": Target("delay_mean", "s", "log"),
    "airtime": Target("airtime", "s", "log rate"),
    "energy": Target("energy", "J", "log rate"),
}
"The predicted metrics, by short name; the first one decides the ranking."


def counted_seconds(scenario: Scenario) -> float:
    """Return the time whose transmissions metrics count [s]."""
    return scenario.duration - scenario.warmup
