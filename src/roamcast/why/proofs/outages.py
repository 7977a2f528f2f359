"""Intervals in which nodes were down, asleep, absent or had their radio off, from the table states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

import numpy as np

from roamcast.facts.contacts import Contacts


class NodeOutage(NamedTuple):
    """An interval in which a node neither received nor sent [s]."""

    start: float
    end: float
    down: bool
    "Whether the node was down; otherwise only its radio was off."


class OutageIndex:
    """The outages of all nodes; a node without rows had none."""

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
                continue  # switching the radio of a node that is down changes nothing
            if not all(before.values()) and time > since[node]:
                self._of[node].append(NodeOutage(since[node], time, not before["up"]))
            since[node] = time
        for node, now in works.items():
            if not all(now.values()):
                self._of[node].append(NodeOutage(since[node], inf, not now["up"]))

    def __bool__(self) -> bool:
        return bool(self._of)

    def of(self, node: int) -> list[NodeOutage]:
        """Return the outages of a node in order of time."""
        return self._of.get(node, [])

    def during(self, node: int, start: float, end: float) -> NodeOutage | None:
        """Return the first outage of a node that overlaps an interval, or None."""
        return next((each for each in self.of(node) if each.start <= end and each.end > start), None)

    def throughout(self, node: int, start: float, end: float) -> bool:
        """Return whether outages of a node cover the whole interval."""
        for each in self.of(node):
            if each.start <= start < each.end:
                if each.end > end:
                    return True
                start = each.end
        return False

    def forgot(self, node: int, start: float, end: float) -> float | None:
        """Return the first crash in an interval by which the node lost its memory, or None [s]."""
        starts_anew = self._restarts.get(node, [])
        for each in self.of(node):
            if each.down and start < each.start <= end and (each.end in starts_anew or each.end == inf):
                return each.start
        return None

    def cut(self, contacts: Contacts) -> Contacts:
        """Return the contacts without the intervals in which one of the two nodes had an outage."""
        affected = np.isin(contacts.a, list(self._of)) | np.isin(contacts.b, list(self._of))
        rows = [
            (a, b, start, end)
            for a, b, first, last in zip(*(column[affected].tolist() for column in contacts), strict=True)
            for start, end in self._left(sorted([*self.of(a), *self.of(b)]), first, last)
        ]
        unaffected = [column[~affected] for column in contacts]
        parts = [
            np.concatenate([column, np.array([row[i] for row in rows], column.dtype)])
            for i, column in enumerate(unaffected)
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
    """Return a sentence that describes an outage."""
    what = f"node {node} was down" if outage.down else f"node {node} had its radio off"
    if outage.down and outage.start == 0:
        what = f"node {node} was absent"
    until = "to the end of the run" if outage.end == inf else f"to t={outage.end:.1f}"
    return f"{what} from t={outage.start:.1f} {until}"
