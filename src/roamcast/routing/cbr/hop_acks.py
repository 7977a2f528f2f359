"""Hop-by-hop acknowledgements: the children that have not acknowledged an event (UnackdTable)."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.cbr.messages import TreeEvent
from roamcast.routing.router import Drop, Footprint, Host, NodeId


class HopAcks:
    """Waits for acknowledgements of each event; calls `missing` with the children that did not answer in
    time."""

    def __init__(
        self, host: Host, wait: float, capacity: int, missing: Callable[[TreeEvent, frozenset[NodeId]], None]
    ) -> None:
        self._host = host
        self._wait = wait
        self._capacity = capacity
        self._missing = missing
        self._waiting: dict[int, tuple[TreeEvent, set[NodeId]]] = {}
        "Events with the children that have not acknowledged them, the oldest first."

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, message: TreeEvent) -> None:
        """Start to wait for acknowledgements of all children of `message`."""
        self._waiting[message.publication_id] = (message, set(message.children))
        if len(self._waiting) > self._capacity:
            forgotten, silent = self._waiting.pop(next(iter(self._waiting)))
            if silent:
                self._host.drop(forgotten, Drop.TABLE_FULL)
        self._host.call_later(self._wait, self._check_timeouts, message)

    def hear(self, id: int, child: NodeId) -> Drop | None:
        """Record the acknowledgement of a child; return EXPIRED or DUPLICATE if none was expected."""
        waiting = self._waiting.get(id)
        if waiting is None:
            return Drop.EXPIRED
        if child not in waiting[1]:
            return Drop.DUPLICATE
        waiting[1].discard(child)
        return None

    def footprint(self) -> Footprint:
        """Return the size: the event as sent, the missing children and the deadline of each entry."""
        sizes = (message.size + 4 * len(silent) + 8 for message, silent in self._waiting.values())
        return Footprint(len(self._waiting), sum(sizes), self._capacity)

    def _check_timeouts(self, message: TreeEvent) -> None:
        waiting = self._waiting.get(message.publication_id)
        if waiting is None or waiting[0] is not message:
            return
        del self._waiting[message.publication_id]
        if waiting[1]:
            self._missing(message, frozenset(waiting[1]))
