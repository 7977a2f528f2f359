"""Constants of metrics that the user may set."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat

from roamcast.units import Seconds


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


class EnergyModel(_Part):
    """Feeney's linear energy model: a frame costs `per_byte * bytes + per_frame` [uJ].

    The defaults are her measurements of a 2 Mb/s WaveLAN card relative to the idle power. A neighbour that
    discards a frame addressed to another node can consume less than an idle one (of more than 198 bytes, by
    the defaults). Such savings are not counted: a frame costs a node at least 0.
    """

    unicast_send_per_byte: NonNegativeFloat = 1.9
    unicast_send_per_frame: NonNegativeFloat = 420.0
    unicast_receive_per_byte: NonNegativeFloat = 0.42
    unicast_receive_per_frame: NonNegativeFloat = 330.0
    broadcast_send_per_byte: NonNegativeFloat = 1.9
    broadcast_send_per_frame: NonNegativeFloat = 250.0
    broadcast_receive_per_byte: NonNegativeFloat = 0.50
    broadcast_receive_per_frame: NonNegativeFloat = 56.0
    overhear_per_byte: float = -0.49
    overhear_per_frame: float = 97.2
    "Cost of a unicast frame at a neighbour to which it is not addressed [uJ]."


class MetricConstants(_Part):
    """Constants of metrics that the user may set."""

    gamma: Annotated[float, Field(gt=0)] = 10.0
    "Weight of an event message in the weighted metrics; other messages have weight 1."
    energy: EnergyModel = EnergyModel()
    deadline: Annotated[Seconds, Field(gt=0)] | None = None
    "Delay above which a delivery counts as lost [s]; none if absent."
