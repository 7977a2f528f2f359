"""The trained advisor: trees, calibration and the features of its training worlds, in one file of arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from roamcast.advisor.features import FEATURES
from roamcast.advisor.targets import TARGETS, Reals
from roamcast.advisor.trees import TreeEnsemble

FILE = Path(__file__).parent / "trained" / "model.npz"
"The model that is shipped."

COVERAGE = 0.9
"Probability that an interval is meant to contain the result of one run."

NEIGHBOURS = 5
"Number of nearest training worlds whose mean distance says how far a scenario is from them."

_FLATTEST = 1e-3
"Smallest scale of an error, so that intervals never vanish."


class Prediction(NamedTuple):
    """A predicted metric of one run, with its interval."""

    value: float
    low: float
    high: float


class Distance(NamedTuple):
    """The distance of a scenario from the training worlds."""

    value: float
    "Mean distance to the nearest training worlds, in standard deviations per feature."
    rank: float
    "Share of the training worlds that are nearer to their nearest training worlds."
    outside: dict[str, tuple[float, float, float]]
    "Features outside the range of the training worlds: value, minimum, maximum."


@dataclass(frozen=True)
class TargetModel:
    """The model of one metric: the prediction, the scale of its error, and its calibration."""

    trees: TreeEnsemble
    scale: TreeEnsemble
    "Predicts the logarithm of the absolute error."
    quantiles: Reals
    "Lower and upper quantile of the error, divided by its scale: a row per protocol."

    def intervals(self, rows: Reals) -> tuple[Reals, Reals, Reals]:
        """Return prediction, lower and upper end for each row, on the scale of the model."""
        middle, scale = self.trees.predict(rows), scale_errors(self.scale, rows)
        low, high = self.quantiles[rows[:, 0].astype(np.int64)].T
        return middle, middle + low * scale, middle + high * scale


def scale_errors(trees: TreeEnsemble, rows: Reals) -> Reals:
    """Return the scale of the error of each row; `trees` predict its logarithm."""
    return np.asarray(np.maximum(np.exp(trees.predict(rows)), _FLATTEST))


@dataclass(frozen=True)
class AdvisorModel:
    """The models of all metrics, and what they were trained with."""

    protocols: list[str]
    "The protocols, in the order of their category numbers."
    targets: dict[str, TargetModel]
    ranking: TreeEnsemble
    "Predicts the shortfall of a protocol: the best delivery rate in a world without its own."
    worlds: Reals
    "Features of the training worlds."
    means: dict[str, float]
    "Mean delivery rate of each protocol over the training worlds."
    facts: dict[str, Any]
    "Number of worlds and runs, and the versions of the code that made them."

    def rows(self, features: Mapping[str, float], protocols: Iterable[str]) -> Reals:
        """Return the input of the trees for each protocol in a world of these features."""
        known = [features[name] for name in FEATURES]
        return np.array([[self.protocols.index(name), *known] for name in protocols], float)

    def predict(
        self, features: Mapping[str, float], protocols: Iterable[str], seconds: float
    ) -> dict[str, dict[str, Prediction]]:
        """Return the predictions of all metrics by protocol; `seconds` is the time that metrics count."""
        names = list(protocols)
        rows = self.rows(features, names)
        found: dict[str, dict[str, Prediction]] = {name: {} for name in names}
        for key, target in TARGETS.items():
            ends = [target.decode(each, seconds) for each in self.targets[key].intervals(rows)]
            for number, name in enumerate(names):
                found[name][key] = Prediction(*(float(each[number]) for each in ends))
        return found

    def rank_key(self, features: Mapping[str, float], protocol: str) -> float:
        """Return the number by which protocols are ranked, smallest first: the predicted shortfall."""
        return float(self.ranking.predict(self.rows(features, [protocol]))[0])

    def distance(self, features: Mapping[str, float]) -> Distance:
        """Return how far a world of these features is from the training worlds."""
        row = np.array([features[name] for name in FEATURES])
        ours, theirs = standardise(row[None], self.worlds)[0], standardise(self.worlds, self.worlds)
        value = near_distance(ours, theirs)
        usual = np.array([near_distance(each, theirs, skip=1) for each in theirs])
        low, high = self.worlds.min(axis=0), self.worlds.max(axis=0)
        outside = {
            name: (float(row[n]), float(low[n]), float(high[n]))
            for n, name in enumerate(FEATURES)
            if not low[n] <= row[n] <= high[n]
        }
        return Distance(value, float((usual < value).mean()), outside)

    def save(self, file: Path) -> None:
        """Write the model to a file; equal models give equal bytes."""
        about = {"protocols": self.protocols, "features": list(FEATURES), "means": self.means}
        arrays: dict[str, Any] = {"worlds": self.worlds.astype(np.float32)}
        for key, model in self.targets.items():
            arrays |= model.trees.to_arrays(f"{key}.trees", means=key == "delivery")
            arrays |= model.scale.to_arrays(f"{key}.scale", means=False)
            arrays[f"{key}.quantiles"] = model.quantiles
        arrays |= self.ranking.to_arrays("ranking", means=False)
        text = json.dumps(about | {"facts": self.facts}, sort_keys=True)
        np.savez_compressed(file, about=np.array(text), **arrays)

    @classmethod
    def load(cls, file: Path) -> AdvisorModel:
        """Return the model in a file."""
        with np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        about = json.loads(str(arrays["about"]))
        if about["features"] != list(FEATURES):
            raise ValueError(f"{file}: trained with other features; train again: roamcast advisor train")
        targets = {
            key: TargetModel(
                TreeEnsemble.from_arrays(arrays, f"{key}.trees"),
                TreeEnsemble.from_arrays(arrays, f"{key}.scale"),
                arrays[f"{key}.quantiles"],
            )
            for key in TARGETS
        }
        worlds = arrays["worlds"].astype(np.float64)
        ranking = TreeEnsemble.from_arrays(arrays, "ranking")
        return cls(about["protocols"], targets, ranking, worlds, about["means"], about["facts"])


@cache
def shipped_model() -> AdvisorModel:
    """Return the model that is shipped, read once."""
    return AdvisorModel.load(FILE)


def standardise(rows: Reals, worlds: Reals) -> Reals:
    """Return features with mean 0 and deviation 1 over `worlds`, after a logarithm that tames long tails."""
    known = np.log1p(worlds)
    spread = known.std(axis=0)
    return np.asarray((np.log1p(rows) - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def near_distance(row: Reals, worlds: Reals, skip: int = 0) -> float:
    """Return the mean distance to the nearest worlds, all standardised, without the `skip` nearest."""
    far = np.sqrt(((worlds - row) ** 2).mean(axis=1))
    return float(np.sort(far)[skip : skip + NEIGHBOURS].mean())
