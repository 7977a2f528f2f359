"""Training of the advisor on Spark: choice of the model, calibration, evaluation and learning curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roamcast.advisor.features import FEATURES
from roamcast.advisor.model import COVERAGE, AdvisorModel, TargetModel
from roamcast.advisor.targets import TARGETS, Reals
from roamcast.advisor.trees import TreeEnsemble
from roamcast.errors import UserError
from roamcast.pipeline.training.evaluation import (
    by_world,
    choose_best,
    evaluate_model,
    regrets,
    summarise_regrets,
)
from roamcast.pipeline.training.fitting import (
    CANDIDATES,
    ERROR_SCALE,
    FOLDS,
    SHORTFALL,
    Candidate,
    FitTask,
    fit_all,
    fold_of,
    make_labels,
    make_rows,
)
from roamcast.pipeline.training.training_table import split_table
from roamcast.scenario.consistency import nearest

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

LEAST_WORLDS = 40
"Fewest training worlds."

CURVE = (50, 100, 200, 400, 800, 1600)
"Numbers of training worlds of the learning curve."

_SMALLEST_ERROR = 1e-3
"Smallest error when the scale of errors is learnt."

Say = Callable[[str], object]


def train(
    spark: SparkSession, table: pd.DataFrame, say: Say = lambda _: None, kind: str | None = None
) -> tuple[AdvisorModel, dict[str, Any]]:
    """Return the model of the training worlds in `table`, and its evaluation on the held-out worlds.

    `kind` is the candidate to use; by default cross-validation compares all and takes the best.
    """
    if kind is not None and kind not in CANDIDATES:
        raise UserError(f"model {kind!r}: {nearest(kind, CANDIDATES)}")
    training, held_out = split_table(table)
    count = training["world"].nunique()
    if count < LEAST_WORLDS or held_out.empty:
        raise UserError(f"{count} training worlds; expected at least {LEAST_WORLDS} and some held-out ones")
    trainer = _Trainer(spark, training, say)
    compared = trainer.compare(list(CANDIDATES) if kind is None else [kind])
    best = min(compared, key=lambda name: compared[name]["regret"])
    say(f"chosen by cross-validation: {best}")
    model = trainer.assemble(best)
    evaluation = evaluate_model(model, training, held_out)
    evaluation |= {"candidates": compared, "chosen": best, "training_worlds": count}
    evaluation["curve"] = trainer.learning_curve(best, held_out)
    return model, evaluation


class _Trainer:
    """The training worlds, and the predictions of models that were fitted without some of them."""

    def __init__(self, spark: SparkSession, training: pd.DataFrame, say: Say) -> None:
        self.spark = spark
        self.training = training
        self.say = say
        self.protocols = sorted(training["protocol"].unique())
        self.rows = make_rows(training, self.protocols)
        self.labels = {key: make_labels(training, key) for key in (*TARGETS, SHORTFALL)}
        self._compared: dict[str, dict[str, Reals]] = {}
        "Predictions for left-out folds, by candidate and target."

    def compare(self, names: list[str]) -> dict[str, dict[str, float]]:
        """Return regret and error of candidates in cross-validation."""
        found = {}
        for name in names:
            self.say(f"cross-validation: {name}")
            self._compared[name] = self._left_out(CANDIDATES[name], ["delivery", SHORTFALL])
            found[name] = self._judge(self._compared[name])
        return found

    def assemble(self, name: str) -> AdvisorModel:
        """Fit the final trees to all training worlds, and calibrate by the errors for left-out folds."""
        self.say("calibration")
        known = self._compared[name]
        left_out = known | self._left_out(CANDIDATES[name], [key for key in TARGETS if key not in known])
        errors = {key: self.labels[key] - left_out[key] for key in TARGETS}
        sizes = {key: np.log(np.maximum(np.abs(errors[key]), _SMALLEST_ERROR)) for key in TARGETS}
        tasks = [FitTask(CANDIDATES[name], self.rows, self.labels[key]) for key in (*TARGETS, SHORTFALL)]
        self.say("final models")
        *trees, ranking = self._fit(tasks)
        scales = self._fit([FitTask(ERROR_SCALE, self.rows, sizes[key]) for key in TARGETS])
        targets = {}
        for key, own, scale in zip(TARGETS, trees, scales, strict=True):
            valid = np.isfinite(errors[key])
            targets[key] = calibrate(own, scale, self.rows[valid], errors[key][valid])
        worlds = self.training.drop_duplicates("world")[list(FEATURES)].to_numpy(float)
        means = self.training.groupby("protocol")["delivery_rate"].mean()
        facts = {
            "worlds": len(worlds),
            "runs": len(self.training),
            "model": name,
            "versions": sorted(self.training["version"].unique()),
        }
        average = {protocol: float(means[protocol]) for protocol in self.protocols}
        return AdvisorModel(self.protocols, targets, ranking, worlds, average, facts)

    def learning_curve(self, name: str, held_out: pd.DataFrame) -> dict[str, dict[str, float]]:
        """Return the regret on held-out worlds by number of training worlds."""
        worlds = np.unique(self.training["world"])
        sizes = [size for size in CURVE if size < len(worlds)]
        inside = [self.training["world"].isin(worlds[:size]).to_numpy() for size in sizes]
        labels = self.labels[SHORTFALL]
        self.say("learning curve")
        fitted = self._fit([FitTask(CANDIDATES[name], self.rows[own], labels[own]) for own in inside])
        actual = by_world(held_out, held_out["delivery_rate"])
        rows = make_rows(held_out, self.protocols)
        found = {}
        for size, trees in zip(sizes, fitted, strict=True):
            chosen = choose_best(by_world(held_out, -trees.predict(rows)))
            found[str(size)] = summarise_regrets(regrets(actual, chosen))
        return found

    def _fit(self, tasks: Sequence[FitTask]) -> list[TreeEnsemble]:
        return fit_all(self.spark, tasks, self.protocols, self.say)

    def _left_out(self, candidate: Candidate, keys: list[str]) -> dict[str, Reals]:
        """Return for each target the prediction of each row by trees that were fitted without its fold."""
        folds = fold_of(self.training)
        places = [(key, fold) for key in keys for fold in range(FOLDS)]
        tasks = [
            FitTask(candidate, self.rows[folds != fold], self.labels[key][folds != fold])
            for key, fold in places
        ]
        found = {key: np.full(len(self.rows), np.nan) for key in keys}
        for (key, fold), trees in zip(places, self._fit(tasks), strict=True):
            found[key][folds == fold] = trees.predict(self.rows[folds == fold])
        return found

    def _judge(self, left_out: dict[str, Reals]) -> dict[str, float]:
        """Return regret and error of predictions for left-out folds."""
        actual = by_world(self.training, self.labels["delivery"])
        by_shortfall = choose_best(by_world(self.training, -left_out[SHORTFALL]))
        by_delivery = choose_best(by_world(self.training, left_out["delivery"]))
        errors = self.labels["delivery"] - left_out["delivery"]
        return summarise_regrets(regrets(actual, by_shortfall)) | {
            "regret_by_delivery": float(regrets(actual, by_delivery).mean()),
            "rmse": float(np.sqrt((errors**2).mean())),
        }


def calibrate(trees: TreeEnsemble, scale: TreeEnsemble, rows: Reals, errors: Reals) -> TargetModel:
    """Return the model whose intervals contain `COVERAGE` of the `errors` for left-out folds."""
    middle, _, upper = TargetModel(trees, scale, (0.0, 1.0)).intervals(rows)
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(errors / (upper - middle), [tail, 1 - tail])
    return TargetModel(trees, scale, (float(low), float(high)))
