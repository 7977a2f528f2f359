"""A campaign: which scenario, swept how, under which protocols and seeds; what to draw, what is claimed.

The models here are strict and pure. `plan` turns them into runs, `judge` holds their claims against
the numbers, `report` draws their figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from roamcast.metrics.constants import Constants
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.entry import Axes, Entry, Setting, Settings, agrees, disagreement, member
from roamcast.pipeline.readings import Design, Reading, check_readings
from roamcast.scenario.consistency import nearest
from roamcast.units import Bytes, Seconds


def _known_metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"no metric is called {name!r}; {nearest(name, METRICS)}")
    return name


MetricName = Annotated[str, BeforeValidator(_known_metric)]
Stack = Annotated[
    list[MetricName], Field(min_length=1), BeforeValidator(lambda y: [y] if isinstance(y, str) else y)
]


class Variant(Entry):
    """A protocol under a label, with the parameters that make it differ from its defaults."""

    router: str | None = None
    "The protocol's name in the catalogue; the label itself if absent."
    profile: str | None = None
    "A profile that the protocol declares, as `as-published`; its defaults if absent."
    parameters: Settings = Field(default_factory=dict)
    "Its parameters, as after `protocol.NAME.` in a scenario; they win over the profile's."
    title: str | None = None
    "What figures call it; the label if absent."


class Sweep(Entry):
    """Points at which every protocol runs: the product of a grid, zipped lists and explicit points."""

    protocols: Annotated[list[str], Field(min_length=1)]
    "Labels of the protocols that run here."
    scenario: Path | None = None
    "The scenario's file, if it is not the campaign's; relative to the campaign's file."
    set: Settings = Field(default_factory=dict)
    "Settings that hold at every point."
    grid: Axes = Field(default_factory=dict)
    "Every combination of these values is a point."
    zip: Axes = Field(default_factory=dict)
    "Lists of equal length, taken together: first with first, second with second."
    points: list[Settings] = Field(default_factory=list)
    "Points named one by one."
    reading: dict[str, str] = Field(default_factory=dict)
    "By reading: the alternative that holds here instead of the default."

    @model_validator(mode="after")
    def _agree(self) -> Sweep:
        lengths = {key: len(values) for key, values in self.zip.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            raise ValueError(f"zipped lists must be of one length: {told}")
        owners: dict[str, str] = {}
        named = {key for point in self.points for key in point}
        for owner, keys in (
            ("set", self.set),
            ("grid", self.grid),
            ("zip", self.zip),
            ("points", named),
        ):
            for key in keys:
                if key in owners:
                    raise ValueError(f"{key!r} is given both in {owners[key]} and in {owner}")
                owners[key] = owner
        if any(set(point) != named for point in self.points):
            raise ValueError("every explicit point must give the same keys")
        return self

    @property
    def axes(self) -> list[str]:
        """The keys that vary over the points, in the file's order."""
        return [*self.grid, *self.zip, *(self.points[0] if self.points else ())]

    def expand(self) -> list[dict[str, Setting]]:
        """Its points: what varies, without what `set` fixes."""
        grid = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        rows = [dict(zip(self.zip, values, strict=True)) for values in zip(*self.zip.values(), strict=True)]
        return [a | b | c for a in grid for b in (rows or [{}]) for c in (self.points or [{}])]

    def thin(self, keep: int) -> Sweep:
        """The same sweep with at most `keep` values on each axis, evenly spread, ends included."""
        shorter = {
            "grid": {key: thin(values, keep) for key, values in self.grid.items()},
            "zip": {key: thin(values, keep) for key, values in self.zip.items()},
            "points": thin(self.points, keep),
        }
        return self.model_copy(update=shorter)


def thin(values: list[Any], keep: int) -> list[Any]:
    """At most `keep` of `values`, evenly spread, first and last included."""
    if len(values) <= keep:
        return values
    if keep == 1:
        return [values[-1]]
    return [values[round(i * (len(values) - 1) / (keep - 1))] for i in range(keep)]


class Figure(Entry):
    """A figure: one panel for each metric, a line for each series, intervals on every point."""

    title: str
    section: str = ""
    "Of the paper, where it is one of the paper's figures."
    sweep: str
    x: str
    "The key on the horizontal axis."
    x_title: str | None = None
    y: Annotated[list[Stack], Field(min_length=1)]
    "A panel each: a metric is drawn as lines, a list of metrics as stacked bars."
    series: str = "protocol"
    "What distinguishes the lines: `protocol` or an axis of the sweep."
    panel: str | None = None
    "An axis of the sweep that gets a row of panels for each of its values."
    extremes: bool = False
    "Whether lines show, beside the interval of each point, the least and the most over its seeds."


class Where(Entry):
    """Which numbers a claim speaks of."""

    protocol: str
    metric: MetricName | None = None
    "If it is not the claim's metric."
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    less: Settings | None = None
    "Take off the number at these points: the rise from there to `where`."


class _Claim(Entry):
    says: str
    "The claim, in our own words."
    section: str = ""
    "Where the paper says it."
    figure: str = ""
    "The paper's figure."
    paper: str = ""
    "The paper's number, as it gives it."
    sweep: str
    metric: MetricName
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    points: Literal["each", "mean"] = "each"
    "Whether it must hold at each point or for the mean over the points."


class Band(_Claim):
    """A metric of one protocol lies between two numbers."""

    kind: Literal["band"]
    protocol: str
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _agree(self) -> Band:
        _check_band(self.low, self.high)
        return self


class Ordering(_Claim):
    """A metric rises from protocol to protocol, in the order given; compared on common seeds."""

    kind: Literal["ordering"]
    protocols: Annotated[list[str], Field(min_length=2)]
    "Smallest first."


class Trend(_Claim):
    """A metric of one protocol rises, falls or stays level along an axis (least-squares line)."""

    kind: Literal["trend"]
    protocol: str
    along: str
    direction: Literal["rising", "falling", "level"]
    tolerance: Annotated[float, Field(gt=0)] = 0.1
    "How far, of its mean, the line of a level metric may climb or sink from end to end."


class Ratio(_Claim):
    """One number divided by another lies in a band."""

    kind: Literal["ratio"]
    of: Where
    to: Where
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _agree(self) -> Ratio:
        _check_band(self.low, self.high)
        return self


class Difference(_Claim):
    """One number less another lies in a band."""

    kind: Literal["difference"]
    of: Where
    to: Where
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _agree(self) -> Difference:
        _check_band(self.low, self.high)
        return self


class Crossing(_Claim):
    """Where along an axis one protocol's metric passes another's lies in a band.

    A least-squares line is fitted to their differences over the points, seed by seed: where is it zero?
    """

    kind: Literal["crossing"]
    protocol: str
    passes: str
    "The other protocol, whose metric it passes."
    along: str
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _agree(self) -> Crossing:
        _check_band(self.low, self.high)
        return self


def _check_band(low: float | None, high: float | None) -> None:
    if low is None and high is None:
        raise ValueError("a band needs low, high or both")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low ({low}) is above high ({high})")


Claim: TypeAlias = Annotated[
    Band | Ordering | Trend | Ratio | Difference | Crossing, Field(discriminator="kind")
]


class Limits(Entry):
    """What one run may use before it is given up."""

    time: Annotated[Seconds, Field(gt=0)] = 1800.0
    "Wall time of one run."
    memory: Annotated[Bytes, Field(gt=0)] = 4e9
    "Memory of one run."


class Quick(Entry):
    """What `--quick` makes of the campaign."""

    seeds: Annotated[int, Field(ge=1)] = 2
    points: Annotated[int, Field(ge=1)] = 3
    "Values kept on each axis, ends included."
    set: Settings = Field(default_factory=dict)
    "Settings changed at every point, as a shorter duration."


class Campaign(Entry):
    """A whole campaign file."""

    title: str
    about: str = ""
    "A sentence or two for the report's head."
    paper: str = ""
    "The paper that it reproduces, if any."
    scenario: Path
    "The scenario's file; relative to the campaign's file."
    seeds: Annotated[int, Field(ge=1)] | Annotated[list[int], Field(min_length=1)] = 10
    "How many (1, 2, 3 ...), or which."
    protocols: Annotated[dict[str, Variant], Field(min_length=1)]
    sweeps: Annotated[dict[str, Sweep], Field(min_length=1)]
    figures: dict[str, Figure] = Field(default_factory=dict)
    claims: dict[str, Claim] = Field(default_factory=dict)
    readings: dict[str, Reading] = Field(default_factory=dict)
    "What the paper leaves open."
    design: Design = Design()
    limits: Limits = Limits()
    quick: Quick = Quick()
    measure: Constants = Constants()

    @property
    def seed_list(self) -> list[int]:
        """The seeds, one by one."""
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else self.seeds

    @model_validator(mode="after")
    def _agree(self) -> Campaign:
        if len(set(self.seed_list)) != len(self.seed_list):
            raise ValueError("seeds must differ from each other")
        for name, sweep in self.sweeps.items():
            for label in sweep.protocols:
                member(label, self.protocols, f"sweeps.{name}.protocols", "protocol")
            for reading, chosen in sweep.reading.items():
                place = f"sweeps.{name}.reading.{reading}"
                known = self.readings[member(reading, self.readings, place, "reading")].alternatives
                member(chosen, known, place, f"alternative of {reading!r}")
        for name, figure in self.figures.items():
            sweep = self.sweeps[member(figure.sweep, self.sweeps, f"figures.{name}.sweep", "sweep")]
            member(figure.x, sweep.axes, f"figures.{name}.x", "axis of the sweep")
            member(figure.series, ["protocol", *sweep.axes], f"figures.{name}.series", "axis of the sweep")
            if figure.panel is not None:
                member(figure.panel, sweep.axes, f"figures.{name}.panel", "axis of the sweep")
        check_readings(
            self.readings, self.protocols, {name: sweep.axes for name, sweep in self.sweeps.items()}
        )
        for name, claim in self.claims.items():
            self._check_claim(f"claims.{name}", claim)
        return self

    def _check_claim(self, place: str, claim: Claim) -> None:
        sweep = self.sweeps[member(claim.sweep, self.sweeps, f"{place}.sweep", "sweep")]
        spoken: list[tuple[str, str, list[Mapping[str, Setting]]]]
        if isinstance(claim, Ordering):
            spoken = [(f"{place}.protocols", label, [claim.where]) for label in claim.protocols]
        elif isinstance(claim, Ratio | Difference):
            spoken = [
                (f"{place}.{side}", end.protocol, [claim.where | end.where, claim.where | (end.less or {})])
                for side, end in (("of", claim.of), ("to", claim.to))
            ]
        else:
            spoken = [(f"{place}.protocol", claim.protocol, [claim.where])]
        if isinstance(claim, Crossing):
            spoken.append((f"{place}.passes", claim.passes, [claim.where]))
        if isinstance(claim, Trend | Crossing):
            member(claim.along, sweep.axes, f"{place}.along", "axis of the sweep")
        points = sweep.expand()
        for where, label, selections in spoken:
            member(label, sweep.protocols, where, "protocol of the sweep")
            for selection in selections:
                for key in selection:
                    member(key, sweep.axes, where, "axis of the sweep")
                if not any(agrees(point, selection) for point in points):
                    raise disagreement(where, f"no point of sweep {claim.sweep!r} has {dict(selection)}")
