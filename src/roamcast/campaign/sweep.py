"""A sweep: the points at which protocols run."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from roamcast.campaign.section import Axes, CampaignSection, Setting, Settings

MOST_POINTS = 100_000
"Of one sweep."


class Sweep(CampaignSection):
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
    def _check_consistency(self) -> Sweep:
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
        if self.size > MOST_POINTS:
            raise ValueError(f"{self.size:,} points are more than {MOST_POINTS:,}")
        return self

    @property
    def size(self) -> int:
        """How many points it has."""
        zipped = len(next(iter(self.zip.values()), [None]))
        return prod(map(len, self.grid.values())) * zipped * max(1, len(self.points))

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
