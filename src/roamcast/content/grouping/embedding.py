"""Subscriptions of one event type as rows of numbers that come and go, with the papers' weights.

The columns are those of `roamcast.content.grouping.features`. A field's weight grows with how much it varies
among the rows that are there. Means and deviations are kept by sums, so one more row costs the same however
many there are.
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
    """Rows of numbers for filters; a row that was removed is used again."""

    def __init__(self, type: EventType) -> None:
        self.type = type
        self._ends: list[tuple[float, float] | None] = [None] * len(type.fields)
        "The least and the greatest bound that subscriptions have named, of fields with an order."
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
        "Rises when rows have been made anew."

    def add(self, filter: Filter) -> int:
        """The row of a filter."""
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
        """Forget a row."""
        self._sums -= self.rows[row]
        self._squares -= self.rows[row] ** 2
        self._filters[row] = None
        self._free.append(row)
        self._count -= 1

    def live(self, first: int, count: int) -> list[int]:
        """Up to so many rows that are there, from `first` on and then from the beginning."""
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
        """From each point to each of the others, as the weights are now."""
        weights = self._weights()
        between = points[:, None, :] - others[None, :, :]
        found: Matrix = np.sqrt((between * between * weights).sum(axis=2))
        return found

    def _weights(self) -> npt.NDArray[np.float64]:
        """The mean deviation of each field's columns: large where it tells rows apart."""
        count = max(1, self._count)
        variance = np.maximum(self._squares / count - (self._sums / count) ** 2, 0.0)
        deviation = np.sqrt(np.where(variance > 1e-12, variance, 0.0))
        weights = np.zeros(self.width)
        for first, last in zip(self._starts, self._starts[1:], strict=False):
            if last > first:
                weights[first:last] = deviation[first:last].mean()
        return weights

    def _stretch(self, filter: Filter) -> bool:
        """Have the scale of each field hold what a filter names; say whether any had to grow."""
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
        """The numbers of a filter, which need not be a row."""
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
