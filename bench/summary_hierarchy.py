"""Hierarchical summaries, the future work of Yoneki and Bacon's first paper: comparisons, bytes and noise.

The summaries of brokers are the lowest level. A summary of a higher level is the union of some summaries
below it, so whatever one of these admits it admits, too: an event that it does not admit needs no comparison
with them. `python -m bench.summary_hierarchy`
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rich.console import Console
from rich.table import Table

from bench.loads import Realistic
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest, Summary
from roamcast.content.summary.codec import length

BROKERS, SUBSCRIPTIONS, EVENTS = 60, 5, 2000


class SummaryHierarchy:
    """Summaries in levels, each level the union of at most `fanout` summaries of the one below."""

    def __init__(self, leaves: Sequence[Summary], fanout: int) -> None:
        if fanout < 2:
            raise ValueError(f"fanout = {fanout}: expected at least 2")
        self.levels = [list(leaves)]
        "The summaries of each level, the given ones first."
        self._below: list[list[list[int]]] = []
        "For each higher level and summary, the places of the summaries that it unites."
        while len(self.levels[-1]) > fanout:
            united, below = _unite(self.levels[-1], fanout)
            self.levels.append(united)
            self._below.append(below)

    def admitting(self, digest: EventDigest | Event) -> tuple[list[int], int]:
        """Return the places of the given summaries that admit an event, and the number of comparisons."""
        if isinstance(digest, Event):
            digest = EventDigest.of(digest)
        places, compared = list(range(len(self.levels[-1]))), 0
        for depth in range(len(self.levels) - 1, -1, -1):
            level = self.levels[depth]
            compared += len(places)
            places = [place for place in places if level[place].admits(digest)]
            if depth:
                places = [each for place in places for each in self._below[depth - 1][place]]
        return sorted(places), compared

    def brokers_by_top(self, digest: EventDigest) -> list[int]:
        """Return the places of the given summaries below those of the top that admit an event."""
        places = [n for n, summary in enumerate(self.levels[-1]) if summary.admits(digest)]
        for below in reversed(self._below):
            places = [each for place in places for each in below[place]]
        return places

    def sizes(self) -> list[int]:
        """Return the encoded size of each level [bytes]."""
        return [sum(map(length, level)) for level in self.levels]


def _unite(summaries: Sequence[Summary], fanout: int) -> tuple[list[Summary], list[list[int]]]:
    """Return unions of up to `fanout` summaries that grow the least by it, and the places of each union."""
    left = list(range(len(summaries)))
    united: list[Summary] = []
    below: list[list[int]] = []
    while left:
        places = [left.pop(0)]
        union = summaries[places[0]]
        while left and len(places) < fanout:
            grown = {place: union.merge(summaries[place]) for place in left}
            nearest = min(left, key=lambda place: (length(grown[place]) - length(summaries[place]), place))
            union = grown[nearest]
            places.append(nearest)
            left.remove(nearest)
        united.append(union)
        below.append(places)
    return united, below


def quotes(r: Random, count: int, events: int = EVENTS) -> tuple[list[Filter], list[Event]]:
    """Subscriptions and events of the load `Realistic`."""
    load = Realistic(1)
    return [load.filter(r) for _ in range(count)], [load.event(r) for _ in range(events)]


def main() -> None:
    """Print a row for each number of levels."""
    r = Random(7)
    filters, events = quotes(r, BROKERS * SUBSCRIPTIONS)
    wanted = [filters[n * SUBSCRIPTIONS : (n + 1) * SUBSCRIPTIONS] for n in range(BROKERS)]
    leaves = [Summary.of(each) for each in wanted]
    digests = [EventDigest.of(event) for event in events]
    matching = sum(any(f.matches(event) for f in each) for each in wanted for event in events)
    table = Table(title=f"{BROKERS} brokers of {SUBSCRIPTIONS} subscriptions, {EVENTS} events")
    for column in ("levels", "comparisons an event", "bytes of all levels", "bytes of the top"):
        table.add_column(column, justify="right")
    table.add_column("brokers reached in vain an event, by the top alone", justify="right")
    for fanout in (BROKERS, 16, 8, 4, 2):
        tree = SummaryHierarchy(leaves, fanout)
        found = [tree.admitting(digest) for digest in digests]
        sizes = tree.sizes()
        reached = sum(len(tree.brokers_by_top(digest)) for digest in digests)
        table.add_row(
            f"{len(sizes)} (fan-out {fanout})",
            f"{sum(compared for _, compared in found) / EVENTS:.1f}",
            f"{sum(sizes)}",
            f"{sizes[-1]}",
            f"{(reached - matching) / EVENTS:.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
