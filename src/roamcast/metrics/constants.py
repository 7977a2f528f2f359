"""What the metrics leave to the person who measures."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


class EnergyModel(_Part):
    """Feeney's linear model: a frame of so many bytes costs `per_byte * bytes + per_frame` microjoules.

    The defaults are her measurements of a 2 Mb/s WaveLAN card, with the cost of idling taken off: a
    neighbour that discards a long frame not meant for it saves a little.
    """

    unicast_send_per_byte: float = 1.9
    unicast_send_per_frame: float = 420.0
    unicast_receive_per_byte: float = 0.42
    unicast_receive_per_frame: float = 330.0
    broadcast_send_per_byte: float = 1.9
    broadcast_send_per_frame: float = 250.0
    broadcast_receive_per_byte: float = 0.50
    broadcast_receive_per_frame: float = 56.0
    overhear_per_byte: float = -0.49
    overhear_per_frame: float = 97.2
    "Of a unicast frame heard by a neighbour that it is not for."


class MetricConstants(_Part):
    """Constants that the metrics leave to the person who measures."""

    gamma: Annotated[float, Field(gt=0)] = 10.0
    "How many other messages one event message weighs in the normalised overhead."
    energy: EnergyModel = EnergyModel()
