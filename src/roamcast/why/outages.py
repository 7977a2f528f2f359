"""Outages: when nodes were down, asleep, not there yet or had their radio off, from the states told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

import numpy as np

from roamcast.facts.contacts import Contacts


class NodeOutage(NamedTuple):
    """A time in which a node heard and sent nothing."""

    start: float
    end: float
    down: bool
    "Whether the node itself did not run; otherwise only its radio was off."


class OutageIndex:
    """Those of all nodes; a node of which nothing is told was always there."""

    def __init__(self, states: Iterable[tuple[float, int, str, float]]) -> None:
        """Read rows of (time, node, name, value) in order of time."""
        self._of: dict[int, list[NodeOutage]] = defaultdict(list)
        self._restarts: dict[int, list[float]] = defaultdict(list)
        works: dict[int, dict[str, bool]] = defaultdict(lambda: {"up": True, "radio": True})
        since: dict[int, float] = {}
        for time, node, name, value in states:
            if name == "incarnation":
                self._restarts[node].append(time)
            if name not in ("up", "radio"):
                continue
            before = works[node].copy()
            works[node][name] = value > 0
            if works[node] == before or not (before["up"] or works[node]["up"]):
                continue  # a node that is down stays down, whatever its radio does
            if not all(before.values()) and time > since[node]:
                self._of[node].append(NodeOutage(since[node], time, not before["up"]))
            since[node] = time
        for node, now in works.items():
            if not all(now.values()):
                self._of[node].append(NodeOutage(since[node], inf, not now["up"]))

    def __bool__(self) -> bool:
        return bool(self._of)

    def of(self, node: int) -> list[NodeOutage]:
        """The outages of a node, in order."""
        return self._of.get(node, [])

    def during(self, node: int, start: float, end: float) -> NodeOutage | None:
        """The first outage of a node that overlaps a time, if there is one."""
        return next((each for each in self.of(node) if each.start <= end and each.end > start), None)

    def throughout(self, node: int, start: float, end: float) -> bool:
        """Whether a node was out of order all that time."""
        for each in self.of(node):
            if each.start <= start < each.end:
                if each.end > end:
                    return True
                start = each.end
        return False

    def forgot(self, node: int, start: float, end: float) -> float | None:
        """When a node first crashed and lost its memory in a time, if it did."""
        starts_anew = self._restarts.get(node, [])
        for each in self.of(node):
            if each.down and start < each.start <= end and (each.end in starts_anew or each.end == inf):
                return each.start
        return None

    def cut(self, contacts: Contacts) -> Contacts:
        """What is left of contacts: nobody is met who is out of order."""
        struck = np.isin(contacts.a, list(self._of)) | np.isin(contacts.b, list(self._of))
        rows = [
            (a, b, start, end)
            for a, b, first, last in zip(*(column[struck].tolist() for column in contacts), strict=True)
            for start, end in self._left(sorted([*self.of(a), *self.of(b)]), first, last)
        ]
        kept = [column[~struck] for column in contacts]
        parts = [
            np.concatenate([column, np.array([row[i] for row in rows], column.dtype)])
            for i, column in enumerate(kept)
        ]
        order = np.lexsort((parts[2], parts[1], parts[0]))
        return Contacts(*(column[order] for column in parts))

    def _left(self, outages: list[NodeOutage], first: float, last: float) -> Iterable[tuple[float, float]]:
        for each in outages:
            if each.end <= first or each.start > last:
                continue
            if each.start > first:
                yield first, each.start
            first = each.end
        if first <= last:
            yield first, last


def describe(node: int, outage: NodeOutage) -> str:
    """An outage in a sentence."""
    what = f"node {node} was down" if outage.down else f"node {node} had its radio off"
    if outage.down and outage.start == 0:
        what = f"node {node} was not there"
    until = "to the end" if outage.end == inf else f"to t={outage.end:.1f}"
    return f"{what} from t={outage.start:.1f} {until}"
