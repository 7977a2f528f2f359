"""DSDV (Perkins and Bhagwat 1994) by the rules and constants of ns-2: it knows the next hop.

Every node gives out even sequence numbers for itself and sends its whole table now and then. A higher number
always wins; at the same number the shorter route wins. Who finds a neighbour gone adds one to the sequence
numbers of the routes over it, which makes them odd, and says so at once. News of a better route waits for
twice the time that better routes have lately taken to arrive (the settling time), so that the second-best
is not told first.

Sequence numbers run in a circle (RFC 1982): whatever number someone gives out in a node's name, the node
knows a higher one, and has the last word on itself.

Messages travel in a `Datagram`, hop by hop. One without a route waits for one, but not for ever. With
`detours`, which is not DSDV's, one that the link gave up on takes another way that a neighbour has told of.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from typing import Any

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId, Timer
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.neighbours import Neighbours
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsdv.detours import Detours, TriedNextHops
from roamcast.routing.unicast.dsdv.messages import HALF, HIGHEST_SEQUENCE, INFINITY, DsdvUpdate, Row
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsdv.table import NEVER, DsdvRoute, DsdvRouteTable
from roamcast.routing.unicast.route_queue import RouteQueue
from roamcast.routing.unicast.unicast import Datagram, Unicast, UnicastUser


class Dsdv(Unicast):
    """One node's part in DSDV."""

    parameters_type = DsdvParameters
    messages = (DsdvUpdate, Datagram)

    def __init__(self, host: Host, parameters: DsdvParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.table = DsdvRouteTable(p.destinations)
        self.sequence = 0
        self._news: list[tuple[float, NodeId]] = []
        self._news_timer: Timer | None = None
        self._news_at = NEVER
        self._full_timer: Timer | None = None
        self._last_update = -NEVER
        self.heard = Neighbours(host, p.missed_periods * p.period, p.destinations, self._lose)
        self._detours = Detours()
        self._failed: Leases[NodeId, bool] = Leases(p.detour_lease, p.destinations)
        "Neighbours on whom the link has just given up."
        self._failing = self._failed.keys()
        self._tried = TriedNextHops(p.detour_lease, p.destinations)
        self.held = RouteQueue(host, p.queue_per_destination, p.destinations, p.queue_timeout, self._give_up)

    # What a router asks.

    def start(self) -> None:
        """Begin to send full updates."""
        self._full_timer = call_within(self.host, self.parameters.start_jitter, self._full)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """The neighbour to give a message for `destination`, or None while no route is known."""
        route = self.table.routes.get(destination)
        return route.hop if route is not None and route.metric < INFINITY else None

    def distance(self, destination: NodeId) -> int | None:
        """Hops to `destination`, or None while no route is known."""
        route = self.table.routes.get(destination)
        return route.metric if route is not None and route.metric < INFINITY else None

    def detour(self, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """A neighbour, none of `avoid` and none that the link has just failed to reach."""
        if not self.parameters.detours:
            return None
        recent = self.heard.heard_since(self.host.now() - self.parameters.period)
        return self._detours.best(destination, recent, self._avoided(avoid))

    def leads(self, neighbour: NodeId, destination: NodeId) -> bool:
        """Return whether a neighbour is nearer to `destination` than this node, by its last full update."""
        if neighbour == destination:
            return True
        route = self.table.routes.get(destination)
        return route is not None and self._detours.metric(neighbour, destination) < route.metric

    def suspects(self, neighbour: NodeId) -> bool:
        """Whether the link to a neighbour has just failed, and detours are allowed."""
        return neighbour in self._failing and self._failed.get(neighbour, self.host.now()) is not None

    def neighbours(self) -> Collection[NodeId]:
        """Those whose updates have been heard lately."""
        return list(self.heard.heard_since(-NEVER))

    def tables(self) -> Mapping[str, Footprint]:
        """Routes (destination, hop, metric, sequence and times), held messages, and what has gone around."""
        p, routes, held = self.parameters, len(self.table), len(self.held)
        around = {"gone_around": self._tried.footprint(), "passed": self._tried.passed()} if p.detours else {}
        return {
            "routes": Footprint(routes, 37 * routes, p.destinations),
            "held": Footprint(held, self.held.bytes(), p.queue_per_destination * p.destinations),
            **around,
        }

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Learn that the link to the neighbour `to` gave up on a message; a datagram may go another way."""
        if self.parameters.link_feedback:
            self._lose(to)
        if self.parameters.detours:
            now = self.host.now()
            self._failed.sweep(now)
            self._failed.renew(to, True, now)
        if type(message) is not Datagram:
            return
        if self.parameters.detours:
            self._send_detour(message, ())
        elif self.parameters.link_feedback:
            self._forward_by_route(message)
        else:
            self._give_up(message, Drop.NO_ROUTE)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Take in routes, hand over what has arrived, pass on the rest."""
        if type(message) is DsdvUpdate:
            return self._handle_update(message, sender)
        if message.destination == self.host.node:
            return self.user.arrive(message.payload, message.origin, sender)
        if message.hops <= 1:
            self.host.drop(message, Drop.HOP_LIMIT, message.destination)
            return None
        if self.parameters.detours and self._tried.is_copy(message, sender, self.host.now()):
            return Drop.DUPLICATE
        self._forward(
            Datagram(message.origin, message.destination, message.hops - 1, message.payload), sender
        )
        return None

    # Datagrams.

    def send(self, message: Message, to: NodeId) -> None:
        """Carry a message to a node over as many hops as it takes; to oneself it is not sent."""
        datagram = Datagram(self.host.node, to, self.parameters.hop_limit, message)
        if to == self.host.node:
            self.host.drop(datagram, Drop.MALFORMED)
        else:
            self._forward(datagram)

    def send_across(self, message: Message, neighbour: NodeId) -> None:
        """Send a message to a neighbour that was heard a moment ago, whatever an old route says."""
        if self.suspects(neighbour):
            self.send(message, neighbour)
        else:
            hops = self.parameters.hop_limit
            self.host.send(Datagram(self.host.node, neighbour, hops, message), neighbour)

    def _forward(self, datagram: Datagram, came_from: NodeId | None = None) -> None:
        """Send a datagram one hop further, or keep it until there is a route."""
        hop = self.next_hop(datagram.destination)
        avoid = () if came_from is None else (came_from,)
        if hop is None:
            hop = self.user.hint(datagram.payload, datagram.destination, avoid)
        elif self.suspects(hop):
            other = self._detour_hop(datagram, avoid)
            hop = hop if other is None else other
        elif hop == came_from and self.parameters.detours:
            # Routes that point at each other: it would only go to and fro.
            self._send_detour(datagram, (hop,))
            return
        self._send(datagram, hop)

    def _forward_by_route(self, datagram: Datagram) -> None:
        """Send what the link gave up on by a route, if there is one; a hint might lead to the same link."""
        self._send(datagram, self.next_hop(datagram.destination))

    def _send(self, datagram: Datagram, hop: NodeId | None) -> None:
        if hop is not None:
            self.host.send(datagram, hop)
        else:
            self.held.add(datagram)

    def _send_detour(self, datagram: Datagram, avoid: Collection[NodeId]) -> None:
        """Send a datagram another way than its route, if there is one."""
        if datagram.hops <= 1:
            self._give_up(datagram, Drop.HOP_LIMIT)
            return
        hop = self._detour_hop(datagram, avoid, hints=True)
        if hop is None:
            self._give_up(datagram, Drop.NO_ROUTE)
        else:
            onward = Datagram(datagram.origin, datagram.destination, datagram.hops - 1, datagram.payload)
            self.host.send(onward, hop)

    def _detour_hop(
        self, datagram: Datagram, avoid: Collection[NodeId], hints: bool = False
    ) -> NodeId | None:
        """A neighbour that this datagram has not gone around by yet, from here.

        What comes back, and every copy of it, tries another way or ends: around someone who is gone all ways
        lead in circles, and where links make copies a circle makes a storm.
        """
        now = self.host.now()
        avoid = {*avoid, *self._tried.of(datagram, now)}
        hop = self.detour(datagram.destination, avoid)
        if hop is None and hints:
            hop = self.user.hint(datagram.payload, datagram.destination, self._avoided(avoid))
        if hop is not None:
            self._tried.note(datagram, hop, now)
        return hop

    def _give_up(self, datagram: Datagram, reason: Drop) -> None:
        self.fail(datagram.payload, datagram.origin, datagram.destination, reason)

    def _avoided(self, others: Collection[NodeId]) -> set[NodeId]:
        return {neighbour for neighbour, _ in self._failed.items(self.host.now())}.union(others)

    # What neighbours say.

    def _handle_update(self, update: DsdvUpdate, sender: NodeId) -> Drop | None:
        """Take in what a neighbour says of its routes."""
        now = self.host.now()
        if sender == self.host.node:
            return Drop.MALFORMED
        find = self.table.routes.get
        for destination, metric, sequence in update.entries:
            route = find(destination)
            if route is not None:
                known = route.sequence
                # In a settled network most entries say what is known already: let them cost little.
                if sequence == known:
                    if route.metric - 1 > metric >= 0:
                        self._shorten(route, sender, metric + 1, now)
                    continue
                if (sequence < known and known - sequence <= HALF) or sequence - known >= HALF:
                    if metric >= INFINITY and route.metric < INFINITY:
                        self._contradict(route, now)
                    continue
            if destination == self.host.node:
                self._handle_own_entry(metric, sequence)
            elif route is None:
                self._add_destination(destination, sender, min(metric + 1, INFINITY), sequence, now)
            else:
                self._refresh(route, sender, min(metric + 1, INFINITY), sequence, now)
        self._refresh_neighbour(sender, update, now)
        return None

    # What is learnt from an entry.

    def _add_destination(
        self, destination: NodeId, hop: NodeId, metric: int, sequence: int, now: float
    ) -> None:
        """Enter a destination never heard of before."""
        route = DsdvRoute(destination, hop, metric, sequence, now=now, settling=self.parameters.settling)
        self._enter(route)
        route.settled_at = now
        if metric < INFINITY:
            route.new_metric = True
            if self.parameters.advertise_awaited and destination in self.held:
                route.settling = 0.0
            route.settled_at += 2 * route.settling
            self._announce(route, route.settled_at, now)
            self._changed(destination)

    def _shorten(self, route: DsdvRoute, hop: NodeId, metric: int, now: float) -> None:
        """Take a shorter way at the same sequence number."""
        was_broken = route.metric >= INFINITY
        moved = was_broken or route.hop != hop
        route.hop, route.metric, route.changed_at = hop, metric, now
        route.new_metric = metric != route.last_advertised
        route.settled_at = now if was_broken else now + 2 * route.settling
        if route.new_metric:
            self._announce(route, route.settled_at, now)
        self.table.touch(route)
        if moved:
            self._changed(route.destination)

    def _refresh(self, route: DsdvRoute, hop: NodeId, metric: int, sequence: int, now: float) -> None:
        """Believe a fresher sequence number, whatever its metric."""
        was_broken = route.metric >= INFINITY
        is_broken = metric >= INFINITY
        moved = was_broken != is_broken or (not is_broken and route.hop != hop)
        p = self.parameters
        memory = p.settling_memory
        route.settling = memory * route.settling + (1 - memory) * (route.changed_at - route.sequence_since)
        settled_at = now if was_broken or is_broken else now + 2 * route.settling
        if not p.settle_anew and (route.settled_at > now or not route.last_advertised):
            # Put off each time, a route that nothing is wrong with might not be told for many periods.
            settled_at = min(settled_at, route.settled_at)
        route.hop, route.metric, route.sequence = hop, metric, sequence
        route.changed_at = route.sequence_since = now
        route.settled_at = settled_at
        route.new_sequence = True
        route.new_metric = metric != route.last_advertised
        if p.trigger_on_fresh:
            self._announce(route, settled_at, now)
        self.table.touch(route)
        if moved:
            self._changed(route.destination)

    def _contradict(self, route: DsdvRoute, now: float) -> None:
        """A neighbour thinks broken what is known to work: tell it."""
        route.new_metric = True
        route.settled_at = now
        self._announce(route, now, now)

    def _handle_own_entry(self, metric: int, sequence: int) -> None:
        """Have the last word on oneself."""
        if 0 < (sequence - self.sequence) & HIGHEST_SEQUENCE < HALF:
            # Of an earlier incarnation (or of a liar): without a higher number nobody would listen.
            self.sequence = sequence & ~1
        if metric >= INFINITY and self._full_timer is not None:
            self._full_timer.cancel()
            self._full_timer = self.host.call_later(0.0, self._full)

    def _refresh_neighbour(self, sender: NodeId, update: DsdvUpdate, now: float) -> None:
        """Note that a neighbour lives, and see to it that its silence will be noticed."""
        if sender not in self.table.routes:
            # Its own entry was not in the update: one hop is known all the same, but not worth telling.
            self._enter(DsdvRoute(sender, sender, 1, 0, now=now, settling=self.parameters.settling))
            self._changed(sender)
        self._detours.hear(sender, update)
        self.heard.hear(sender, now)

    # What is lost.

    def _lose(self, neighbour: NodeId) -> None:
        """Break every route over a neighbour, and say so."""
        self.heard.forget(neighbour)
        self._detours.forget(neighbour)
        now = self.host.now()
        for route in self.table.through(neighbour):
            route.metric = INFINITY
            route.sequence = (route.sequence + 1) & HIGHEST_SEQUENCE
            route.settled_at = now
            route.new_metric = route.new_sequence = True
            self._announce(route, now, now)
            self._changed(route.destination)

    def _enter(self, route: DsdvRoute) -> None:
        evicted = self.table.add(route)
        if evicted is not None and evicted.usable:
            self._changed(evicted.destination)

    def _changed(self, destination: NodeId) -> None:
        """Send what waited for a route."""
        if destination in self.held and self.next_hop(destination) is not None:
            now = self.host.now()
            for since, waited in self.held.release(destination):
                older = self.user.add_age(waited.payload, now - since)
                self._forward(Datagram(waited.origin, waited.destination, waited.hops, older))

    # What is told to others.

    def _announce(self, route: DsdvRoute, at: float, now: float) -> None:
        """Have news of `route` told at the time `at`."""
        route.trigger_at = at
        heapq.heappush(self._news, (at, route.destination))
        if at < self._news_at:
            if self._news_timer is not None:
                self._news_timer.cancel()
            self._news_at = at
            self._news_timer = self.host.call_later(max(at - now, 0.0), self._triggered)

    def _triggered(self) -> None:
        """Tell what is new, or wait until enough time has passed since the last update."""
        now = self.host.now()
        possible = self._last_update + self.parameters.trigger_gap
        early = now < possible
        due = self._due(possible if early else now)
        if due and early:
            # One trigger, put off, stands for all that fall into the gap.
            due[0].trigger_at = possible
            heapq.heappush(self._news, (possible, due[0].destination))
        elif due:
            self._broadcast_changes(now)
        self._news_at = NEVER
        self._news_timer = None
        if self._news:
            self._news_at = self._news[0][0]
            self._news_timer = self.host.call_later(max(self._news_at - now, 0.0), self._triggered)

    def _due(self, until: float) -> list[DsdvRoute]:
        """Take the routes whose news is due from the queue."""
        due = []
        while self._news and self._news[0][0] <= until:
            at, destination = heapq.heappop(self._news)
            route = self.table.get(destination)
            if route is not None and route.trigger_at == at:
                route.trigger_at = NEVER
                due.append(route)
        return due

    def _broadcast_changes(self, now: float) -> None:
        """Broadcast the settled news; or everything, if much is new."""
        news = [r for r in self.table if (r.new_sequence or r.new_metric) and r.settled_at <= now]
        if len(news) > 3 and 3 * len(news) > len(self.table) + 1:
            if self._full_timer is not None:
                self._full_timer.cancel()
            self._full()
        elif news:
            for route in news:
                route.last_advertised = route.metric
                route.new_sequence = False
            self._broadcast([(r.destination, r.metric, r.sequence) for r in news])
            self._last_update = now

    def _full(self) -> None:
        """Broadcast all that is settled, with a new sequence number of one's own, and come back later."""
        now = self.host.now()
        self.sequence = (self.sequence + 2) & HIGHEST_SEQUENCE
        rows = [(self.host.node, 0, self.sequence)]
        for route in self.table:
            if route.settled_at <= now:
                route.last_advertised = route.metric
                route.new_sequence = route.new_metric = False
                rows.append((route.destination, route.metric, route.sequence))
        self._broadcast(rows)
        self._last_update = now
        wait = self.parameters.period * self.host.random.uniform(0.75, 1.0)
        self._full_timer = self.host.call_later(wait, self._full)

    def _broadcast(self, rows: list[Row]) -> None:
        step = self.parameters.entries_per_update
        for first in range(0, len(rows), step):
            update = DsdvUpdate(tuple(rows[first : first + step]))
            call_within(self.host, self.parameters.broadcast_jitter, self.host.broadcast, update)
