"""The best summary for a number of bytes: what to give up first is what lets the least more through."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.summary.bloom import Shape
from roamcast.content.summary.codec import encode
from roamcast.content.summary.parts import Arithmetic, Enumerated, Part, Textual
from roamcast.content.summary.summary import Row, Summary, join_rows

LOOKUPS = 17
"Look-ups in each Bloom filter that the string of a usual event makes: its beginnings, or its endings."
USUAL = 100.0
"The size of a usual number."
LEAST_BITS = 32
TRIED = 3
"Of pairs of rows, and of fields, at each step."
SIZES = tuple(1 << n for n in range(13, 5, -1))
HASHES = (1, 2, 3, 4, 6)


def within(filters: Iterable[Filter], limit: int) -> Summary:
    """The summary of some filters in at most `limit` bytes that, as far as can be told, admits least."""
    given = list(filters)
    best: tuple[float, int, Summary] | None = None
    for hashes in HASHES:
        # Filters of one size are those of twice the size, folded: each size is tried on the way down.
        try:
            found = fit(Summary.of(given, Shape(SIZES[0], hashes)), limit)
        except ContentError:
            continue
        rank = (share(found), -hashes)
        if best is None or rank < best[:2]:
            best = (*rank, found)
    if best is None:
        raise ContentError(f"a summary of these event types does not fit in {limit} bytes")
    return best[2]


def fit(summary: Summary, limit: int) -> Summary:
    """The summary made coarser until it takes at most `limit` bytes."""
    size = len(encode(summary))
    while size > limit:
        before = share(summary)
        best: tuple[float, int, Summary] | None = None
        for n, coarser in enumerate(coarsenings(summary)):
            saved = size - len(encode(coarser))
            if saved > 0:
                cost = max(share(coarser) - before, 0.0) / min(saved, size - limit)
                if best is None or (cost, n) < best[:2]:
                    best = (cost, n, coarser)
        if best is None:
            coarsest = next(iter(coarsenings(summary)), None)
            if coarsest is None:
                raise ContentError(
                    f"a summary of {len(summary.rows)} event types does not fit in {limit} bytes"
                )
            best = (0.0, 0, coarsest)  # saves nothing by itself, and may what follows
        summary = best[2]
        size = len(encode(summary))
    return summary


def coarsenings(summary: Summary) -> Iterator[Summary]:
    """Summaries that admit at least as much: Bloom filters folded in half, two rows joined, a field let go.

    Of all rows and fields only a few are tried, those that promise to cost least: each try is encoded.
    """
    bits = summary.shape.bits
    parts = [
        (_part_share(part), name, number, place, isinstance(part, Textual))
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
    for _, name, n, m in heapq.nlargest(TRIED, pairs):
        rows = summary.rows[name]
        others = [each for place, each in enumerate(rows) if place not in (n, m)]
        yield _with(summary, name, [*others, join_rows(rows[n], rows[m])])
    for _, name, number, place, _ in heapq.nlargest(TRIED, parts):
        rows = summary.rows[name]
        looser = {p: part for p, part in rows[number].items() if p != place}
        yield _with(summary, name, [*rows[:number], looser, *rows[number + 1 :]])


def _with(summary: Summary, name: bytes, rows: list[Row]) -> Summary:
    by_fields: dict[frozenset[int], Row] = {}
    for row in rows:
        known = by_fields.get(frozenset(row))
        by_fields[frozenset(row)] = row if known is None else join_rows(known, row)
    ordered = tuple(dict(sorted(by_fields[fields].items())) for fields in sorted(by_fields, key=sorted))
    return Summary(summary.shape, summary.rows | {name: ordered}, summary.kinds)


def share(summary: Summary) -> float:
    """Roughly what share of events a summary admits, of each of its types, added up."""
    return sum(_row_share(row) for rows in summary.rows.values() for row in rows)


def _row_share(row: Row) -> float:
    found = 1.0
    for part in row.values():
        found *= _part_share(part)
    return found


def _part_share(part: Part) -> float:
    if isinstance(part, Enumerated):
        return part.bits.bit_count() / max(part.bits.bit_length(), 2)
    if isinstance(part, Arithmetic):
        length = sum(math.atan(high / USUAL) - math.atan(low / USUAL) for low, high in part.spans) / math.pi
        return min(1.0, max(length, 0.001))
    bits, hashes = part.shape.bits, part.shape.hashes
    left, right, words = (
        1 - (1 - (mask.bit_count() / bits) ** hashes) ** often if mask else 0.0
        for mask, often in ((part.left, LOOKUPS), (part.right, LOOKUPS), (part.words, 2 * LOOKUPS + 1))
    )
    return min(1.0, max(1 - (1 - words) * (1 - left * right), 1e-6))
