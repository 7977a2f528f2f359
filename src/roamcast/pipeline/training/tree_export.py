"""Export of Spark's tree ensembles to flat arrays, by the text that Spark prints of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from roamcast.advisor.trees import LEAF, MOST_CATEGORIES, TreeEnsemble

_IF = re.compile(r"If \(feature (\d+) (?:<= (\S+)|in \{([^}]*)\})\)")
_TREE = re.compile(r"Tree \d+ \(weight (\S+)\):")


def export_trees(model: Any) -> TreeEnsemble:
    """Return a fitted model of Spark ML (gradient-boosted trees or random forest) as arrays."""
    text: str = model.toDebugString
    share = 1 / model.getNumTrees if "RandomForest" in text.partition(":")[0] else 1.0
    roots: list[int] = []
    nodes: list[list[float]] = []
    open_splits: list[int] = []
    weight = 1.0
    for line in (each.strip() for each in text.splitlines()[1:]):
        if found := _TREE.match(line):
            weight = float(found[1]) * share
            roots.append(len(nodes))
        elif found := _IF.match(line):
            bits = sum(1 << int(float(each)) for each in (found[3] or "").split(",") if each)
            if bits >= 1 << MOST_CATEGORIES:
                raise ValueError(f"a split of more than {MOST_CATEGORIES} categories")
            open_splits.append(len(nodes))
            nodes.append([int(found[1]), float(found[2] or 0), bits, 0, 0.0])
        elif line.startswith("Else"):
            nodes[open_splits.pop()][3] = len(nodes)
        elif line.startswith("Predict:"):
            nodes.append([LEAF, 0.0, 0, 0, weight * float(line.removeprefix("Predict:"))])
    feature, threshold, categories, right, value = zip(*nodes, strict=True)
    whole = np.int64
    return TreeEnsemble(
        np.array(roots, whole),
        np.array(feature, whole),
        np.array(threshold),
        np.array(categories, whole),
        np.array(right, whole),
        np.array(value),
    )
