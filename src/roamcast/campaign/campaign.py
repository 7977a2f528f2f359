"""A campaign: which scenario, swept how, under which protocols and seeds; what to draw, what is claimed.

The models here are strict and pure. `plan` turns them into runs, `judge` holds their claims against
the numbers, `report` draws their figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from roamcast.campaign.claims import (
    Claim,
    CrossingClaim,
    DifferenceClaim,
    OrderingClaim,
    RatioClaim,
    TrendClaim,
)
from roamcast.campaign.readings import Reading, ReadingDesign, check_readings
from roamcast.campaign.section import (
    CampaignSection,
    MetricName,
    Setting,
    Settings,
    agrees,
    disagreement,
    member,
)
from roamcast.campaign.sweep import Sweep
from roamcast.files import safe_name
from roamcast.metrics.constants import MetricConstants
from roamcast.scenario.explain import line_of
from roamcast.units import Bytes, Seconds

MOST_SEEDS = 10_000
MOST_RUNS = 1_000_000

Stack = Annotated[
    list[MetricName], Field(min_length=1), BeforeValidator(lambda y: [y] if isinstance(y, str) else y)
]


class Variant(CampaignSection):
    """A protocol under a label, with the parameters that make it differ from its defaults."""

    router: str | None = None
    "The protocol's name in the catalogue; the label itself if absent."
    profile: str | None = None
    "A profile that the protocol declares, as `as-published`; its defaults if absent."
    parameters: Settings = Field(default_factory=dict)
    "Its parameters, as after `protocol.NAME.` in a scenario; they win over the profile's."
    title: str | None = None
    "What figures call it; the label if absent."


class Figure(CampaignSection):
    """A figure: one panel for each metric, a line for each series, intervals on every point."""

    title: str
    section: str = ""
    "Of the paper, where it is one of the paper's figures."
    sweep: str
    x: str
    "The key on the horizontal axis."
    x_title: str | None = None
    "What stands below the axis; words for the key and the unit of its values if absent."
    x_unit: str | None = None
    "The unit beside the title."
    x_log: bool = False
    "Whether the horizontal axis is logarithmic."
    y: Annotated[list[Stack], Field(min_length=1)]
    "A panel each: a metric is drawn as lines, a list of metrics as stacked bars."
    titles: dict[MetricName, str] = Field(default_factory=dict)
    "What panels are called, by their (first) metric."
    units: dict[MetricName, str] = Field(default_factory=dict)
    "Units beside the titles, by metric."
    log: list[MetricName] | None = None
    "Metrics on a logarithmic axis; delays if absent."
    series: str = "protocol"
    "What distinguishes the lines: `protocol` or an axis of the sweep."
    panel: str | None = None
    "An axis of the sweep that gets a row of panels for each of its values."
    extremes: bool = False
    "Whether lines show, beside the interval of each point, the least and the most over its seeds."


class RunLimits(CampaignSection):
    """What one run may use before it is given up."""

    time: Annotated[Seconds, Field(gt=0)] = 1800.0
    "Wall time of one run."
    memory: Annotated[Bytes, Field(gt=0)] = 4e9
    "Memory of one run."


class QuickSettings(CampaignSection):
    """What `--quick` makes of the campaign."""

    seeds: Annotated[int, Field(strict=True, ge=1, le=MOST_SEEDS)] = 2
    points: Annotated[int, Field(strict=True, ge=1)] = 3
    "Values kept on each axis, ends included."
    set: Settings = Field(default_factory=dict)
    "Settings changed at every point, as a shorter duration."


class Campaign(CampaignSection):
    """A whole campaign file."""

    title: str
    about: str = ""
    "A sentence or two for the report's head."
    paper: str = ""
    "The paper that it reproduces, if any."
    scenario: Path
    "The scenario's file; relative to the campaign's file."
    seeds: (
        Annotated[int, Field(strict=True, ge=1, le=MOST_SEEDS)]
        | Annotated[
            list[Annotated[int, Field(strict=True, ge=0, lt=2**63)]],
            Field(min_length=1, max_length=MOST_SEEDS),
        ]
    ) = 10
    "How many (1, 2, 3 ...), or which."
    protocols: Annotated[dict[str, Variant], Field(min_length=1)]
    sweeps: Annotated[dict[str, Sweep], Field(min_length=1)]
    figures: dict[str, Figure] = Field(default_factory=dict)
    claims: dict[str, Claim] = Field(default_factory=dict)
    readings: dict[str, Reading] = Field(default_factory=dict)
    "What the paper leaves open."
    design: ReadingDesign = ReadingDesign()
    limits: RunLimits = RunLimits()
    quick: QuickSettings = QuickSettings()
    measure: MetricConstants = MetricConstants()

    _file: Path | None = PrivateAttr(None)
    _text: str = PrivateAttr("")

    def origin_of(self, file: Path, text: str) -> Campaign:
        """Itself, knowing its file, so that mistakes can be told by line."""
        self._file, self._text = file, text
        return self

    def line_of(self, *paths: str) -> str:
        """Where in its file the first of the dotted `paths` stands that does; `--set` if it has no file."""
        if self._file is None:
            return "--set"
        found = [(path, line) for path in paths if (line := line_of(self._text, path.split("."), exact=True))]
        path, line = found[0] if found else (paths[0], line_of(self._text, paths[0].split(".")))
        return f"{self._file}:{line}: {path}" if line else f"{self._file}: {path}"

    @property
    def seed_list(self) -> list[int]:
        """The seeds, one by one."""
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else self.seeds

    @model_validator(mode="after")
    def _check_consistency(self) -> Campaign:
        if len(set(self.seed_list)) != len(self.seed_list):
            raise ValueError("seeds must differ from each other")
        runs = sum(sweep.size * len(sweep.protocols) for sweep in self.sweeps.values()) * len(self.seed_list)
        if runs > MOST_RUNS:
            raise disagreement("sweeps", f"{runs:,} runs are more than {MOST_RUNS:,}")
        for name, sweep in self.sweeps.items():
            for label in sweep.protocols:
                member(label, self.protocols, f"sweeps.{name}.protocols", "protocol")
            for reading, chosen in sweep.reading.items():
                place = f"sweeps.{name}.reading.{reading}"
                known = self.readings[member(reading, self.readings, place, "reading")].alternatives
                member(chosen, known, place, f"alternative of {reading!r}")
        for name, figure in self.figures.items():
            if safe_name(name) != name:
                raise disagreement(
                    f"figures.{name}", f"this becomes the name of a file; write {safe_name(name)!r}"
                )
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
        if isinstance(claim, OrderingClaim):
            spoken = [(f"{place}.protocols", label, [claim.where]) for label in claim.protocols]
        elif isinstance(claim, RatioClaim | DifferenceClaim):
            spoken = [
                (f"{place}.{side}", end.protocol, [claim.where | end.where, claim.where | (end.less or {})])
                for side, end in (("of", claim.of), ("to", claim.to))
            ]
        else:
            spoken = [(f"{place}.protocol", claim.protocol, [claim.where])]
        if isinstance(claim, CrossingClaim):
            spoken.append((f"{place}.passes", claim.passes, [claim.where]))
        if isinstance(claim, TrendClaim | CrossingClaim):
            member(claim.along, sweep.axes, f"{place}.along", "axis of the sweep")
        points = sweep.expand()
        for where, label, selections in spoken:
            member(label, sweep.protocols, where, "protocol of the sweep")
            for selection in selections:
                for key in selection:
                    member(key, sweep.axes, where, "axis of the sweep")
                if not any(agrees(point, selection) for point in points):
                    raise disagreement(where, f"no point of sweep {claim.sweep!r} has {dict(selection)}")
