"""Search for the most selective summary within a size limit, by greedy coarsening."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from roamcast.content.box.range_set import thin
from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.codec import length, row_length
from roamcast.content.summary.false_positives import FalsePositiveSample
from roamcast.content.summary.parts import NumericPart, StringPart
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.summary.summary import Row, Summary, collect, join_rows

LEAST_BITS = 32
TRIED = 12
"Number of row changes that are tried at each step."
LARGEST = 1 << 13
HASHES = (1, 2, 3, 4, 6)

Key: TypeAlias = tuple[tuple[int, int], ...]
"A row by the identity of its parts."
Change: TypeAlias = tuple[float, int, tuple[int, ...], Row]
"Admitted share per saved byte, negative bytes saved, row numbers, and the row that replaces them."


def within(filters: Iterable[Filter], limit: int) -> Summary:
    """Return the summary of some filters in at most `limit` bytes with the fewest estimated false
    positives.
    """
    given = list(filters)
    sample = FalsePositiveSample(given)
    best: tuple[float, int, int, Summary] | None = None
    for hashes, apart in product(HASHES, (False, True)):
        # Folding a Bloom filter of twice the size gives the smaller one, so each size is tried on the way
        # down.
        try:
            start = Summary.of(given, BloomShape(LARGEST, hashes), apart=apart)
            found = SummaryFitter(sample).fit(start, limit)
        except ContentError:
            continue
        rank = (sample.weight(found), apart, -hashes)
        if best is None or rank < best[:3]:
            best = (*rank, found)
    if best is None:
        raise ContentError(f"a summary of these event types does not fit in {limit} bytes")
    return best[3]


def fit(summary: Summary, limit: int) -> Summary:
    """Return the summary, coarsened until it takes at most `limit` bytes."""
    return SummaryFitter(Selectivity()).fit(summary, limit)


class SummaryFitter:
    """Coarsens a summary step by step."""

    def __init__(self, judge: Selectivity | FalsePositiveSample) -> None:
        self._judge = judge
        self._changes: dict[tuple[Key, ...], list[tuple[float, int, Row]]] = {}
        "Possible replacements of one row or of two rows."
        self._rows: list[Row] = []
        "All rows examined, kept so that the identities of their parts stay valid."

    def fit(self, summary: Summary, limit: int) -> Summary:
        """Return the summary, coarsened until it takes at most `limit` bytes."""
        weight = self._judge.weight
        size = length(summary)
        while size > limit:
            before = weight(summary)
            best: tuple[float, int, Summary] | None = None
            for n, coarser in enumerate(self.coarsenings(summary)):
                saved = size - length(coarser)
                if saved > 0:
                    cost = max(weight(coarser) - before, 0.0) / min(saved, size - limit)
                    if best is None or (cost, n) < best[:2]:
                        best = (cost, n, coarser)
            if best is None:
                coarsest = next(iter(self.coarsenings(summary)), None)
                if coarsest is None:
                    raise ContentError(
                        f"a summary of {len(summary.rows)} event types does not fit in {limit} bytes"
                    )
                best = (0.0, 0, coarsest)  # saves nothing itself, but later steps may
            summary = best[2]
            size = length(summary)
        return summary

    def coarsenings(self, summary: Summary) -> Iterator[Summary]:
        """Yield summaries that admit at least as much: with folded Bloom filters, or with wider rows.

        Only the few row changes with the lowest estimated cost are tried.
        """
        bits = summary.shape.bits
        texts = any(
            isinstance(part, StringPart)
            for rows in summary.rows.values()
            for row in rows
            for part in row.values()
        )
        if bits % 2 == 0 and bits > LEAST_BITS and texts:
            yield summary.folded()
        for name, rows in summary.rows.items():
            for _, _, numbers, row in heapq.nsmallest(TRIED, self._all(name, rows), key=lambda c: c[:3]):
                others = [each for number, each in enumerate(rows) if number not in numbers]
                yield _with(summary, name, [*others, row])

    def _all(self, name: bytes, rows: Sequence[Row]) -> Iterator[Change]:
        keys = [tuple((place, id(part)) for place, part in row.items()) for row in rows]
        for n, one in enumerate(rows):
            for cost, saved, row in self._find(name, (keys[n],), (one,)):
                yield cost, -saved, (n,), row
            for m in range(n):
                for cost, saved, row in self._find(name, (keys[n], keys[m]), (one, rows[m])):
                    yield cost, -saved, (m, n), row

    def _find(
        self, name: bytes, keys: tuple[Key, ...], rows: tuple[Row, ...]
    ) -> list[tuple[float, int, Row]]:
        found = self._changes.get(keys)
        if found is None:
            self._rows += rows
            size = sum(map(row_length, rows))
            looser = [join_rows(*rows)] if len(rows) == 2 else _looser(*rows)
            found = self._changes[keys] = []
            for row in looser:
                saved = size - row_length(row)
                if saved > 0:
                    found.append((max(self._judge.loss(name, rows, row), 0.0) / saved, saved, row))
        return found


def _looser(row: Row) -> list[Row]:
    """Return variants of a row without one field, or with the two closest sub-ranges of a field joined."""
    found = [{p: part for p, part in row.items() if p != place} for place in row]
    for place, part in row.items():
        if isinstance(part, NumericPart) and len(part.spans) > 1:
            spans = thin(part.spans, len(part.spans) - 1)
            found.append({**row, place: NumericPart(spans, part.absent)})
    return found


def coarsenings(summary: Summary) -> Iterator[Summary]:
    """Yield coarser summaries, chosen without knowledge of the subscriptions."""
    return SummaryFitter(Selectivity()).coarsenings(summary)


def _with(summary: Summary, name: bytes, rows: list[Row]) -> Summary:
    return Summary(
        summary.shape, summary.rows | {name: collect(rows, summary.has_separate_rows)}, summary.kinds
    )
