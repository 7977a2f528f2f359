"""Updates that a node of DSDV broadcasts: periodic full updates, and triggered updates of changed routes."""

from __future__ import annotations

import heapq

from roamcast.routing.router import Host, NodeId, Timer
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsdv.messages import HALF, HIGHEST_SEQUENCE, INFINITY, DsdvUpdate, Row
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsdv.table import NEVER, DsdvRoute, DsdvRouteTable


class DsdvAdvertising:
    """The schedule of a node's updates, and the node's own sequence number."""

    def __init__(self, host: Host, parameters: DsdvParameters, table: DsdvRouteTable) -> None:
        self._host = host
        self._parameters = parameters
        self._table = table
        self.sequence = 0
        self._triggers: list[tuple[float, NodeId]] = []
        "Heap of triggered updates: time [s] and destination; stale if the route has another `trigger_at`."
        self._timer: Timer | None = None
        self._due_at = NEVER
        "Time at which `_timer` fires [s]."
        self._full_timer: Timer | None = None
        self._last_update = -NEVER

    def start(self) -> None:
        """Start the periodic full updates."""
        self._full_timer = call_within(self._host, self._parameters.start_jitter, self._full)

    def schedule(self, route: DsdvRoute, at: float, now: float) -> None:
        """Schedule a triggered update of `route` at the time `at` [s]."""
        route.trigger_at = at
        heapq.heappush(self._triggers, (at, route.destination))
        if at < self._due_at:
            if self._timer is not None:
                self._timer.cancel()
            self._due_at = at
            self._timer = self._host.call_later(max(at - now, 0.0), self._triggered)

    def handle_own_entry(self, metric: int, sequence: int) -> None:
        """Adopt a newer own sequence number; if this node is reported unreachable, send a full update."""
        if 0 < (sequence - self.sequence) & HIGHEST_SEQUENCE < HALF:
            # From an earlier incarnation or forged: only a higher number is accepted by the others.
            self.sequence = sequence & ~1
        if metric >= INFINITY and self._full_timer is not None:
            self._full_timer.cancel()
            self._full_timer = self._host.call_later(0.0, self._full)

    def _triggered(self) -> None:
        """Send the due changes, or wait until the minimum gap after the last update has passed."""
        now = self._host.now()
        possible = self._last_update + self._parameters.trigger_gap
        early = now < possible
        due = self._take_due(possible if early else now)
        if due and early:
            # One postponed trigger covers all changes in the gap.
            due[0].trigger_at = possible
            heapq.heappush(self._triggers, (possible, due[0].destination))
        elif due:
            self._broadcast_changes(now)
        self._due_at = NEVER
        self._timer = None
        if self._triggers:
            self._due_at = self._triggers[0][0]
            self._timer = self._host.call_later(max(self._due_at - now, 0.0), self._triggered)

    def _take_due(self, until: float) -> list[DsdvRoute]:
        """Remove and return the routes whose triggered updates are due by `until` [s]."""
        due = []
        while self._triggers and self._triggers[0][0] <= until:
            at, destination = heapq.heappop(self._triggers)
            route = self._table.get(destination)
            if route is not None and route.trigger_at == at:
                route.trigger_at = NEVER
                due.append(route)
        return due

    def _broadcast_changes(self, now: float) -> None:
        """Broadcast the settled changes, or a full update if there are many."""
        changes = [r for r in self._table if (r.new_sequence or r.new_metric) and r.settled_at <= now]
        if len(changes) > 3 and 3 * len(changes) > len(self._table) + 1:
            if self._full_timer is not None:
                self._full_timer.cancel()
            self._full()
        elif changes:
            for route in changes:
                route.last_advertised = route.metric
                route.new_sequence = False
            self._broadcast([(r.destination, r.metric, r.sequence) for r in changes])
            self._last_update = now

    def _full(self) -> None:
        """Broadcast all settled routes with a new own sequence number, and schedule the next full update."""
        now = self._host.now()
        self.sequence = (self.sequence + 2) & HIGHEST_SEQUENCE
        rows = [(self._host.node, 0, self.sequence)]
        for route in self._table:
            if route.settled_at <= now:
                route.last_advertised = route.metric
                route.new_sequence = route.new_metric = False
                rows.append((route.destination, route.metric, route.sequence))
        self._broadcast(rows)
        self._last_update = now
        wait = self._parameters.period * self._host.random.uniform(0.75, 1.0)
        self._full_timer = self._host.call_later(wait, self._full)

    def _broadcast(self, rows: list[Row]) -> None:
        step = self._parameters.entries_per_update
        for first in range(0, len(rows), step):
            update = DsdvUpdate(tuple(rows[first : first + step]))
            call_within(self._host, self._parameters.broadcast_jitter, self._host.broadcast, update)
