"""Ensembles of regression trees as flat arrays, evaluated with NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

LEAF = -1
"The feature of a leaf."

MOST_CATEGORIES = 63
"Maximum number of categories of a feature: a split stores those of its left branch as bits."


_WHOLE = ("roots", "feature", "categories", "right")
"The arrays of whole numbers."


class TreeEnsemble(NamedTuple):
    """The weighted sum of regression trees; a node is a row, and the left child follows its parent."""

    roots: Whole
    "Row of the root of each tree."
    feature: Whole
    "Index of the feature that a node compares; `LEAF` in a leaf."
    threshold: Reals
    "A row goes left if its value is at most this."
    categories: Whole
    "For a split by category: bits of the categories that go left; 0 for a split by threshold."
    right: Whole
    "Row of the right child."
    value: Reals
    """Weighted prediction of a leaf; in an inner node the mean over the training rows that reach it. Trees
    that predict all categories of the first feature at once have a column per category."""

    def leaves(self, rows: Reals) -> Whole:
        """Return the leaf that each row of features reaches in each tree: row, tree."""
        at = np.tile(self.roots, len(rows))
        number = np.repeat(np.arange(len(rows)), len(self.roots))
        active = np.flatnonzero(self.feature[at] != LEAF)
        while len(active):
            here = at[active]
            value = rows[number[active], self.feature[here]]
            categories = self.categories[here]
            chosen = (categories >> np.where(categories > 0, value, 0).astype(np.int64)) & 1 == 1
            left = np.where(categories > 0, chosen, value <= self.threshold[here])
            at[active] = np.where(left, here + 1, self.right[here])
            active = active[self.feature[at[active]] != LEAF]
        return at.reshape(len(rows), len(self.roots))

    def predict(self, rows: Reals) -> Reals:
        """Return the prediction for each row of features."""
        leaves = self.leaves(rows)
        if self.value.ndim == 1:
            return np.asarray(self.value[leaves].sum(axis=1))
        return np.asarray(self.value[leaves, rows[:, :1].astype(np.int64)].sum(axis=1))

    def contributions(self, row: Reals) -> tuple[float, Reals]:
        """Return the mean prediction, and what each feature adds to it along the paths of `row`.

        Their sum is the prediction: each split adds the difference between child and parent.
        """
        added = np.zeros(len(row))
        value = self.value if self.value.ndim == 1 else self.value[:, int(row[0])]
        for root in self.roots:
            at = int(root)
            while (feature := int(self.feature[at])) != LEAF:
                if self.categories[at] > 0:
                    left = bool(self.categories[at] >> int(row[feature]) & 1)
                else:
                    left = bool(row[feature] <= self.threshold[at])
                child = at + 1 if left else int(self.right[at])
                added[feature] += value[child] - value[at]
                at = child
        return float(value[self.roots].sum()), added

    def with_means(self, rows: Reals) -> TreeEnsemble:
        """Return the trees with the values of inner nodes set to the means over the training `rows`."""
        counts = np.zeros(len(self.value))
        for leaf in self.leaves(rows).T:
            counts += np.bincount(leaf, minlength=len(counts))
        sums = counts * self.value
        for at in range(len(self.value) - 1, -1, -1):
            if self.feature[at] != LEAF:
                counts[at] = counts[at + 1] + counts[self.right[at]]
                sums[at] = sums[at + 1] + sums[self.right[at]]
        inner = (self.feature != LEAF) & (counts > 0)
        value = self.value.copy()
        value[inner] = sums[inner] / counts[inner]
        return self._replace(value=value)

    def only_for(self, feature: int, category: int) -> TreeEnsemble:
        """Return trees that predict the same for rows of one category of a feature, and 0 for others."""
        starts, ends = self.roots, np.append(self.roots[1:], len(self.feature))
        parts: list[TreeEnsemble] = []
        for start, end in zip(starts, ends, strict=True):
            own = slice(int(start), int(end))
            size = int(end - start)
            whole = np.int64
            parts.append(
                TreeEnsemble(
                    np.zeros(1, whole),
                    np.concatenate([[feature], self.feature[own], [LEAF]]).astype(whole),
                    np.concatenate([[0.0], self.threshold[own], [0.0]]),
                    np.concatenate([[1 << category], self.categories[own], [0]]).astype(whole),
                    np.concatenate([[size + 1], self.right[own] - start + 1, [0]]).astype(whole),
                    np.concatenate([[0.0], self.value[own], [0.0]]),
                )
            )
        return join_trees(parts)

    def to_arrays(self, prefix: str, *, means: bool = True) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays in small types, by name; without `means`, values of inner nodes are left out."""
        inner = self.feature != LEAF
        offset = np.where(inner, self.right - np.arange(len(self.right)), 0)
        value = self.value.astype(np.float32)
        if not means:
            value[inner] = 0.0
        small: dict[str, npt.NDArray[Any]] = {
            "roots": self.roots.astype(np.int32),
            "feature": self.feature.astype(np.int16),
            "threshold": self.threshold.astype(np.float32),
            "categories": self.categories,
            "right": offset.astype(np.int16 if offset.max(initial=0) < 2**15 else np.int32),
            "value": value,
        }
        return {f"{prefix}.{name}": array for name, array in small.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> TreeEnsemble:
        """Return the ensemble of the arrays that `to_arrays` returned."""
        whole = {name: arrays[f"{prefix}.{name}"].astype(np.int64) for name in _WHOLE}
        whole["right"] += np.arange(len(whole["right"]))
        threshold, value = (arrays[f"{prefix}.{name}"].astype(np.float64) for name in ("threshold", "value"))
        return cls(threshold=threshold, value=value, **whole)


def join_trees(parts: Iterable[TreeEnsemble]) -> TreeEnsemble:
    """Return the trees of all ensembles as one ensemble, which predicts their sum."""
    found = list(parts)
    firsts = np.cumsum([0, *(len(part.feature) for part in found)])[:-1]
    return TreeEnsemble(
        np.concatenate([part.roots + first for part, first in zip(found, firsts, strict=True)]),
        np.concatenate([part.feature for part in found]),
        np.concatenate([part.threshold for part in found]),
        np.concatenate([part.categories for part in found]),
        np.concatenate([part.right + first for part, first in zip(found, firsts, strict=True)]),
        np.concatenate([part.value for part in found]),
    )
