"""Retransmission queue of the publisher, paced by acknowledgements.

After a partition every subscriber may be missing hundreds of events. Sending all at once would congest the
channel and cause further losses. The queue limits the number of events in flight, and sends an event that
several subscribers are missing once for all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from roamcast.routing.router import Host, NodeId, Timer


class Retransmissions:
    """A queue of events to retransmit, with at most `window` of them in flight."""

    def __init__(
        self,
        host: Host,
        window: int,
        timeout: float,
        send: Callable[[int, list[NodeId]], None],
        has_route: Callable[[NodeId], bool] | None = None,
    ) -> None:
        """With `has_route`, retransmit in runs, and serve subscribers for which it returns True first."""
        self._host = host
        self._window = window
        self._timeout = timeout
        self._send = send
        self._has_route = has_route
        self._run: tuple[int, set[NodeId]] = (0, set())
        "Number of events left in the current run, and its subscribers."
        self._queue: dict[int, dict[NodeId, None]] = {}
        self._away: dict[int, tuple[float, set[NodeId]]] = {}
        "Events in flight: deadline of the acknowledgement [s] and subscribers, the earliest deadline first."
        self._timer: Timer | None = None
        self._due = False

    def enqueue(self, sequence: int, subscriber: NodeId) -> None:
        """Queue an event for a subscriber, unless it is already queued or in flight."""
        away = self._away.get(sequence)
        if away is None or subscriber not in away[1] or away[0] <= self._host.now():
            self._queue.setdefault(sequence, {})[subscriber] = None
            self._schedule()

    def acknowledge(self, sequence: int, subscriber: NodeId) -> None:
        """Remove an event that a subscriber has acknowledged or is no longer to receive."""
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
        """Send after all requests of this moment are queued, so that they are combined."""
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
        """Return up to `room` events to send now, with their subscribers.

        The oldest come first, because subscribers acknowledge in order. With runs, up to `window` events for
        the subscribers of the oldest one are sent consecutively, and subscribers without a route wait, unless
        no subscriber has one.
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
