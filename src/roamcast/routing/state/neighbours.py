"""The neighbours of a node: who was heard lately, and who has gone silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from roamcast.routing.router import Host, NodeId, Timer
from roamcast.routing.state.leases import Leases

TICK = 1e-9
"A timer may come this much before a deadline, which is a sum of floats."


class Neighbours:
    """Who has spoken; whoever is silent for `silence` seconds, or has to make room, is handed to `lose`."""

    def __init__(self, host: Host, silence: float, capacity: int, lose: Callable[[NodeId], None]) -> None:
        self._host = host
        self._capacity = capacity
        self._lose = lose
        # With room for one more than it keeps, so that whoever has to go is known.
        self._heard: Leases[NodeId, float] = Leases(silence, capacity + 1)
        "When each was heard."
        self._timer: Timer | None = None
        self._due = inf
        "When the timer goes off."

    def __len__(self) -> int:
        return len(self._heard)

    def __contains__(self, neighbour: NodeId) -> bool:
        return neighbour in self._heard

    def hear(self, neighbour: NodeId, now: float, silence: float | None = None) -> None:
        """Note that a neighbour lives, and see to it that its silence will be noticed.

        Where neighbours say how long they may be silent, that time is given.
        """
        if self._heard.renew(neighbour, now, now, silence) and len(self._heard) > self._capacity:
            first = self._heard.first()
            if first is not None:
                self._give_up(first[0])
        if now + (self._heard.duration if silence is None else silence) < self._due:
            self._watch()

    def forget(self, neighbour: NodeId) -> None:
        """Forget a neighbour that is known to be gone."""
        self._heard.discard(neighbour)

    def heard_since(self, time: float) -> Iterator[NodeId]:
        """Those who have spoken since `time`, in the order in which they did."""
        for neighbour, heard in self._heard.items(self._host.now()):
            if heard >= time:
                yield neighbour

    def _give_up(self, neighbour: NodeId) -> None:
        self._heard.discard(neighbour)
        self._lose(neighbour)

    def _watch(self) -> None:
        """Come back when the first neighbour should have spoken again."""
        first = self._heard.first()
        if first is not None and first[1] < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = first[1]
            self._timer = self._host.call_later(max(self._due - self._host.now(), 0.0), self._check)

    def _check(self) -> None:
        """Give up the neighbours that have not spoken in time."""
        self._timer, self._due = None, inf
        for neighbour, _ in list(self._heard.lapsed(self._host.now() + TICK)):
            if neighbour in self._heard:
                self._give_up(neighbour)
        self._watch()
