"""Training of the advisor on Spark: choice of the model, calibration, evaluation and learning curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roamcast.advisor.features import FEATURES
from roamcast.advisor.model import COVERAGE, AdvisorModel, TargetModel, scale_errors
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
    spark: SparkSession,
    table: pd.DataFrame,
    say: Say = lambda _: None,
    kind: str | None = None,
    ranking: str | None = None,
) -> tuple[AdvisorModel, dict[str, Any]]:
    """Return the model of the training worlds in `table`, and its evaluation on the held-out worlds.

    `kind` is the candidate to use; by default cross-validation compares all and takes the best. `ranking` is
    the candidate that ranks protocols, by default the same.
    """
    chosen = [name for name in (kind, ranking) if name is not None]
    for name in chosen:
        if name not in CANDIDATES:
            raise UserError(f"model {name!r}: {nearest(name, CANDIDATES)}")
    training, held_out = split_table(table)
    count = training["world"].nunique()
    if count < LEAST_WORLDS or held_out.empty:
        raise UserError(f"{count} training worlds; expected at least {LEAST_WORLDS} and some held-out ones")
    trainer = _Trainer(spark, training, say)
    compared = trainer.compare(list(CANDIDATES) if kind is None else list(dict.fromkeys(chosen)))
    best = kind or min(compared, key=lambda name: compared[name]["regret"])
    say(f"chosen: {best}")
    ranked_by = ranking or best
    model = trainer.assemble(best, ranked_by)
    evaluation = evaluate_model(model, training, held_out)
    evaluation |= {"candidates": compared, "chosen": best, "training_worlds": count}
    evaluation["curve"] = trainer.learning_curve(ranked_by, held_out)
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
            labels = {key: self.labels[key] for key in ("delivery", SHORTFALL)}
            self._compared[name] = self._left_out(CANDIDATES[name], labels)
            found[name] = self._judge(self._compared[name])
        return found

    def assemble(self, name: str, ranking_name: str) -> AdvisorModel:
        """Fit the final trees to all training worlds, and calibrate by the errors for left-out folds."""
        self.say("calibration")
        known = self._compared[name]
        missing = {key: self.labels[key] for key in TARGETS if key not in known}
        left_out = known | self._left_out(CANDIDATES[name], missing)
        errors = {key: self.labels[key] - left_out[key] for key in TARGETS}
        sizes = {key: np.log(np.maximum(np.abs(errors[key]), _SMALLEST_ERROR)) for key in TARGETS}
        expected = self._left_out(ERROR_SCALE, sizes, scale_errors)
        tasks = [FitTask(CANDIDATES[name], self.rows, self.labels[key]) for key in TARGETS]
        self.say("final models")
        trees = self._fit(tasks)
        (ranking,) = self._fit([FitTask(CANDIDATES[ranking_name], self.rows, self.labels[SHORTFALL])])
        scales = self._fit([FitTask(ERROR_SCALE, self.rows, sizes[key]) for key in TARGETS])
        targets = {}
        for key, own, scale in zip(TARGETS, trees, scales, strict=True):
            quantiles = find_quantiles(self.rows[:, 0], errors[key] / expected[key], len(self.protocols))
            targets[key] = TargetModel(own, scale, quantiles)
        worlds = self.training.drop_duplicates("world")[list(FEATURES)].to_numpy(float)
        means = self.training.groupby("protocol")["delivery_rate"].mean()
        facts = {
            "worlds": len(worlds),
            "runs": len(self.training),
            "model": name,
            "ranking": ranking_name,
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

    def _left_out(
        self,
        candidate: Candidate,
        labels: Mapping[str, Reals],
        predict: Callable[[TreeEnsemble, Reals], Reals] = TreeEnsemble.predict,
    ) -> dict[str, Reals]:
        """Return for each target the prediction of each row by trees that were fitted without its fold."""
        folds = fold_of(self.training)
        places = [(key, fold) for key in labels for fold in range(FOLDS)]
        tasks = [
            FitTask(candidate, self.rows[folds != fold], labels[key][folds != fold]) for key, fold in places
        ]
        found = {key: np.full(len(self.rows), np.nan) for key in labels}
        for (key, fold), trees in zip(places, self._fit(tasks), strict=True):
            found[key][folds == fold] = predict(trees, self.rows[folds == fold])
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


def find_quantiles(protocol: Reals, errors: Reals, count: int) -> Reals:
    """Return the lower and upper end of the interval that contains `COVERAGE` of the errors of each protocol.

    `errors` are those of predictions for left-out folds, divided by scales for left-out folds; infinite and
    missing ones do not count. The ends are those of conformal prediction: of n errors, a new one of the same
    distribution is inside with probability of at least `COVERAGE`.
    """
    tail = (1 - COVERAGE) / 2
    found = np.zeros((count, 2))
    for number in range(count):
        own = np.sort(errors[(protocol == number) & np.isfinite(errors)])
        last = len(own) - 1
        rank = min(int(np.ceil((len(own) + 1) * (1 - tail))) - 1, last)
        found[number] = own[last - rank], own[rank]
    return found
