"""DSDV (Perkins and Bhagwat 1994) by the rules and constants of ns-2.

Every node assigns even sequence numbers to itself and broadcasts its whole table periodically. The route with
the higher number wins; among equal numbers, the shorter route wins. A node that loses a neighbour increments
the sequence numbers of the routes over it, which makes them odd, and reports this at once. An update of a
better route is delayed by twice the time that better routes have recently taken to arrive (the settling
time), so that the second-best route is not reported first.

Sequence numbers are compared modulo their range (RFC 1982). A node answers any number that another node
reports for it with a higher one.

Messages travel in a `Datagram`, hop by hop, and wait a limited time for a route. With `detours`, which are
not part of DSDV, a datagram is sent to an alternative next hop after a link failure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.neighbours import Neighbours
from roamcast.routing.unicast.dsdv.advertising import DsdvAdvertising
from roamcast.routing.unicast.dsdv.detours import UNREPORTED, Detours, TriedNextHops
from roamcast.routing.unicast.dsdv.messages import HALF, HIGHEST_SEQUENCE, INFINITY, DsdvUpdate
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsdv.table import NEVER, DsdvRoute, DsdvRouteTable
from roamcast.routing.unicast.route_queue import RouteQueue
from roamcast.routing.unicast.unicast import Datagram, Unicast, UnicastUser


class Dsdv(Unicast):
    """One node's instance of DSDV."""

    parameters_type = DsdvParameters
    messages = (DsdvUpdate, Datagram)

    def __init__(self, host: Host, parameters: DsdvParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        # Attributes of a pydantic model or a host are slow to read, and each update refreshes routes.
        self._node = host.node
        self._settling_memory, self._settle_anew = p.settling_memory, p.settle_anew
        self._trigger_on_fresh, self._detour, self._hop_limit = p.trigger_on_fresh, p.detours, p.hop_limit
        self.table = DsdvRouteTable(p.destinations)
        self._advertising = DsdvAdvertising(host, p, self.table)
        self._announce = self._advertising.schedule
        self.heard = Neighbours(host, p.missed_periods * p.period, p.destinations, self._lose)
        self._detours = Detours()
        self._failed: Leases[NodeId, bool] = Leases(p.detour_lease, p.destinations)
        "Neighbours to which the link has just failed."
        self._failing = self._failed.keys()
        self._tried = TriedNextHops(p.detour_lease, p.destinations)
        self.held = RouteQueue(host, p.queue_per_destination, p.destinations, p.queue_timeout, self._abandon)

    @property
    def sequence(self) -> int:
        """The own sequence number of this node's last full update."""
        return self._advertising.sequence

    # Calls of the router.

    def start(self) -> None:
        """Start the periodic full updates."""
        self._advertising.start()

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """Return the next hop to `destination`, or None if no route is known."""
        route = self.table.routes.get(destination)
        return route.hop if route is not None and route.metric < INFINITY else None

    def distance(self, destination: NodeId) -> int | None:
        """Return the hops to `destination`, or None if no route is known."""
        route = self.table.routes.get(destination)
        return route.metric if route is not None and route.metric < INFINITY else None

    def detour(self, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Return a neighbour outside `avoid` to which the link has not just failed."""
        if not self.parameters.detours:
            return None
        recent = self.heard.heard_since(self.host.now() - self.parameters.period)
        return self._detours.best(destination, recent, self._avoided(avoid))

    def led_by(self, neighbour: NodeId, destinations: Iterable[NodeId]) -> Collection[NodeId]:
        """Return the destinations to which a neighbour is nearer than this node, by its last full update."""
        metrics, routes = self._detours.metrics(neighbour), self.table.routes
        return {
            each
            for each in destinations
            if each == neighbour or (each in routes and metrics.get(each, UNREPORTED) < routes[each].metric)
        }

    def suspects(self, neighbour: NodeId) -> bool:
        """Return whether the link to a neighbour has just failed, and detours are enabled."""
        return neighbour in self._failing and self._failed.get(neighbour, self.host.now()) is not None

    def neighbours(self) -> Collection[NodeId]:
        """Return the neighbours whose updates were received recently."""
        return list(self.heard.heard_since(-NEVER))

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes: routes, stored updates, waiting messages and, with detours, detoured and
        forwarded datagrams."""
        p, routes, held = self.parameters, len(self.table), len(self.held)
        around = {"gone_around": self._tried.footprint(), "passed": self._tried.passed()} if p.detours else {}
        return {
            "routes": Footprint(routes, 37 * routes, p.destinations),
            "updates": self._detours.footprint(p.destinations),
            "held": Footprint(held, self.held.bytes(), p.queue_per_destination * p.destinations),
            **around,
        }

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Handle a link failure to the neighbour `to`; a datagram may be sent by another route."""
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
            self._abandon(message, Drop.NO_ROUTE)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Process an update, or deliver or forward a datagram."""
        if type(message) is DsdvUpdate:
            return self.handle_update(message, sender)
        if message.destination == self._node:
            return self.user.arrive(message.payload, message.origin, sender)
        if message.hops <= 1:
            self.host.drop(message, Drop.HOP_LIMIT, message.destination)
            return None
        if self._detour and self._tried.is_copy(message, sender, self.host.now()):
            return Drop.DUPLICATE
        self._forward(
            Datagram(message.origin, message.destination, message.hops - 1, message.payload), sender
        )
        return None

    # Datagrams.

    def send(self, message: Message, to: NodeId) -> None:
        """Send a message to a node over several hops; a message to this node itself is not sent."""
        datagram = Datagram(self._node, to, self._hop_limit, message)
        if to == self._node:
            self.host.drop(datagram, Drop.MALFORMED)
        else:
            self._forward(datagram)

    def send_across(self, message: Message, neighbour: NodeId) -> None:
        """Send a message directly to a neighbour, regardless of the route, unless the link just failed."""
        if self.suspects(neighbour):
            self.send(message, neighbour)
        else:
            self.host.send(Datagram(self._node, neighbour, self._hop_limit, message), neighbour)

    def _forward(self, datagram: Datagram, came_from: NodeId | None = None) -> None:
        """Send a datagram to the next hop, or queue it until there is a route."""
        hop = self.next_hop(datagram.destination)
        avoid = () if came_from is None else (came_from,)
        if hop is None:
            hop = self.user.hint(datagram.payload, datagram.destination, avoid)
        elif self.suspects(hop):
            other = self._detour_hop(datagram, avoid)
            hop = hop if other is None else other
        elif hop == came_from and self.parameters.detours:
            # The routes of both nodes point at each other: the datagram would oscillate.
            self._send_detour(datagram, (hop,))
            return
        self._send(datagram, hop)

    def _forward_by_route(self, datagram: Datagram) -> None:
        """Send a datagram by its route after a link failure; a hint might lead to the same link."""
        self._send(datagram, self.next_hop(datagram.destination))

    def _send(self, datagram: Datagram, hop: NodeId | None) -> None:
        if hop is not None:
            self.host.send(datagram, hop)
        else:
            self.held.add(datagram)

    def _send_detour(self, datagram: Datagram, avoid: Collection[NodeId]) -> None:
        """Send a datagram to an alternative next hop, if there is one."""
        if datagram.hops <= 1:
            self._abandon(datagram, Drop.HOP_LIMIT)
            return
        hop = self._detour_hop(datagram, avoid, hints=True)
        if hop is None:
            self._abandon(datagram, Drop.NO_ROUTE)
        else:
            onward = Datagram(datagram.origin, datagram.destination, datagram.hops - 1, datagram.payload)
            self.host.send(onward, hop)

    def _detour_hop(
        self, datagram: Datagram, avoid: Collection[NodeId], hints: bool = False
    ) -> NodeId | None:
        """Return a neighbour to which this datagram has not been detoured from this node.

        A datagram that returns, and each duplicate of it, tries another neighbour or is dropped: around a
        node that is gone all detours form loops, in which duplicated messages would multiply.
        """
        now = self.host.now()
        avoid = {*avoid, *self._tried.of(datagram, now)}
        hop = self.detour(datagram.destination, avoid)
        if hop is None and hints:
            hop = self.user.hint(datagram.payload, datagram.destination, self._avoided(avoid))
        if hop is not None:
            self._tried.note(datagram, hop, now)
        return hop

    def _abandon(self, datagram: Datagram, reason: Drop) -> None:
        self.fail(datagram.payload, datagram.origin, datagram.destination, reason)

    def _avoided(self, others: Collection[NodeId]) -> set[NodeId]:
        return {neighbour for neighbour, _ in self._failed.items(self.host.now())}.union(others)

    # Updates from neighbours.

    def handle_update(self, update: DsdvUpdate, sender: NodeId) -> Drop | None:
        """Process the routes in a neighbour's update."""
        table, now = self.table, self.host.now()
        if sender == self._node:
            return Drop.MALFORMED
        find, entries = table.routes.get, update.entries
        # If the table is full, a new destination may evict one that a later entry names.
        for destination, metric, sequence in entries if table.full else table.known.news(entries):
            route = find(destination)
            if route is None:
                if destination == self._node:
                    self._advertising.handle_own_entry(metric, sequence)
                else:
                    self._add_destination(destination, sender, min(metric + 1, INFINITY), sequence, now)
            elif sequence == route.sequence:
                if 0 <= metric < route.metric - 1:
                    self._shorten(route, sender, metric + 1, now)
            elif (sequence - route.sequence) & HIGHEST_SEQUENCE < HALF:
                self._refresh(route, sender, metric + 1 if metric < INFINITY else INFINITY, sequence, now)
            elif metric >= INFINITY > route.metric:
                self._contradict(route, now)
        if sender not in table.routes:
            # The update lacked the neighbour's own entry: the one-hop route is known, but is not reported.
            self._enter(DsdvRoute(sender, sender, 1, 0, now=now, settling=self.parameters.settling))
            self._changed(sender)
        self._detours.hear(sender, update)
        self.heard.hear(sender, now)
        return None

    # Processing of entries.

    def _add_destination(
        self, destination: NodeId, hop: NodeId, metric: int, sequence: int, now: float
    ) -> None:
        """Add a route to a new destination."""
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
        """Replace a route by a shorter one with the same sequence number."""
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
        """Accept a newer sequence number, regardless of its metric."""
        was_broken = route.metric >= INFINITY
        is_broken = metric >= INFINITY
        moved = was_broken != is_broken or (not is_broken and route.hop != hop)
        memory = self._settling_memory
        route.settling = memory * route.settling + (1 - memory) * (route.changed_at - route.sequence_since)
        settled_at = now if was_broken or is_broken else now + 2 * route.settling
        if not self._settle_anew and (route.settled_at > now or not route.last_advertised):
            # If the delay restarted each time, an intact route might not be reported for many periods.
            settled_at = settled_at if settled_at < route.settled_at else route.settled_at
        route.hop, route.metric, route.sequence = hop, metric, sequence
        route.changed_at = route.sequence_since = now
        route.settled_at = settled_at
        route.new_sequence = True
        route.new_metric = metric != route.last_advertised
        if self._trigger_on_fresh:
            self._announce(route, settled_at, now)
        self.table.touch(route)
        if moved:
            self._changed(route.destination)

    def _contradict(self, route: DsdvRoute, now: float) -> None:
        """Report a working route to a neighbour that reports it as broken."""
        route.new_metric = True
        route.settled_at = now
        self._announce(route, now, now)

    # Losses.

    def _lose(self, neighbour: NodeId) -> None:
        """Invalidate every route over a neighbour, and report this."""
        self.heard.forget(neighbour)
        self._detours.forget(neighbour)
        now = self.host.now()
        for route in self.table.through(neighbour):
            self.table.break_off(route, (route.sequence + 1) & HIGHEST_SEQUENCE)
            route.settled_at = now
            route.new_metric = route.new_sequence = True
            self._announce(route, now, now)
            self._changed(route.destination)

    def _enter(self, route: DsdvRoute) -> None:
        evicted = self.table.add(route)
        if evicted is not None and evicted.usable:
            self._changed(evicted.destination)

    def _changed(self, destination: NodeId) -> None:
        """Send the datagrams that waited for a route."""
        if destination in self.held and self.next_hop(destination) is not None:
            now = self.host.now()
            for since, waited in self.held.release(destination):
                older = self.user.add_age(waited.payload, now - since)
                self._forward(Datagram(waited.origin, waited.destination, waited.hops, older))
