"""The best summary for a number of bytes: what to give up first is what lets the least more through."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.summary.bloom import Shape
from roamcast.content.summary.codec import length
from roamcast.content.summary.parts import Textual
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.summary.summary import Row, Summary, collect, join_rows

LEAST_BITS = 32
TRIED = 3
"Of pairs of rows, and of fields, at each step."
LARGEST = 1 << 13
HASHES = (1, 2, 3, 4, 6, 8)


def within(filters: Iterable[Filter], limit: int) -> Summary:
    """The summary of some filters in at most `limit` bytes that, as far as can be told, admits least."""
    given = list(filters)
    selectivity = Selectivity(given)
    best: tuple[float, int, int, Summary] | None = None
    for hashes in HASHES:
        for apart in (False, True):
            # Filters of one size are those of twice the size, folded: each size is tried on the way down.
            try:
                start = Summary.of(given, Shape(LARGEST, hashes), apart=apart)
                found = Fitting(selectivity).fit(start, limit)
            except ContentError:
                continue
            rank = (selectivity.weight(found), apart, -hashes)
            if best is None or rank < best[:3]:
                best = (*rank, found)
    if best is None:
        raise ContentError(f"a summary of these event types does not fit in {limit} bytes")
    return best[3]


def fit(summary: Summary, limit: int) -> Summary:
    """The summary made coarser until it takes at most `limit` bytes."""
    return Fitting(Selectivity()).fit(summary, limit)


class Fitting:
    """Makes a summary coarser, step by step."""

    def __init__(self, selectivity: Selectivity) -> None:
        self._selectivity = selectivity
        self._losses: dict[tuple[int, int], tuple[float, Row, Row]] = {}
        "What joining two rows would let through besides, by identity; the rows are kept so that it is one."

    def fit(self, summary: Summary, limit: int) -> Summary:
        """The summary made coarser until it takes at most `limit` bytes."""
        weight = self._selectivity.weight
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
                best = (0.0, 0, coarsest)  # saves nothing by itself, and may what follows
            summary = best[2]
            size = length(summary)
        return summary

    def coarsenings(self, summary: Summary) -> Iterator[Summary]:
        """Summaries that admit at least as much: Bloom filters folded, two rows joined, a field let go.

        Of all rows and fields only a few are tried, those that promise to cost least.
        """
        bits = summary.shape.bits
        parts = [
            (self._selectivity.part(name, place, part), name, number, place, isinstance(part, Textual))
            for name, rows in summary.rows.items()
            for number, row in enumerate(rows)
            for place, part in row.items()
        ]
        if bits % 2 == 0 and bits > LEAST_BITS and any(text for *_, text in parts):
            yield summary.folded()
        pairs = [
            (len(a.keys() & b.keys()) - max(len(a), len(b)), name, n, m)
            for name, rows in summary.rows.items()
            for n, a in enumerate(rows)
            for m, b in enumerate(rows[:n])
        ]
        # What joining costs is worked out only for those that share the most fields.
        most = max((overlap for overlap, *_ in pairs), default=0)
        closest = [pair for pair in pairs if pair[0] == most]
        if len(closest) < TRIED:
            closest = heapq.nlargest(TRIED, pairs)
        ranked = [
            (overlap, -self._loss(name, summary.rows[name][n], summary.rows[name][m]), name, n, m)
            for overlap, name, n, m in closest
        ]
        for _, _, name, n, m in heapq.nlargest(TRIED, ranked):
            rows = summary.rows[name]
            others = [each for place, each in enumerate(rows) if place not in (n, m)]
            yield _with(summary, name, [*others, join_rows(rows[n], rows[m])])
        for _, name, number, place, _ in heapq.nlargest(TRIED, parts):
            rows = summary.rows[name]
            looser = {p: part for p, part in rows[number].items() if p != place}
            yield _with(summary, name, [*rows[:number], looser, *rows[number + 1 :]])

    def _loss(self, name: bytes, one: Row, other: Row) -> float:
        key = (id(one), id(other))
        held = self._losses.get(key)
        if held is None:
            row = self._selectivity.row
            loss = row(name, join_rows(one, other)) - row(name, one) - row(name, other)
            held = self._losses[key] = (loss, one, other)
        return held[0]


def coarsenings(summary: Summary) -> Iterator[Summary]:
    """Summaries that admit at least as much, as far as can be told without knowing the subscriptions."""
    return Fitting(Selectivity()).coarsenings(summary)


def _with(summary: Summary, name: bytes, rows: list[Row]) -> Summary:
    return Summary(summary.shape, summary.rows | {name: collect(rows, summary.apart)}, summary.kinds)
