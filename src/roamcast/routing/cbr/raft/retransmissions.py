"""Retransmissions: what subscribers miss, sent again at the pace at which it is acknowledged.

After a partition hundreds of events may be missing at every subscriber. Sent all at once they would clog the
air for everyone, and the losses would ask for more. So few are on their way at a time, and an event that
several subscribers miss travels once for all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from roamcast.routing.router import Host, NodeId, Timer


class Retransmissions:
    """A queue of events to be sent again, with no more than `window` of them on their way."""

    def __init__(
        self,
        host: Host,
        window: int,
        timeout: float,
        send: Callable[[int, list[NodeId]], None],
        has_route: Callable[[NodeId], bool] | None = None,
    ) -> None:
        """Events go in runs, first to those for whom `has_route` holds, if that is given."""
        self._host = host
        self._window = window
        self._timeout = timeout
        self._send = send
        self._has_route = has_route
        self._run: tuple[int, set[NodeId]] = (0, set())
        "How many events of the current run are left, and the subscribers that it is for."
        self._queue: dict[int, dict[NodeId, None]] = {}
        self._away: dict[int, tuple[float, set[NodeId]]] = {}
        "Events on their way: until when an answer is awaited, and whose; the first to be given up first."
        self._timer: Timer | None = None
        self._due = False

    def enqueue(self, sequence: int, subscriber: NodeId) -> None:
        """Queue an event for a subscriber, unless it is queued or on its way already."""
        away = self._away.get(sequence)
        if away is None or subscriber not in away[1] or away[0] <= self._host.now():
            self._queue.setdefault(sequence, {})[subscriber] = None
            self._schedule()

    def acknowledge(self, sequence: int, subscriber: NodeId) -> None:
        """Note that a subscriber has an event, or is no longer to get it."""
        queued = self._queue.get(sequence)
        if queued is not None:
            queued.pop(subscriber, None)
            if not queued:
                del self._queue[sequence]
        away = self._away.get(sequence)
        if away is not None:
            away[1].discard(subscriber)
            if not away[1]:
                del self._away[sequence]
                self._schedule()

    def _schedule(self) -> None:
        """Send when all requests of this moment are in, so that they travel together."""
        if not self._due and self._queue:
            self._due = True
            self._host.call_later(0.0, self._send_window)

    def _send_window(self) -> None:
        self._due = False
        now = self._host.now()
        while self._away:
            oldest = next(iter(self._away))
            if self._away[oldest][0] > now + 1e-9:
                break
            del self._away[oldest]
        for sequence, subscribers in self._next(self._window - len(self._away)).items():
            queued = self._queue[sequence]
            for subscriber in subscribers:
                del queued[subscriber]
            if not queued:
                del self._queue[sequence]
            self._away[sequence] = (now + self._timeout, set(subscribers))
            self._send(sequence, subscribers)
        if self._queue and self._away and (self._timer is None or not self._timer.active):
            wait = next(iter(self._away.values()))[0] - now
            self._timer = self._host.call_later(max(wait, 0.0), self._send_window)

    def _next(self, room: int) -> dict[int, list[NodeId]]:
        """Return up to `room` events to be sent now, and for whom.

        The oldest first: a subscriber acknowledges nothing that comes before its turn. With runs, up to
        `window` events for the subscribers of the oldest one follow each other, and subscribers without a
        route wait, unless nobody has one.
        """
        if room <= 0:
            return {}
        waiting = self._queue.keys() - self._away.keys()
        if self._has_route is None:
            return {each: list(self._queue[each]) for each in heapq.nsmallest(room, waiting)}
        routed = set(filter(self._has_route, {node for each in waiting for node in self._queue[each]}))
        ordered: dict[int, list[NodeId]] = {}
        for each in sorted(waiting):
            subscribers = [node for node in self._queue[each] if node in routed or not routed]
            if subscribers:
                ordered[each] = subscribers
        chosen: dict[int, list[NodeId]] = {}
        while len(chosen) < room and ordered:
            left, group = self._run
            if left == 0:
                left, group = self._window, set(next(iter(ordered.values())))
            run = [each for each, nodes in ordered.items() if not group.isdisjoint(nodes)]
            run = run[: min(left, room - len(chosen))]
            chosen |= {each: ordered.pop(each) for each in run}
            self._run = (left - len(run) if run else 0, group)
        return chosen
