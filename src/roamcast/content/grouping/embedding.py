"""Subscriptions of one event type as rows of a matrix that follows additions and removals.

The columns are those of `roamcast.content.grouping.features`, with the weights of the papers: a field's
weight grows with its variation among the current rows. Means and deviations are kept as running sums, so the
cost of a row does not depend on the number of rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roamcast.content.box.conjunction import fields_of
from roamcast.content.box.range_set import RangeSet
from roamcast.content.filter import Filter
from roamcast.content.grouping.features import Matrix, columns
from roamcast.content.schema import EventType


class Embedding:
    """A matrix with one row per filter; the rows of removed filters are reused."""

    def __init__(self, type: EventType) -> None:
        self.type = type
        self._ends: list[tuple[float, float] | None] = [None] * len(type.fields)
        "The lowest and highest bound in the subscriptions, for each ordered field."
        self._starts = [0]
        for place in range(len(type.fields)):
            self._starts.append(self._starts[-1] + len(columns(type.fields[place].kind, None, (0.0, 1.0))))
        self.width = max(1, self._starts[-1])
        self.rows: Matrix = np.zeros((16, self.width))
        self._filters: list[Filter | None] = [None] * 16
        self._free = list(range(15, -1, -1))
        self._count = 0
        self._sums: npt.NDArray[np.float64] = np.zeros(self.width)
        self._squares: npt.NDArray[np.float64] = np.zeros(self.width)
        self.scale = 0
        "Incremented whenever all rows were recomputed."

    def add(self, filter: Filter) -> int:
        """Add a filter; return its row."""
        if not self._free:
            self._grow()
        row = self._free.pop()
        self._filters[row] = filter
        self._count += 1
        if self._stretch(filter):
            self._embed_all()
        else:
            self.rows[row] = self.embed(filter)
            self._sums += self.rows[row]
            self._squares += self.rows[row] ** 2
        return row

    def remove(self, row: int) -> None:
        """Remove a row."""
        self._sums -= self.rows[row]
        self._squares -= self.rows[row] ** 2
        self._filters[row] = None
        self._free.append(row)
        self._count -= 1

    def live(self, first: int, count: int) -> list[int]:
        """Return up to `count` used rows, from `first` on and wrapping around."""
        size = len(self._filters)
        found: list[int] = []
        for step in range(min(size, 4 * count)):
            row = (first + step) % size
            if self._filters[row] is not None:
                found.append(row)
                if len(found) == count:
                    break
        return found

    def distances(self, points: Matrix, others: Matrix) -> Matrix:
        """Return the distances from each point to each of the others with the current weights."""
        weights = self._weights()
        between = points[:, None, :] - others[None, :, :]
        found: Matrix = np.sqrt((between * between * weights).sum(axis=2))
        return found

    def _weights(self) -> npt.NDArray[np.float64]:
        """Return the weight of each column: the mean deviation of the columns of its field."""
        count = max(1, self._count)
        variance = np.maximum(self._squares / count - (self._sums / count) ** 2, 0.0)
        deviation = np.sqrt(np.where(variance > 1e-12, variance, 0.0))
        weights = np.zeros(self.width)
        for first, last in zip(self._starts, self._starts[1:], strict=False):
            if last > first:
                weights[first:last] = deviation[first:last].mean()
        return weights

    def _stretch(self, filter: Filter) -> bool:
        """Extend the scale of each field to the bounds of a filter; return whether any scale changed."""
        grown = False
        for box in filter.conjunctions:
            for place, domain in fields_of(box):
                if not isinstance(domain, RangeSet) or self.type.fields[place].kind.name == "enumeration":
                    continue
                everything = self.type.everything[place].spans[0]  # type: ignore[union-attr]
                for end in (end for span in domain.spans for end in span if end not in everything):
                    low, high = self._ends[place] or (float(end), float(end))
                    if not low <= end <= high or self._ends[place] is None:
                        self._ends[place] = (min(low, float(end)), max(high, float(end)))
                        grown = True
        return grown

    def embed(self, filter: Filter) -> npt.NDArray[np.float64]:
        """Return the vector of any filter, whether or not it is a row of the matrix."""
        row = np.zeros(self.width)
        for box in filter.conjunctions:
            given = dict(box)
            for place, field in enumerate(self.type.fields):
                ends = self._ends[place] or (0.0, 1.0)
                first, last = self._starts[place], self._starts[place + 1]
                row[first:last] += columns(field.kind, given.get(place), ends)
        return row / len(filter.conjunctions)

    def _embed_all(self) -> None:
        self.scale += 1
        there = [n for n, filter in enumerate(self._filters) if filter is not None]
        for row in there:
            filter = self._filters[row]
            assert filter is not None
            self.rows[row] = self.embed(filter)
        self._sums = self.rows[there].sum(axis=0)
        self._squares = (self.rows[there] ** 2).sum(axis=0)

    def _grow(self) -> None:
        size = len(self._filters)
        self.rows = np.vstack([self.rows, np.zeros((size, self.width))])
        self._filters += [None] * size
        self._free = list(range(2 * size - 1, size - 1, -1))
