"""Hop-by-hop acknowledgement: which children have not said that an event arrived (UnackdTable)."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.cbr.messages import TreeEvent
from roamcast.routing.router import Drop, Host, NodeId


class AckWait:
    """Waits for the children of each event; whoever stays silent is handed to `missing`."""

    def __init__(
        self, host: Host, wait: float, capacity: int, missing: Callable[[TreeEvent, frozenset[NodeId]], None]
    ) -> None:
        self._host = host
        self._wait = wait
        self._capacity = capacity
        self._missing = missing
        self._silent: dict[int, set[NodeId]] = {}

    def __len__(self) -> int:
        return len(self._silent)

    def expect(self, message: TreeEvent) -> None:
        """Begin to wait for all children of `message`."""
        self._silent[message.about] = set(message.children)
        if len(self._silent) > self._capacity:
            del self._silent[next(iter(self._silent))]
        self._host.call_later(self._wait, self._look, message)

    def hear(self, id: int, child: NodeId) -> Drop | None:
        """Note that a child has it."""
        silent = self._silent.get(id)
        if silent is None or child not in silent:
            return Drop.DUPLICATE
        silent.discard(child)
        return None

    def _look(self, message: TreeEvent) -> None:
        silent = self._silent.pop(message.about, None)
        if silent:
            self._missing(message, frozenset(silent))
