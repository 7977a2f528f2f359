"""Completed and outstanding deliveries of a publisher, for protocols that keep the publication order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping


class DeliveryBacklog:
    """The deliveries of one publisher, and those that were outstanding at the end of the run."""

    def __init__(
        self,
        publisher: int,
        expected: Iterable[tuple[int, int]],
        delivered: Mapping[tuple[int, int], float],
    ) -> None:
        self.latest: dict[int, int] = {}
        "The last publication delivered to each node."
        times = []
        for (publication, node), time in delivered.items():
            if publication >> 32 == publisher:
                times.append(time)
                self.latest[node] = max(publication, self.latest.get(node, -1))
        self._times = sorted(times)
        waiting: dict[int, list[int]] = defaultdict(list)
        for publication, node in expected:
            if publication >> 32 == publisher and publication > self.latest.get(node, -1):
                waiting[node].append(publication)
        self._waiting = {node: sorted(publications) for node, publications in waiting.items()}
        self.outstanding = sum(map(len, waiting.values()))
        "Number of deliveries that were outstanding at the end of the run."

    def delivered_between(self, start: float, end: float) -> int:
        """Return the number of deliveries from `start` to `end`."""
        return bisect_right(self._times, end) - bisect_left(self._times, start)

    def count_before(self, node: int, publication: int) -> int:
        """Return the number of outstanding deliveries to `node` of events before `publication`."""
        return bisect_left(self._waiting.get(node, []), publication)
