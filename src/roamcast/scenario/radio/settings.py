"""The section `[radio]`: propagation, ranges, and the optional models of the channel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from roamcast.scenario.section import NotNegative, Positive, ScenarioSection
from roamcast.units import Decibels, DecibelsPerMeter, Hertz, Meters, Watts

FARTHEST = 1e6
"Maximum distance at which a frame is sensed [m]: the kernel stores delays in picoseconds as 32-bit integers."

BOLTZMANN = 1.380649e-23
"J/K"

MOST_SHADOWING = 3.0
"Shadowing is clipped at this many standard deviations, so that the distance of a signal is bounded."

MOST_FADING = 10.0
"Fading gains are clipped at this value [dB]."


class LogDistance(ScenarioSection):
    """Log-distance path loss: `loss` + 10 `exponent` log10(distance / `reference`) [dB]."""

    exponent: Annotated[float, Field(ge=1, le=10)] = 3.0
    reference: Annotated[Meters, Positive] = 1.0
    "Distance at which the loss is `loss`."
    loss: Annotated[Decibels | None, NotNegative] = None
    "Loss at the reference distance; that of free space (Friis) if absent."


class LogNormalShadowing(ScenarioSection):
    """Log-normal shadowing, correlated in space; the same in both directions of a link."""

    sigma: Annotated[Decibels, NotNegative, Field(le=20)]
    "Standard deviation of the loss."
    correlation: Annotated[Meters, Positive] = 20.0
    "Distance over which an end of a link must move for the correlation to fall to 1/e (Gudmundson)."


class MultipathFading(ScenarioSection):
    """Fading of each frame at each receiver, independent of other frames."""

    kind: Literal["rayleigh", "nakagami"]
    m: Annotated[float, Field(ge=0.5, le=50)] | None = None
    'Shape of Nakagami fading; required by `"nakagami"`. 1 is Rayleigh; larger values vary less.'

    @model_validator(mode="after")
    def _check_consistency(self) -> MultipathFading:
        if self.kind == "nakagami" and self.m is None:
            raise ValueError('kind = "nakagami" needs a shape: m = 3')
        if self.kind == "rayleigh" and self.m is not None:
            raise ValueError('m is only valid for kind = "nakagami"; Rayleigh fading is m = 1')
        return self

    @property
    def shape(self) -> float:
        """The shape m of the distribution."""
        return 1.0 if self.m is None else self.m


class Corner(NamedTuple):
    """A corner of a polygon; it may lie outside the area."""

    x: Meters
    y: Meters


class Building(ScenarioSection):
    """An obstacle to signals: a polygon, or all polygons of a file. Written as `[[radio.obstacles]]`."""

    polygon: tuple[Corner, ...] = ()
    "Corners in order; the last one is joined to the first."
    holes: tuple[tuple[Corner, ...], ...] = ()
    "Courtyards: polygons within the polygon."
    file: Path | None = None
    """Instead of a polygon: a file of polygons in GeoJSON (`.json`, `.geojson`) or WKT, in metres of the
    area; the path is relative to the scenario file."""
    wall: Annotated[Decibels, NotNegative] = 9.0
    "Loss for each wall that a signal crosses."
    inside: Annotated[DecibelsPerMeter, NotNegative] = 0.4
    "Loss for each metre within the walls."

    @model_validator(mode="after")
    def _check_consistency(self) -> Building:
        if bool(self.polygon) == (self.file is not None):
            raise ValueError("expected either a polygon or a file")
        if self.file is None and min(map(len, (self.polygon, *self.holes))) < 3:
            raise ValueError("a polygon has at least three corners")
        return self


class Reception(ScenarioSection):
    """How frames are decoded, and the standard of their durations and rates."""

    model: Literal["threshold", "sinr"] = "threshold"
    """`"threshold"`: within `radio.range`, with capture; `"sinr"`: by the ratio of signal to interference and
    noise."""
    standard: Literal["802.11g", "802.11n", "802.11p"] | None = None
    """OFDM standard: durations of frames, rates, defaults of `mac` and `radio.frequency`. If absent, 802.11g
    for `"sinr"`, otherwise the DSSS frames of ns-2."""
    noise_figure: Annotated[Decibels, NotNegative] = 7.0
    "Noise of the receiver above thermal noise."
    preamble: Annotated[Decibels, NotNegative] = 4.0
    "Minimum ratio of signal to interference and noise at which the start of a frame is detected."


class Lora(ScenarioSection):
    """A LoRa radio instead of 802.11: slow, far-reaching, without acknowledgements; an SX1276 at 868 MHz."""

    spreading_factor: Annotated[int, Field(strict=True, ge=7, le=12)] = 7
    bandwidth: Annotated[Hertz, Positive] = 125e3
    code: Literal["4/5", "4/6", "4/7", "4/8"] = "4/5"
    "Code rate of the payload."
    preamble: Annotated[int, Field(strict=True, ge=6, le=65535)] = 8
    "Symbols of the preamble."
    access: Literal["aloha", "cad"] = "aloha"
    "Send at once, or detect activity first and wait for a random time if there is any."
    duty_cycle: Annotated[float, Field(gt=0, le=1)] = 0.01
    "Share of the time that a node may send: after a frame of t it is silent for t / `duty_cycle` - t."
    noise_figure: Annotated[Decibels, NotNegative] = 6.0
    "Noise of the receiver above thermal noise."
    send_power: Annotated[Watts, Positive] = 0.145
    "Power that the radio consumes while it sends; for the metric `energy`."
    receive_power: Annotated[Watts, Positive] = 0.036
    "Power that the radio consumes while it receives."

    @property
    def sensitivity(self) -> float:
        """Weakest signal that is decoded [W]: thermal noise, noise figure and the ratio of the factor."""
        ratio = -7.5 - 2.5 * (self.spreading_factor - 7)  # dB, data sheet of the SX1276
        return BOLTZMANN * 290 * self.bandwidth * 10 ** ((self.noise_figure + ratio) / 10)


class Radio(ScenarioSection):
    """The radio; the defaults are those of ns-2 (a 914 MHz WaveLAN card)."""

    range: Annotated[Meters, Positive] = 250.0
    "Maximum distance at which a frame is decoded in the absence of interference, shadowing and fading."
    carrier_sense: Annotated[Meters, Positive] = 550.0
    "Maximum distance at which a frame is sensed and interferes with others, without shadowing and fading."
    capture: Annotated[Decibels, NotNegative] = 10.0
    "Capture threshold: a frame survives a later one that is weaker by at least this much."
    frequency: Annotated[Hertz, Positive] = 914e6
    power: Annotated[Watts, Positive] = 0.28183815
    antenna_height: Annotated[Meters, Positive] = 1.5
    propagation: Literal["two-ray", "friis", "log-distance"] = "two-ray"
    log_distance: LogDistance | None = None
    'Parameters of `propagation = "log-distance"`.'
    shadowing: LogNormalShadowing | None = None
    "Log-normal shadowing; none if absent."
    fading: MultipathFading | None = None
    "Fading; none if absent."
    obstacles: tuple[Building, ...] = ()
    "Buildings that weaken the signals that pass through them."
    reception: Reception | None = None
    "Reception; by thresholds, with the frames of ns-2, if absent."
    lora: Lora | None = None
    "A LoRa radio instead of 802.11, if present."

    @model_validator(mode="after")
    def _check_consistency(self) -> Radio:
        if self.propagation != "log-distance" and self.log_distance is not None:
            raise ValueError('log_distance is only valid for propagation = "log-distance"')
        if self.lora is not None and self.reception is not None:
            raise ValueError("lora and reception exclude each other: reception is of 802.11")
        if self.sinr is None and self.lora is None:  # otherwise power and ranges are completed first
            self.check_ranges()
        return self

    def check_ranges(self) -> None:
        """Raise `ValueError` if the ranges contradict each other or the kernel's limit."""
        if self.carrier_sense < self.range:
            raise ValueError("carrier_sense must not be shorter than range")
        if self.carrier_sense > FARTHEST:
            raise ValueError(f"carrier_sense must not be longer than {FARTHEST / 1000:g} km")
        if self.reach > FARTHEST:
            raise ValueError(
                f"with shadowing and fading, frames could be sensed up to {self.reach / 1000:,.0f} km; "
                f"expected at most {FARTHEST / 1000:g} km: reduce carrier_sense or shadowing.sigma"
            )

    @property
    def sinr(self) -> Reception | None:
        """The reception settings if the model is SINR, otherwise None."""
        return self.reception if self.reception is not None and self.reception.model == "sinr" else None

    @property
    def standard(self) -> str | None:
        """The OFDM standard, or None for the frames of ns-2."""
        if self.reception is None or self.reception.standard is not None:
            return self.reception.standard if self.reception is not None else None
        return "802.11g" if self.reception.model == "sinr" else None

    @property
    def reach(self) -> float:
        """Upper bound of the distance at which a frame is sensed with the maximum gain of the channel [m]."""
        gain = MOST_SHADOWING * self.shadowing.sigma if self.shadowing is not None else 0.0
        gain += MOST_FADING if self.fading is not None else 0.0
        exponent = 2.0
        if self.propagation == "log-distance":
            exponent = (self.log_distance or LogDistance()).exponent
        reach: float = self.carrier_sense * 10 ** (gain / 10 / exponent)
        return reach

    @model_serializer(mode="wrap")
    def _omit_absent_options(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the section without absent options: facts of runs without them do not mention them."""
        plain: dict[str, Any] = dump(self)
        return {key: value for key, value in plain.items() if key not in _OPTIONS or value}


_OPTIONS = {"log_distance", "shadowing", "fading", "obstacles", "reception", "lora"}
"Keys of the radio that facts omit if absent."


def kernel_radio(radio: Radio) -> dict[str, Any]:
    """Return the kernel's parameters of the radio, without the channel."""
    parameters: dict[str, Any] = radio.model_dump() | {"capture": 10 ** (radio.capture / 10)}
    if radio.propagation == "log-distance":
        loss = radio.log_distance or LogDistance()
        parameters["exponent"] = loss.exponent
        parameters["reference"] = loss.reference
        parameters["reference_loss"] = 0.0 if loss.loss is None else 10 ** (loss.loss / 10)
    return parameters
