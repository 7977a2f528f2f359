"""Random forests of scikit-learn, fitted in Spark tasks: one task per fit.

A fit has one forest per protocol, or one forest whose leaves predict all protocols at once.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roamcast.advisor.targets import Reals
from roamcast.advisor.trees import LEAF, TreeEnsemble, join_trees
from roamcast.fingerprint import checked
from roamcast.pipeline.spark.executors import one_per_partition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAF_SIZE = 3
"Smallest number of rows of a leaf of a forest that predicts a metric."

_FITTED = pa.schema([("number", pa.int64()), ("trees", pa.binary())])


def fit_forests(
    spark: SparkSession, tasks: Sequence[tuple[Reals, Reals]], leaf: int = LEAF_SIZE, *, joint: bool = False
) -> list[TreeEnsemble]:
    """Return the trees for each task (rows with the protocol number first, and labels), in order.

    `leaf` is the smallest number of rows of a leaf; of worlds if a forest predicts all protocols (`joint`).
    """
    fit = fit_jointly if joint else fit_per_protocol
    items = [(number, fit, *task, leaf) for number, task in enumerate(tasks)]
    frame = one_per_partition(spark, items).mapInArrow(checked(fit_batches), "number long, trees binary")
    found = {row["number"]: pickle.loads(row["trees"]) for row in frame.toArrow().to_pylist()}
    return [found[number] for number in range(len(tasks))]


def fit_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the fitted trees of each task in the batches (pickled in the column `item`)."""
    for batch in batches:
        for item in batch["item"].to_pylist():
            number, fit, *task = pickle.loads(item)
            row = {"number": number, "trees": pickle.dumps(fit(*task))}
            yield pa.RecordBatch.from_pylist([row], _FITTED)


def fit_per_protocol(rows: Reals, labels: Reals, leaf: int = LEAF_SIZE) -> TreeEnsemble:
    """Return one forest per protocol (first column of `rows`), joined to one ensemble."""
    from sklearn.ensemble import RandomForestRegressor

    fitted = []
    for protocol in np.unique(rows[:, 0]):
        own = rows[:, 0] == protocol
        forest = RandomForestRegressor(
            n_estimators=40, max_depth=9, min_samples_leaf=leaf, max_features=0.4, random_state=1
        )
        forest.fit(rows[own][:, 1:].astype(np.float32), labels[own])
        fitted.append(export_forest(forest).only_for(0, int(protocol)))
    return join_trees(fitted).with_means(rows)


def fit_jointly(rows: Reals, labels: Reals, leaf: int = LEAF_SIZE) -> TreeEnsemble:
    """Return one forest that predicts all protocols (first column of `rows`) from the other columns.

    A pair of a world and a protocol without a label counts as the sum of the means of both.
    """
    from sklearn.ensemble import RandomForestRegressor

    worlds, world = np.unique(rows[:, 1:], axis=0, return_inverse=True)
    protocol = rows[:, 0].astype(np.int64)
    wanted = np.full((len(worlds), protocol.max() + 1), np.nan)
    wanted[world.ravel(), protocol] = labels
    usual = np.nanmean(wanted, axis=0)
    wanted = np.where(np.isnan(wanted), usual + np.nanmean(wanted - usual, axis=1, keepdims=True), wanted)
    forest = RandomForestRegressor(
        n_estimators=60, max_depth=12, min_samples_leaf=leaf, max_features=0.4, random_state=1
    )
    return export_forest(forest.fit(worlds.astype(np.float32), wanted))


def export_forest(forest: Any) -> TreeEnsemble:
    """Return a fitted forest of scikit-learn, whose features are numbered from 1, as arrays."""
    share = 1 / len(forest.estimators_)
    return join_trees(_export(each.tree_, share) for each in forest.estimators_)


def _export(tree: Any, share: float) -> TreeEnsemble:
    inner = tree.children_left >= 0
    if not (tree.children_left[inner] == np.flatnonzero(inner) + 1).all():
        raise ValueError("a left child that does not follow its parent")
    return TreeEnsemble(
        np.zeros(1, np.int64),
        np.where(inner, tree.feature + 1, LEAF).astype(np.int64),
        np.where(inner, tree.threshold, 0.0),
        np.zeros(tree.node_count, np.int64),
        np.where(inner, tree.children_right, 0).astype(np.int64),
        share * (tree.value[:, 0, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]),
    )
