"""Fitting of tree ensembles with Spark ML, in parallel, and their predictions for folds left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from roamcast.advisor.features import FEATURES
from roamcast.advisor.targets import TARGETS, Reals
from roamcast.advisor.trees import TreeEnsemble, join_trees
from roamcast.pipeline.training.forest_tasks import LEAF_SIZE, fit_forests
from roamcast.pipeline.training.tree_export import export_trees

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

FOLDS = 4
"Number of folds of the cross-validation; all rows of a world are in the same fold."

SHORTFALL = "shortfall"
"The target of the ranking: the best delivery rate in a world, less that of the protocol."

_BINS = 64
_SEED = 1


def boosted_trees(label: str) -> Any:
    """Return the estimator of gradient-boosted trees for the column `label`."""
    from pyspark.ml.regression import GBTRegressor

    return GBTRegressor(
        labelCol=label,
        maxIter=50,
        maxDepth=6,
        stepSize=0.15,
        subsamplingRate=0.7,
        featureSubsetStrategy="0.5",
        minInstancesPerNode=5,
        maxBins=_BINS,
        seed=_SEED,
    )


def random_forest(label: str) -> Any:
    """Return the estimator of a random forest for the column `label`."""
    from pyspark.ml.regression import RandomForestRegressor

    return RandomForestRegressor(
        labelCol=label,
        numTrees=40,
        maxDepth=8,
        featureSubsetStrategy="0.4",
        minInstancesPerNode=3,
        maxBins=_BINS,
        seed=_SEED,
    )


class Candidate(NamedTuple):
    """A kind of model that cross-validation compares."""

    estimator: Callable[[str], Any] | None
    "Returns the estimator of Spark ML for a column of labels; None for forests of scikit-learn."
    per_protocol: bool = False
    "Fit one model per protocol; otherwise the protocol is a feature of one model."
    joint: bool = False
    "Fit forests of scikit-learn whose leaves predict all protocols at once."
    leaf: int = LEAF_SIZE
    "Smallest number of rows (of worlds, if joint) of a leaf, of forests of scikit-learn."


CANDIDATES: dict[str, Candidate] = {
    "gradient-boosted trees of Spark ML, protocol as a feature": Candidate(boosted_trees),
    "random forest of Spark ML, protocol as a feature": Candidate(random_forest),
    "random forests of scikit-learn, one per protocol": Candidate(None, per_protocol=True),
    "random forest of scikit-learn for all protocols": Candidate(None, joint=True),
}
"The kinds of models that cross-validation compares, by name."

ERROR_SCALE = Candidate(None, joint=True, leaf=25)
"The model of the scale of errors: trees of large leaves."


class FitTask(NamedTuple):
    """A fit to do: the kind of model, the rows that it sees, and their labels."""

    candidate: Candidate
    rows: Reals
    "Protocol number and features."
    labels: Reals


def make_rows(table: pd.DataFrame, protocols: Sequence[str]) -> Reals:
    """Return the input of the trees for each row of a table: protocol number and features."""
    numbers = {name: number for number, name in enumerate(protocols)}
    category = table["protocol"].map(numbers).to_numpy(float)
    return np.column_stack([category, table[list(FEATURES)].to_numpy(float)])


def make_labels(table: pd.DataFrame, target: str) -> Reals:
    """Return a target on the scale of the models; NaN or infinite where a run has no value."""
    if target == SHORTFALL:
        best = table.groupby("world")["delivery_rate"].transform("max")
        return np.asarray((best - table["delivery_rate"]).to_numpy(float))
    values = table[TARGETS[target].metric].to_numpy(float)
    return TARGETS[target].encode(values, table["seconds"].to_numpy(float))


def fold_of(table: pd.DataFrame) -> Any:
    """Return the fold of each row, by world."""
    worlds = np.unique(table["world"])
    return (np.searchsorted(worlds, table["world"]) % FOLDS).astype(int)


def fit_all(
    spark: SparkSession,
    tasks: Sequence[FitTask],
    protocols: Sequence[str],
    say: Callable[[str], object] = lambda _: None,
) -> list[TreeEnsemble]:
    """Fit all tasks of one kind, as many at a time as the session has slots; return the trees in order."""
    if all(task.candidate.estimator is None for task in tasks):
        valid = [(task, np.isfinite(task.labels)) for task in tasks]
        kind = tasks[0].candidate
        given = [(task.rows[own], task.labels[own]) for task, own in valid]
        found = fit_forests(spark, given, kind.leaf, joint=kind.joint)
        say(f"{len(tasks)} of {len(tasks)} models fitted")
        return found
    done = 0

    def work(task: FitTask) -> TreeEnsemble:
        nonlocal done
        fitted = _fit_task(spark, task, protocols)
        done += 1
        say(f"{done} of {len(tasks)} models fitted")
        return fitted

    with ThreadPoolExecutor(max(1, spark.sparkContext.defaultParallelism)) as pool:
        return list(pool.map(work, tasks))


def _fit_task(spark: SparkSession, task: FitTask, protocols: Sequence[str]) -> TreeEnsemble:
    estimator = task.candidate.estimator
    if estimator is None:
        raise ValueError("fits of scikit-learn and of Spark ML in one call")
    valid = np.isfinite(task.labels)
    rows, labels = task.rows[valid], task.labels[valid]
    if not task.candidate.per_protocol:
        return _fit(spark, estimator, rows, labels, protocols).with_means(rows)
    fitted = []
    for number in range(len(protocols)):
        own = rows[:, 0] == number
        trees = _fit(spark, estimator, rows[own], labels[own], protocols)
        fitted.append(trees.only_for(0, number))
    return join_trees(fitted).with_means(rows)


def _fit(
    spark: SparkSession,
    estimator: Callable[[str], Any],
    rows: Reals,
    labels: Reals,
    protocols: Sequence[str],
) -> TreeEnsemble:
    import pandas as pd
    from pyspark.ml.feature import StringIndexerModel, VectorAssembler

    frame = pd.DataFrame(rows[:, 1:], columns=list(FEATURES))
    frame["protocol"] = [protocols[int(number)] for number in rows[:, 0]]
    frame["label"] = labels
    indexer = StringIndexerModel.from_labels(list(protocols), inputCol="protocol", outputCol="number")
    assembler = VectorAssembler(inputCols=["number", *FEATURES], outputCol="features")
    table = spark.createDataFrame(frame).coalesce(1)
    prepared = assembler.transform(indexer.transform(table)).select("features", "label").persist()
    try:
        return export_trees(estimator("label").fit(prepared))
    finally:
        prepared.unpersist()
