"""AODV (RFC 3561): routes are asked for when they are needed, and kept while they are used.

A request floods in rings that grow; each node that passes it on remembers the way back, and the reply makes
the way there. Sequence numbers, which each node gives out for itself, tell new from old. A link that fails
breaks the routes over it: nodes known to use them are told, or the node at the break looks for another way
itself. Where ns-2's rules differ they are parameters (`parameters.NS2`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.neighbours import Neighbours
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_every, call_within
from roamcast.routing.unicast.aodv.breaks import Breaks
from roamcast.routing.unicast.aodv.discovery import Discovery
from roamcast.routing.unicast.aodv.messages import (
    DESTINATION_ONLY,
    GRATUITOUS,
    NO_DELETE,
    STAMPED,
    UNKNOWN,
    RouteError,
    RouteReply,
    RouteRequest,
)
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.routes import INFINITE, NUMBERS, Route, Routes, newer
from roamcast.routing.unicast.send_buffer import SendBuffer, Waiting
from roamcast.routing.unicast.unicast import Datagram, Unicast, User

ROUTE_BYTES = 26
"Destination, neighbour, hops, sequence number, flags and lifetime, with the ring."
PRECURSOR_BYTES = 4


class Aodv(Unicast):
    """One node's part in AODV."""

    parameters_type = AodvParameters
    messages = (RouteRequest, RouteReply, RouteError, Datagram)

    def __init__(self, host: Host, parameters: AodvParameters, user: User) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.routes = Routes(p.destinations, p.tick)
        self.held = SendBuffer(p.buffer, p.buffer_timeout)
        self.discovery = Discovery(
            host, p, self.routes, self._request, self.held.__contains__, self._stop_asking
        )
        self.breaks = Breaks(host, p, self.routes, self._lose)
        self.seen = Seen(p.requests)
        # Copies of requests still tell who is near, unless routes to neighbours are not made by them.
        self.handled = None if p.neighbour_routes or p.blacklist else self.seen
        self.sequence = host.incarnation << 24
        self._request_id = host.incarnation << 24
        "Counted from the incarnation on: those of an earlier one are still remembered by others."
        self._blacklist: Leases[NodeId, bool] = Leases(p.blacklist or 1.0, p.destinations)
        self._hellos: Neighbours | None = None
        if p.hello_interval:
            silence = p.allowed_hello_loss * p.hello_interval
            self._hellos = Neighbours(host, silence, p.destinations, self._break)
        self._listening_until = 0.0
        # Looked up once: every request asks for these.
        self._neighbour_routes = p.neighbour_routes
        self._life = p.active_route_timeout
        self._stamp = STAMPED if p.stamped else 0
        self._handlers = {
            RouteRequest: self._take_request,
            RouteReply: self._take_reply,
            RouteError: self._take_error,
            Datagram: self._take_datagram,
        }

    # What a router asks.

    def start(self) -> None:
        """Wait to be asked; after a crash, until others have given up the routes that were forgotten."""
        if self.host.incarnation:
            self._listening_until = self.host.now() + self.parameters.reboot_wait
            self.host.call_later(self.parameters.reboot_wait, self._begin)
        if self.parameters.hello_interval:
            call_every(self.host, self.parameters.hello_interval, self._hello)

    def send(self, message: Message, to: NodeId) -> None:
        """Carry a message to a node over as many hops as it takes; to oneself it is not sent."""
        datagram = Datagram(self.host.node, to, self.parameters.diameter, message)
        if to == self.host.node:
            self.host.drop(datagram, Drop.MALFORMED)
            return
        route = self.routes.live(to, self.host.now())
        if route is not None:
            self._pass_on(datagram, route, None)
        else:
            self._hold(datagram)
            if not self._listens():
                self.discovery.ask(to)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """The neighbour that the route to `destination` leads over, if there is one."""
        route = self.routes.peek(destination, self.host.now())
        return None if route is None else route.hop

    def neighbours(self) -> Collection[NodeId]:
        """Those over whom routes lead."""
        now = self.host.now()
        return list(dict.fromkeys(r.hop for r in self.routes if self.routes.peek(r.destination, now)))

    def tables(self) -> Mapping[str, Footprint]:
        """Routes with those who use them, what waits for routes, requests seen, searches and the blacklist."""
        p, routes, held = self.parameters, len(self.routes), len(self.held)
        users = sum(len(route.precursors) for route in self.routes)
        searches, ignored = len(self.discovery.searches), len(self._blacklist)
        return {
            "routes": Footprint(routes, ROUTE_BYTES * routes, p.destinations),
            "precursors": Footprint(users, PRECURSOR_BYTES * users, p.destinations * p.precursors),
            "held": Footprint(held, self.held.bytes(), p.buffer),
            "requests": Footprint(len(self.seen), 8 * len(self.seen), p.requests),
            "searches": Footprint(searches, 24 * searches, p.destinations),
            "blacklist": Footprint(ignored, 12 * ignored, p.destinations),
        }

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Learn from what is said, answer it, pass it on."""
        if self._neighbour_routes and sender != self.host.node:
            self._meet(sender, self.host.now())
        return self._handlers[type(message)](message, sender)

    # Datagrams.

    def _take_datagram(self, datagram: Datagram, sender: NodeId) -> Drop | None:
        now = self.host.now()
        if self.parameters.refresh_both_ways:
            # The way back is taken for the same as the way here, where it is the same.
            self._refresh(datagram.origin, sender, now)
        if datagram.destination == self.host.node:
            return self.user.arrive(datagram.payload, datagram.origin, sender)
        if datagram.hops <= 1 or datagram.origin == self.host.node:
            return Drop.HOP_LIMIT
        onward = Datagram(datagram.origin, datagram.destination, datagram.hops - 1, datagram.payload)
        route = self.routes.live(datagram.destination, now)
        if route is not None:
            self._pass_on(onward, route, sender)
        elif (
            datagram.destination in self.routes.entries
            and self.routes.entries[datagram.destination].repairing
        ):
            self._hold(onward)
        else:
            if self._listens():
                self._listening_until = now + self.parameters.reboot_wait
            self.breaks.refuse(datagram.destination, sender)
            self.fail(datagram.payload, datagram.origin, datagram.destination, Drop.NO_ROUTE)
        return None

    def _pass_on(self, datagram: Datagram, route: Route, sender: NodeId | None) -> None:
        route.expires = max(route.expires, self.host.now() + self._life)
        if self.parameters.refresh_both_ways:
            self._refresh(route.hop, route.hop, self.host.now())
        self.host.send(datagram, route.hop)

    def _refresh(self, destination: NodeId, over: NodeId, now: float) -> None:
        route = self.routes.live(destination, now)
        if route is not None and route.hop == over:
            route.expires = max(route.expires, now + self._life)

    def _hold(self, datagram: Datagram) -> None:
        now = self.host.now()
        for late in self.held.lapsed(now):
            self._let_go(late, Drop.EXPIRED)
        for displaced in self.held.keep(datagram, datagram.destination, now):
            self._let_go(displaced, Drop.TABLE_FULL)

    def _let_go(self, waiting: Waiting, reason: Drop) -> None:
        datagram = waiting.message
        assert isinstance(datagram, Datagram)
        self.fail(datagram.payload, datagram.origin, datagram.destination, reason)

    def _release(self, route: Route) -> None:
        """Send what waited for a route."""
        if route.destination not in self.held:
            return
        now, delay = self.host.now(), 0.0
        for late in self.held.lapsed(now):
            self._let_go(late, Drop.EXPIRED)
        for waiting in self.held.release(route.destination):
            datagram = waiting.message
            assert isinstance(datagram, Datagram)
            older = self.user.grow_older(datagram.payload, now + delay - waiting.since)
            onward = Datagram(datagram.origin, datagram.destination, datagram.hops, older)
            if delay:
                self.host.call_later(delay, self._send_late, onward)
            else:
                self._pass_on(onward, route, None)
            delay += self.parameters.release_gap

    def _send_late(self, datagram: Datagram) -> None:
        route = self.routes.live(datagram.destination, self.host.now())
        if route is not None:
            self._pass_on(datagram, route, None)
        elif datagram.origin == self.host.node:
            self._hold(datagram)
            self.discovery.ask(datagram.destination)
        else:
            self.fail(datagram.payload, datagram.origin, datagram.destination, Drop.NO_ROUTE)

    # Requests.

    def _request(self, route: Route, ttl: int) -> None:
        """Ask for a route."""
        p, node = self.parameters, self.host.node
        self.sequence = (self.sequence + (2 if p.parity else 1)) % NUMBERS
        self._request_id = (self._request_id + 1) % NUMBERS
        flags = self._stamp
        flags |= 0 if route.known else UNKNOWN
        flags |= 0 if p.intermediate_replies else DESTINATION_ONLY
        flags |= GRATUITOUS if p.gratuitous_replies else 0
        request = RouteRequest(
            flags, 0, ttl, self._request_id, route.destination, route.sequence, node, self.sequence
        )
        self.seen.add(request.flood)
        self.host.broadcast(request)

    def _take_request(self, request: RouteRequest, sender: NodeId) -> Drop | None:
        origin = request.origin
        if not self.seen.add(origin << 32 | request.id):
            return DUPLICATE
        node, now = self.host.node, self.host.now()
        if node in (origin, sender) or request.hops >= INFINITE - 1:
            return Drop.MALFORMED
        if len(self._blacklist) and self._blacklist.get(sender, now) is not None:
            return Drop.SUPPRESSED
        hops = request.hops + 1
        back = self._learn_way_back(origin, sender, hops, request.origin_sequence, now)
        destination = request.destination
        if destination == node:
            self._answer_for_myself(request)
            return None
        route = self.routes.live(destination, now)
        if route is not None and self._may_answer(request, route):
            self._answer_from_table(request, route, back, now)
            return None
        if request.ttl <= 1:
            return Drop.HOP_LIMIT
        if self._listens():
            return Drop.SUPPRESSED
        flags, asked = request.flags, request.destination_sequence
        known = self.routes.entries.get(destination)
        if known is not None and known.known and (flags & UNKNOWN or newer(known.sequence, asked)):
            flags &= ~UNKNOWN
            asked = known.sequence
        onward = RouteRequest(
            flags, hops, request.ttl - 1, request.id, destination, asked, origin, request.origin_sequence
        )
        call_within(self.host, self.parameters.jitter, self.host.broadcast, onward)
        return None

    def _learn_way_back(
        self, origin: NodeId, sender: NodeId, hops: int, sequence: int, now: float
    ) -> Route | None:
        """Enter the way to who asks; it must last until a reply can come."""
        p = self.parameters
        life = p.reverse_route_life or max(2 * p.node_traversal * (2 * p.diameter - hops), p.node_traversal)
        route = self.routes.offer(origin, sender, hops, sequence, now + life)
        if route is not None:
            if origin in self.discovery.searches:
                self.discovery.found(route, False)
                route.expires = now + self._life
            self._release(route)
            return route
        route = self.routes.live(origin, now)
        if route is not None:
            route.expires = max(route.expires, now + life)
        return route

    def _may_answer(self, request: RouteRequest, route: Route) -> bool:
        return (
            not request.flags & DESTINATION_ONLY
            and route.known
            and not self._listens()
            and (request.flags & UNKNOWN > 0 or not newer(request.destination_sequence, route.sequence))
        )

    def _answer_for_myself(self, request: RouteRequest) -> None:
        asked = request.destination_sequence
        if not request.flags & UNKNOWN and newer(asked, self.sequence):
            self.sequence = asked
        if self.parameters.parity:
            self.sequence = (self.sequence + 2 - self.sequence % 2) % NUMBERS
        life = int(1000 * self.parameters.my_route_timeout)
        if not self._listens():
            self._reply(
                RouteReply(self._stamp, 0, self.host.node, self.sequence, request.origin, life),
                request.origin,
            )

    def _answer_from_table(self, request: RouteRequest, route: Route, back: Route | None, now: float) -> None:
        if back is None:
            return
        most = self.parameters.precursors
        route.use_by(back.hop, most)
        back.use_by(route.hop, most)
        self._reply(
            RouteReply(
                self._stamp,
                route.hops,
                route.destination,
                route.sequence,
                request.origin,
                max(int(1000 * (route.expires - now)), 0),
            ),
            request.origin,
        )
        if request.flags & GRATUITOUS:
            life = max(int(1000 * (back.expires - now)), 0)
            told = RouteReply(
                self._stamp, back.hops, back.destination, back.sequence, route.destination, life
            )
            self._reply(told, route.destination)

    # Replies.

    def _reply(self, reply: RouteReply, to: NodeId) -> None:
        """Send a reply one hop nearer to who asked."""
        back = self.routes.live(to, self.host.now())
        if back is not None:
            self.host.send(reply, back.hop)
        else:
            self.host.drop(reply, Drop.NO_ROUTE)

    def _take_reply(self, reply: RouteReply, sender: NodeId) -> Drop | None:
        node, now = self.host.node, self.host.now()
        if node in (reply.destination, sender) or reply.hops >= INFINITE - 1:
            return Drop.MALFORMED
        if reply.destination == sender and reply.origin == sender:
            return self._take_hello(reply, sender, now)
        p = self.parameters
        before = self.routes.entry(reply.destination)
        repaired = before.repairing and p.local_repair == "rfc"
        life = min(reply.lifetime / 1000, p.my_route_timeout)
        hops = reply.hops + 1
        route = self.routes.offer(reply.destination, sender, hops, reply.destination_sequence, now + life)
        if route is None:
            return Drop.SUPPRESSED
        if repaired and hops > route.last_hops:
            self.breaks.tell([route], flags=NO_DELETE)
        self.discovery.found(route, reply.origin == node)
        self._release(route)
        if reply.origin == node:
            return None
        back = self.routes.live(reply.origin, now)
        if back is None:
            return Drop.NO_ROUTE
        if self._listens():
            return Drop.SUPPRESSED
        route.use_by(back.hop, p.precursors)
        if p.refresh_both_ways:
            back.expires = max(back.expires, now + self._life)
            towards = self.routes.live(sender, now)
            if towards is not None:
                towards.use_by(back.hop, p.precursors)
        onward = RouteReply(
            reply.flags, hops, reply.destination, reply.destination_sequence, reply.origin, reply.lifetime
        )
        self.host.send(onward, back.hop)
        return None

    # Neighbours.

    def _meet(self, neighbour: NodeId, now: float) -> None:
        """Know a neighbour that speaks; of its sequence number this tells nothing."""
        route = self.routes.entries.get(neighbour)
        if route is None:
            route = self.routes.entry(neighbour)
        elif route.up and route.hops == 1:
            route.expires = max(route.expires, now + self._life)
            return
        route.hop, route.hops, route.up, route.repairing = neighbour, 1, True, False
        route.expires = now + self._life
        if neighbour in self.discovery.searches:
            self.discovery.found(route, False)
        self._release(route)

    def _hello(self) -> None:
        """Say that one is there, while routes lead over here."""
        now = self.host.now()
        if any(self.routes.peek(route.destination, now) for route in self.routes):
            p, node = self.parameters, self.host.node
            life = int(1000 * p.allowed_hello_loss * p.hello_interval)
            self.host.broadcast(RouteReply(self._stamp, 0, node, self.sequence, node, life))

    def _take_hello(self, hello: RouteReply, sender: NodeId, now: float) -> None:
        life = min(hello.lifetime / 1000, self.parameters.my_route_timeout)
        route = self.routes.offer(sender, sender, 1, hello.destination_sequence, now + life)
        if route is not None:
            self._release(route)
        if self._hellos is not None:
            self._hellos.hear(sender, now)

    # Breaks.

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Break the routes over a neighbour, and see to what was to go over it."""
        p = self.parameters
        if type(message) is RouteReply and p.blacklist:
            now = self.host.now()
            self._blacklist.sweep(now)
            self._blacklist.renew(to, True, now)
        if type(message) is not Datagram:
            if p.control_breaks:
                self._break(to)
            return
        route = self.routes.entries.get(message.destination)
        if route is not None and route.up and route.hop == to and self._repairs(message, route):
            self._repair(message, route, to)
            return
        self._salvage(message)
        self._break(to)

    def _break(self, neighbour: NodeId) -> None:
        """A neighbour is gone: what waits in the link for it, and the routes over it."""
        if self._hellos is not None:
            self._hellos.forget(neighbour)
        if self.parameters.parity:
            self.sequence = (self.sequence + 2) % NUMBERS  # ns-2: the neighbourhood has changed
        self.breaks.bring_down(neighbour)
        self._withdraw(neighbour)

    def _withdraw(self, neighbour: NodeId) -> None:
        for message in self.host.withdraw(neighbour):
            if type(message) is Datagram:
                self._salvage(message)
            elif isinstance(message, (RouteReply, RouteError)):
                self.host.drop(message, Drop.NO_ROUTE)
            else:
                self.host.send(message, neighbour)  # the router's own: it is told when the link gives up

    def _salvage(self, datagram: Datagram) -> None:
        """Ask anew for a message of one's own; let go what is another's."""
        if datagram.origin == self.host.node and self.parameters.keep_own:
            self._hold(datagram)
            self.host.call_later(0.0, self._retry, datagram.destination)
        else:
            self.fail(datagram.payload, datagram.origin, datagram.destination, Drop.NO_ROUTE)

    def _retry(self, destination: NodeId) -> None:
        """Send what was taken back, now that its routes are settled."""
        if destination not in self.held:
            return
        route = self.routes.live(destination, self.host.now())
        if route is not None:
            self._release(route)
        else:
            self.discovery.ask(destination)

    def _repairs(self, datagram: Datagram, route: Route) -> bool:
        """Whether this node looks for another way itself."""
        p = self.parameters
        if datagram.origin == self.host.node:
            return False
        if p.local_repair == "ns2":
            return p.diameter - datagram.hops > route.hops
        return p.local_repair == "rfc" and route.hops <= p.repair_share * p.diameter

    def _repair(self, datagram: Datagram, route: Route, to: NodeId) -> None:
        """Look for another way to the destination of a message, which waits for it."""
        p = self.parameters
        if p.local_repair == "ns2":
            route.up, route.repairing = False, True
            self._hold(datagram)
            self.discovery.ask(route.destination)
            return
        now = self.host.now()
        source = self.routes.live(datagram.origin, now)
        there = route.hops
        self.breaks.bring_down(to, but=route.destination)
        route.bring_down()
        route.repairing = True
        self._hold(datagram)
        half = (source.hops if source is not None else p.diameter - datagram.hops) // 2
        self._withdraw_for_repair(to, route)
        self.discovery.ask(route.destination, repair=min(max(there, half) + p.local_add_ttl, p.diameter))

    def _withdraw_for_repair(self, neighbour: NodeId, route: Route) -> None:
        for message in self.host.withdraw(neighbour):
            if type(message) is Datagram and message.destination == route.destination:
                self._hold(message)
            elif type(message) is Datagram:
                self._salvage(message)
            elif not isinstance(message, (RouteReply, RouteError)):
                self.host.send(message, neighbour)

    def _stop_asking(self, destination: NodeId, repair: bool) -> None:
        """A search has failed: let go what waits for it, and after a repair tell who used the route."""
        route = self.routes.entry(destination)
        if repair:
            route.repairing = False
            self.breaks.tell([route])
            route.precursors.clear()
        for waiting in self.held.release(destination):
            self._let_go(waiting, Drop.NO_ROUTE)

    def _take_error(self, error: RouteError, sender: NodeId) -> Drop | None:
        if sender == self.host.node:
            return Drop.MALFORMED
        return None if self.breaks.take(error, sender) else Drop.UNWANTED

    def _lose(self, route: Route, neighbour: NodeId) -> None:
        """A route over a neighbour was given up: what still waits in the link goes no further there."""
        if self.parameters.errors_empty_queue:
            for message in self.host.withdraw(neighbour):
                if type(message) is Datagram:
                    self.fail(message.payload, message.origin, message.destination, Drop.NO_ROUTE)
                elif not isinstance(message, (RouteReply, RouteError)):
                    self.host.send(message, neighbour)

    # After a crash.

    def _listens(self) -> bool:
        return self._listening_until > self.host.now()

    def _begin(self) -> None:
        """Ask for what was sent while listening."""
        left = self._listening_until - self.host.now()
        if left > 0:
            self.host.call_later(left, self._begin)
            return
        for destination in self.held.destinations():
            self._retry(destination)
