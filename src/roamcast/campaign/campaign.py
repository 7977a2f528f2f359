"""The campaign model: scenarios, sweeps, protocols, seeds, figures and claims as immutable sections.

`plan` derives the runs from a campaign, `judge` evaluates its claims, and `report` draws its figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from roamcast.campaign.claims import (
    Claim,
    CrossingClaim,
    DifferenceClaim,
    OrderingClaim,
    RatioClaim,
    TrendClaim,
    UnjudgedStatement,
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
from roamcast.campaign.sweep import SCENARIO, Sweep
from roamcast.files import safe_name
from roamcast.metrics.constants import MetricConstants
from roamcast.scenario.explain import line_of
from roamcast.units import Bytes, Seconds

GoalName: TypeAlias = Literal["delivery", "delay", "messages", "airtime", "energy"]
"What decides a comparison; `roamcast.report.comparing.goals` has the metric of each."

MOST_SEEDS = 10_000
MOST_RUNS = 1_000_000

Stack = Annotated[
    list[MetricName], Field(min_length=1), BeforeValidator(lambda y: [y] if isinstance(y, str) else y)
]


class Variant(CampaignSection):
    """A protocol under a label, with the parameters that differ from its defaults."""

    router: str | None = None
    "Name of the protocol in the catalogue; the label if absent."
    profile: str | None = None
    "A profile of the protocol, such as `as-published`; the defaults if absent."
    parameters: Settings = Field(default_factory=dict)
    "Parameters, as after `protocol.NAME.` in a scenario; they take precedence over the profile."
    title: str | None = None
    "Name in figures; the label if absent."


class Figure(CampaignSection):
    """A figure: a panel per metric, a line per series, and a confidence interval at each point."""

    title: str
    section: str = ""
    "Section of the paper, if the figure reproduces one of the paper."
    sweep: str
    x: str
    "The key on the horizontal axis."
    x_title: str | None = None
    "Title of the horizontal axis; derived from the key and the unit of its values if absent."
    x_unit: str | None = None
    "Unit of the horizontal axis."
    x_log: bool = False
    "Use a logarithmic horizontal axis."
    y: Annotated[list[Stack], Field(min_length=1)]
    "Panels: a metric is drawn as lines, a list of metrics as stacked bars."
    titles: dict[MetricName, str] = Field(default_factory=dict)
    "Titles of panels, by their (first) metric."
    units: dict[MetricName, str] = Field(default_factory=dict)
    "Units of panels, by metric."
    log: list[MetricName] | None = None
    "Metrics with a logarithmic axis; delays if absent."
    series: str = "protocol"
    "Dimension of the lines: `protocol` or an axis of the sweep."
    panel: str | None = None
    "An axis of the sweep; each of its values gets a row of panels."
    extremes: bool = False
    "Show the minimum and the maximum over seeds at each point, too."


class RunLimits(CampaignSection):
    """Limits on the resources of one run; a run that exceeds them fails."""

    time: Annotated[Seconds, Field(gt=0)] = 1800.0
    "Maximum wall time of one run."
    memory: Annotated[Bytes, Field(gt=0)] = 4e9
    "Maximum memory of one run."


class QuickSettings(CampaignSection):
    """Changes to the campaign by `--quick`."""

    seeds: Annotated[int, Field(strict=True, ge=1, le=MOST_SEEDS)] = 2
    points: Annotated[int, Field(strict=True, ge=1)] = 3
    "Number of values on each axis, including both ends."
    set: Settings = Field(default_factory=dict)
    "Settings at every point, such as a shorter duration."


class Campaign(CampaignSection):
    """The content of a campaign file."""

    title: str
    about: str = ""
    "Introduction of the report."
    paper: str = ""
    "The paper that the campaign reproduces, if any."
    scenario: Path | None = None
    "The scenario file; the path is relative to the campaign file. Sweeps may name others."
    scenarios: dict[str, Path] = Field(default_factory=dict)
    "Files of the values of an axis `scenario`, by value; a file beside this one or a shipped one if absent."
    seeds: (
        Annotated[int, Field(strict=True, ge=1, le=MOST_SEEDS)]
        | Annotated[
            list[Annotated[int, Field(strict=True, ge=0, lt=2**63)]],
            Field(min_length=1, max_length=MOST_SEEDS),
        ]
    ) = 10
    "Number of seeds (1, 2, 3, ...), or a list of seeds."
    protocols: Annotated[dict[str, Variant], Field(min_length=1)]
    sweeps: Annotated[dict[str, Sweep], Field(min_length=1)]
    figures: dict[str, Figure] = Field(default_factory=dict)
    claims: dict[str, Claim] = Field(default_factory=dict)
    not_judged: dict[str, UnjudgedStatement] = Field(default_factory=dict)
    "Statements of the paper about its results that no claim judges, each with the reason."
    readings: dict[str, Reading] = Field(default_factory=dict)
    "Choices that the paper leaves open."
    design: ReadingDesign = ReadingDesign()
    limits: RunLimits = RunLimits()
    quick: QuickSettings = QuickSettings()
    measure: MetricConstants = MetricConstants()
    goal: GoalName = "delivery"
    "What decides which protocol is best: delivery, delay, messages, airtime or energy."

    _file: Path | None = PrivateAttr(None)
    _text: str = PrivateAttr("")

    def origin_of(self, file: Path, text: str) -> Campaign:
        """Store the file and its text, so that errors can name a line; return the campaign."""
        self._file, self._text = file, text
        return self

    def line_of(self, *paths: str) -> str:
        """Return file, line and key of the first of the dotted `paths` that is set; `--set` if no file."""
        if self._file is None:
            return "--set"
        found = [(path, line) for path in paths if (line := line_of(self._text, path.split("."), exact=True))]
        path, line = found[0] if found else (paths[0], line_of(self._text, paths[0].split(".")))
        return f"{self._file}:{line}: {path}" if line else f"{self._file}: {path}"

    @property
    def seed_list(self) -> list[int]:
        """The list of seeds."""
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else self.seeds

    @model_validator(mode="after")
    def _check_consistency(self) -> Campaign:
        if len(set(self.seed_list)) != len(self.seed_list):
            raise ValueError("seeds must differ from each other")
        runs = sum(sweep.size * len(sweep.protocols) for sweep in self.sweeps.values()) * len(self.seed_list)
        if runs > MOST_RUNS:
            raise disagreement("sweeps", f"{runs:,} runs; expected at most {MOST_RUNS:,}")
        for name, sweep in self.sweeps.items():
            if self.scenario is None and sweep.scenario is None and SCENARIO not in sweep.axes:
                raise disagreement(f"sweeps.{name}", "has no scenario, and the campaign has none either")
            for label in sweep.protocols:
                member(label, self.protocols, f"sweeps.{name}.protocols", "protocol")
            for reading, chosen in sweep.reading.items():
                place = f"sweeps.{name}.reading.{reading}"
                known = self.readings[member(reading, self.readings, place, "reading")].alternatives
                member(chosen, known, place, f"alternative of {reading!r}")
        for name, figure in self.figures.items():
            if safe_name(name) != name:
                raise disagreement(f"figures.{name}", f"not a valid file name; use {safe_name(name)!r}")
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
