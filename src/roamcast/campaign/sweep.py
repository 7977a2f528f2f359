"""The sweep model: the points at which protocols run."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from roamcast.campaign.section import Axes, CampaignSection, Setting, Settings

SCENARIO = "scenario"
"The axis whose values are names of scenarios; all other axes are keys of the scenario."

MOST_POINTS = 100_000
"Maximum number of points of a sweep."


class Sweep(CampaignSection):
    """The points at which its protocols run: the product of a grid, zipped lists and explicit points."""

    protocols: Annotated[list[str], Field(min_length=1)]
    "Labels of the protocols that run at the points."
    scenario: Path | None = None
    "The scenario file, if it differs from the campaign's; the path is relative to the campaign file."
    set: Settings = Field(default_factory=dict)
    "Settings at every point."
    grid: Axes = Field(default_factory=dict)
    "Every combination of these values is a point."
    zip: Axes = Field(default_factory=dict)
    "Lists of equal length, combined element by element."
    points: list[Settings] = Field(default_factory=list)
    "Explicit points."
    reading: dict[str, str] = Field(default_factory=dict)
    "Alternatives that replace the defaults in this sweep, by reading."

    @model_validator(mode="after")
    def _check_consistency(self) -> Sweep:
        lengths = {key: len(values) for key, values in self.zip.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            raise ValueError(f"zipped lists must have the same length: {found}")
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
        if SCENARIO in self.set:
            raise ValueError('"scenario" is not a setting; write scenario = "NAME" in the sweep itself')
        if SCENARIO in owners:
            if self.scenario is not None:
                raise ValueError("the sweep has both a scenario and an axis of scenarios; remove one of them")
            if unnamed := [value for value in self.values_of(SCENARIO) if not isinstance(value, str)]:
                raise ValueError(f"{unnamed[0]!r} is not the name of a scenario")
        if any(set(point) != named for point in self.points):
            raise ValueError("all explicit points must have the same keys")
        if self.size > MOST_POINTS:
            raise ValueError(f"{self.size:,} points; expected at most {MOST_POINTS:,}")
        return self

    @property
    def size(self) -> int:
        """The number of points."""
        zipped = len(next(iter(self.zip.values()), [None]))
        return prod(map(len, self.grid.values())) * zipped * max(1, len(self.points))

    @property
    def axes(self) -> list[str]:
        """The keys that vary over the points, in file order."""
        return [*self.grid, *self.zip, *(self.points[0] if self.points else ())]

    def values_of(self, axis: str) -> list[Setting]:
        """Return the values of an axis, each once, in file order; empty if the sweep has no such axis."""
        lists = [*self.grid.get(axis, []), *self.zip.get(axis, [])]
        return list(dict.fromkeys([*lists, *(point[axis] for point in self.points if axis in point)]))

    def expand(self) -> list[dict[str, Setting]]:
        """Return the points with the varying settings, without those of `set`."""
        grid = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        rows = [dict(zip(self.zip, values, strict=True)) for values in zip(*self.zip.values(), strict=True)]
        return [a | b | c for a in grid for b in (rows or [{}]) for c in (self.points or [{}])]

    def thin(self, keep: int) -> Sweep:
        """Return the sweep with at most `keep` values on each axis, evenly spread, including both ends."""
        shorter = {
            "grid": {key: thin(values, keep) for key, values in self.grid.items()},
            "zip": {key: thin(values, keep) for key, values in self.zip.items()},
            "points": thin(self.points, keep),
        }
        return self.model_copy(update=shorter)


def thin(values: list[Any], keep: int) -> list[Any]:
    """Return at most `keep` of `values`, evenly spread, including both ends; the last one if `keep` is 1."""
    if len(values) <= keep:
        return values
    if keep == 1:
        return [values[-1]]
    return [values[round(i * (len(values) - 1) / (keep - 1))] for i in range(keep)]
