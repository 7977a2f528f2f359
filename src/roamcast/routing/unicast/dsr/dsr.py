"""DSR (RFC 4728): every packet carries its whole way, and everyone learns from the ways it sees.

A request gathers the way that it comes; its target, or a node that knows the rest of the way, tells it back.
Nodes keep the ways that they asked for, pass on or overhear. Where a link fails the node before it tells who
sent the packet on that way, and sends the packet another way if it knows one. Links acknowledge by
themselves, so packets need no acknowledgements of their own; flow state is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsr.messages import (
    MOST_BURDEN,
    DeadLink,
    DsrError,
    DsrPacket,
    DsrReply,
    DsrRequest,
)
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.path_cache import PathCache
from roamcast.routing.unicast.dsr.searches import Searches
from roamcast.routing.unicast.send_buffer import SendBuffer, Waiting
from roamcast.routing.unicast.unicast import Datagram, Unicast, User

IDENTIFICATIONS = 2**16


class Dsr(Unicast):
    """One node's part in DSR."""

    parameters_type = DsrParameters
    messages = (DsrRequest, DsrReply, DsrError, DsrPacket)
    promiscuous = True

    def __init__(self, host: Host, parameters: DsrParameters, user: User) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.cache = PathCache(host.node, p.primary, p.secondary, p.cache_timeout)
        self.held = SendBuffer(p.buffer, p.buffer_timeout)
        self.searches = Searches(host, p, self._request, self.held.__contains__, self._stop_asking)
        self.handled = self.seen = Seen(p.requests)
        self.tapped = Seen(p.tapped)
        self._id = host.incarnation << 8
        self._request_id = host.incarnation << 8
        "Counted from the incarnation on: those of an earlier one are still remembered by others."
        self._told: Leases[tuple[NodeId, NodeId], bool] = Leases(
            max(p.gratuitous_holdoff, 1e-3), p.gratuitous_table
        )
        self._flows: Leases[NodeId, tuple[NodeId, ...]] = Leases(p.flow_lease or 1.0, p.targets)
        "Ways in use, by destination."
        self._dead: tuple[float, DeadLink] | None = None
        "The last link that made a packet of ours fail, and when."
        self._looking = False
        self._node = host.node
        self._handlers: dict[Any, Callable[[Any, NodeId], Drop | None]] = {
            DsrRequest: self._take_request,
            DsrReply: self._take_reply,
            DsrError: self._take_error,
            DsrPacket: self._take_packet,
        }

    # What a router asks.

    def start(self) -> None:
        """Wait to be asked."""

    def send(self, message: Message, to: NodeId) -> None:
        """Carry a message to a node over as many hops as it takes; to oneself it is not sent."""
        datagram = Datagram(self._node, to, 0, message)
        if to == self._node:
            self.host.drop(datagram, Drop.MALFORMED)
        elif not self._depart(datagram):
            self._hold(datagram)
            self.searches.ask(to)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """The first neighbour on the shortest way to `destination`, if one is known."""
        path = self.cache.find(destination, self.host.now())
        return None if path is None else path[1]

    def neighbours(self) -> Collection[NodeId]:
        """The first nodes on ways that are known."""
        return list(dict.fromkeys(path[1] for path in self.cache.ways()))

    def tables(self) -> Mapping[str, Footprint]:
        """Ways, what waits for ways, requests and packets seen, searches, and shortcuts told."""
        p = self.parameters
        ways, held = len(self.cache), len(self.held)
        rounds, told = len(self.searches.rounds), len(self._told)
        return {
            "ways": Footprint(ways, self.cache.bytes(), p.primary + p.secondary),
            "held": Footprint(held, self.held.bytes(), p.buffer),
            "requests": Footprint(len(self.seen), 6 * len(self.seen), p.requests),
            "tapped": Footprint(len(self.tapped), 6 * len(self.tapped), p.tapped),
            "searches": Footprint(rounds, 12 * rounds, p.targets),
            "flows": Footprint(len(self._flows), 40 * len(self._flows), p.targets),
            "shortcuts": Footprint(told, 16 * told, p.gratuitous_table),
        }

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Learn from what is said, answer it, pass it on."""
        return self._handlers[type(message)](message, sender)

    # Packets.

    def _depart(self, datagram: Datagram, salvaged: int = 0) -> bool:
        """Send a message on a way that is known; false if there is none."""
        path = self._choose(datagram.destination, self.host.now())
        if path is None:
            return False
        self._id = (self._id + 1) % IDENTIFICATIONS
        packet = DsrPacket(datagram.origin, self._id, salvaged, path, 1, datagram.payload)
        self.host.send(packet, path[1])
        return True

    def _choose(self, destination: NodeId, now: float) -> tuple[NodeId, ...] | None:
        """The shortest way that is known, or that was in use not long ago."""
        path = self.cache.use(destination, now)
        if not self.parameters.flow_lease:
            return path
        flow = self._flows.get(destination, now)
        if flow is not None and (path is None or len(flow) <= len(path)):
            path = flow
        if path is not None:
            self._flows.sweep(now)
            self._flows.renew(destination, path, now)
        return path

    def _cut(self, start: NodeId, end: NodeId) -> None:
        """Give up a link, and the ways over it."""
        self.cache.cut(start, end)
        for destination, way in list(self._flows.items(self.host.now())):
            if (start, end) in pairwise(way):
                self._flows.discard(destination)

    def _take_packet(self, packet: DsrPacket, sender: NodeId) -> Drop | None:
        place = self._place(packet.route, packet.at, sender)
        if place is None:
            return Drop.MALFORMED
        route = packet.route
        if place == len(route) - 1:
            return self.user.arrive(packet.payload, packet.origin, sender)
        if packet.origin == self._node:
            return Drop.HOP_LIMIT
        self._notice(route[place:])
        onward = DsrPacket(packet.origin, packet.id, packet.salvaged, route, place + 1, packet.payload)
        self.host.send(onward, route[place + 1])
        return None

    def _place(self, route: tuple[NodeId, ...], at: int, sender: NodeId) -> int | None:
        """Where on its way a message is, if it came as it says."""
        if route[at] != self._node or route[at - 1] != sender:
            return None
        return at

    def _hold(self, datagram: Datagram) -> None:
        now = self.host.now()
        self._let_go_late(now)
        for displaced in self.held.keep(datagram, datagram.destination, now):
            self._let_go(displaced, Drop.TABLE_FULL)

    def _let_go_late(self, now: float) -> None:
        for late in self.held.lapsed(now):
            self._let_go(late, Drop.EXPIRED)

    def _let_go(self, waiting: Waiting, reason: Drop) -> None:
        datagram = waiting.message
        assert isinstance(datagram, Datagram)
        self.fail(datagram.payload, datagram.origin, datagram.destination, reason)

    def _stop_asking(self, target: NodeId) -> None:
        for waiting in self.held.release(target):
            self._let_go(waiting, Drop.NO_ROUTE)

    def _look(self) -> None:
        """Send what waits and has a way now."""
        self._looking = False
        now = self.host.now()
        self._let_go_late(now)
        delay = 0.0
        for destination in self.held.destinations():
            if self.cache.find(destination, now) is None:
                continue
            for waiting in self.held.release(destination):
                self.host.call_later(delay, self._send_late, waiting)
                delay += self.parameters.release_gap

    def _send_late(self, waiting: Waiting) -> None:
        datagram = waiting.message
        assert isinstance(datagram, Datagram)
        waited = self.host.now() - waiting.since
        older = self.user.grow_older(datagram.payload, waited)
        onward = Datagram(datagram.origin, datagram.destination, datagram.hops, older)
        # The hops of one that is held tell how often it was salvaged.
        if not self._depart(onward, datagram.hops):
            self._hold(onward)
            self.searches.ask(datagram.destination, salvage=datagram.origin != self._node)

    # Learning.

    def _learn(self, path: tuple[NodeId, ...]) -> None:
        """Keep a way that was asked for, and see who waited for it."""
        if len(path) <= self.parameters.route_limit and self.cache.add(path, self.host.now()):
            self._look_soon(self.parameters.buffer_check)

    def _notice(self, path: tuple[NodeId, ...]) -> None:
        """Keep a way that was seen."""
        if (
            1 < len(path) <= self.parameters.route_limit
            and self.cache.notice(path, self.host.now())
            and len(self.held)
        ):
            self._look_soon(self.parameters.buffer_check)

    def _look_soon(self, check: float) -> None:
        if len(self.held) and not self._looking:
            self._looking = True
            self.host.call_later(1.5 * check * self.host.random.random() if check else 0.0, self._look)

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Learn once from a packet between two others: its way, what it tells, if it could be shorter."""
        kind = type(message)
        if kind not in TAPPED or not self.parameters.overhearing:
            return
        route = message.route
        origin = message.origin if kind is DsrPacket else route[0]
        if not self.tapped.add(origin << 16 | message.id) or origin == self._node:
            return
        at = message.at
        if route[at] != to or route[at - 1] != sender:
            return
        if kind is DsrError:
            self._bury(message.dead)
        elif kind is DsrReply:
            self._notice_found(message.found, sender)
        node = self._node
        if node in route:
            place = route.index(node)
            self._notice(route[place:])
            if place > at and kind is DsrPacket:
                self._shorten(message, place)
        else:
            self._notice((node, *route[at - 1 :]))

    def _notice_found(self, found: tuple[NodeId, ...], sender: NodeId) -> None:
        node = self._node
        if node in found:
            self._notice(found[found.index(node) :])
        elif sender in found and self.parameters.overheard_finds:
            self._notice((node, *found[found.index(sender) :]))

    def _shorten(self, packet: DsrPacket, place: int) -> None:
        """Tell the sender of a packet that it need not have gone by those between: it was heard here."""
        route, at, now = packet.route, packet.at, self.host.now()
        key = (route[0], route[at - 1])
        self._told.sweep(now)
        if not self.parameters.gratuitous_holdoff or key in self._told:
            return
        self._told.renew(key, True, now)
        self._reply(route[:at] + route[place:], (self._node, *reversed(route[:at])))

    # Requests.

    def _request(self, target: NodeId, ttl: int) -> None:
        """Ask for a way."""
        p, now = self.parameters, self.host.now()
        self._let_go_late(now)
        self._request_id = (self._request_id + 1) % IDENTIFICATIONS
        recent = self._dead is not None and now - self._dead[0] < p.error_memory
        dead = (self._dead[1],) if recent and self._dead is not None else ()
        request = DsrRequest(target, self._request_id, ttl, (self._node,), dead)
        self.seen.add(request.flood)
        if p.request_jitter:
            call_within(self.host, p.request_jitter, self.host.broadcast, request)
        else:
            self.host.broadcast(request)

    def _take_request(self, request: DsrRequest, sender: NodeId) -> Drop | None:
        so_far, node = request.so_far, self._node
        if request.target == node:
            return self._answer(request, sender)
        if not self.seen.add(so_far[0] << 16 | request.id):
            return DUPLICATE
        if so_far[-1] != sender or node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self._bury(dead)
        if len(so_far) >= self.parameters.route_limit - 1:
            return Drop.HOP_LIMIT
        if self.parameters.cached_replies and self._answer_from_cache(request):
            return None
        return self._ask_on(request)

    def _ask_on(self, request: DsrRequest) -> Drop | None:
        """Repeat a request with one's own name at its end."""
        if request.ttl <= 1:
            return Drop.HOP_LIMIT
        p, so_far, burden = self.parameters, request.so_far, request.burden
        if p.inflated_requests:
            burden = min(burden + 8 + 4 * len(so_far) + 16 * len(request.dead), MOST_BURDEN)
        onward = DsrRequest(
            request.target, request.id, request.ttl - 1, (*so_far, self._node), request.dead, burden
        )
        call_within(self.host, p.jitter, self.host.broadcast, onward)
        return None

    def _answer(self, request: DsrRequest, sender: NodeId) -> Drop | None:
        """Answer each copy of a request for oneself: each came another way."""
        so_far, p = request.so_far, self.parameters
        if so_far[-1] != sender or self._node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self._bury(dead)
        found = (*so_far, self._node)
        if len(found) > p.route_limit:
            return Drop.HOP_LIMIT
        back = found[::-1]
        if p.reply_jitter:
            call_within(self.host, p.reply_jitter, self._reply, found, back)
        else:
            self._reply(found, back)
        return None

    def _answer_from_cache(self, request: DsrRequest) -> bool:
        """Tell the rest of the way, if it is known and does not come back."""
        p, so_far = self.parameters, request.so_far
        rest = self.cache.find(request.target, self.host.now())
        if rest is None or len(so_far) + len(rest) > p.route_limit or not set(so_far).isdisjoint(rest):
            return False
        back = (self._node, *reversed(so_far))
        if p.reply_spacing:
            hops = len(so_far) + len(rest) - 1
            wait = p.reply_spacing * (hops - 1 + self.host.random.random())
            self.host.call_later(wait, self._reply, so_far + rest, back)
        else:
            self._reply(so_far + rest, back)
        return True

    # Replies and errors.

    def _reply(self, found: tuple[NodeId, ...], route: tuple[NodeId, ...]) -> None:
        """Tell a way to the node at the end of `route`."""
        self._id = (self._id + 1) % IDENTIFICATIONS
        self._notice(route)
        self.host.send(DsrReply(self._id, route, 1, found), route[1])

    def _take_reply(self, reply: DsrReply, sender: NodeId) -> Drop | None:
        place = self._place(reply.route, reply.at, sender)
        if place is None:
            return Drop.MALFORMED
        route = reply.route
        if place == len(route) - 1:
            if reply.found[0] != self._node:
                return Drop.MALFORMED
            self.cache.add(reply.found, self.host.now())
            self.searches.found(reply.found[-1])
            self._look()
            return None
        self._notice(route[place:])
        self._notice_found(reply.found, sender)
        self.host.send(DsrReply(reply.id, route, place + 1, reply.found), route[place + 1])
        return None

    def _take_error(self, error: DsrError, sender: NodeId) -> Drop | None:
        place = self._place(error.route, error.at, sender)
        if place is None:
            return Drop.MALFORMED
        self._bury(error.dead)
        route = error.route
        if place == len(route) - 1:
            self._dead = (self.host.now(), error.dead)
            return None
        self._notice(route[place:])
        self.host.send(DsrError(error.id, route, place + 1, error.dead), route[place + 1])
        return None

    def _bury(self, dead: DeadLink) -> None:
        self._cut(dead.start, dead.end)

    # Breaks.

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Give up the ways over a link, tell who sent packets over it, and send them another way."""
        self._cut(self._node, to)
        told: set[NodeId] = set()
        self._see_to(message, to, told)
        for waiting in self.host.withdraw(to):
            if type(waiting) in self.messages:
                self._see_to(waiting, to, told)
            else:
                self.host.send(waiting, to)  # the router's own: it is told when the link gives up

    def _see_to(self, message: Any, to: NodeId, told: set[NodeId]) -> None:
        """See to a message that a link could not carry."""
        kind = type(message)
        if kind is DsrPacket or kind is DsrReply:
            self._complain(message.route, message.at, to, told)
        if kind is DsrPacket:
            self._salvage(message)
        elif kind is DsrReply or kind is DsrError:
            self.host.drop(message, Drop.NO_ROUTE)

    def _complain(self, route: tuple[NodeId, ...], at: int, to: NodeId, told: set[NodeId]) -> None:
        """Tell who chose a way that a link on it has failed."""
        chooser = route[0]
        dead = DeadLink(self._node, to)
        if chooser == self._node:
            self._dead = (self.host.now(), dead)
        elif chooser not in told:
            told.add(chooser)
            self._id = (self._id + 1) % IDENTIFICATIONS
            back = route[at - 1 :: -1]
            self.host.send(DsrError(self._id, back, 1, dead), back[1])

    def _salvage(self, packet: DsrPacket) -> None:
        """Send a packet another way; its origin waits for one, another gives it up."""
        p, destination = self.parameters, packet.route[-1]
        mine = packet.origin == self._node
        salvaged = packet.salvaged if mine else packet.salvaged + 1
        datagram = Datagram(packet.origin, destination, salvaged, packet.payload)
        if not mine and salvaged > p.most_salvages:
            self.fail(packet.payload, packet.origin, destination, Drop.HOP_LIMIT)
        elif self._depart(datagram, salvaged):
            return
        elif mine or p.salvage_request:
            self._hold(datagram)
            self.searches.ask(destination, salvage=not mine)
        else:
            self.fail(packet.payload, packet.origin, destination, Drop.NO_ROUTE)


TAPPED = (DsrPacket, DsrReply, DsrError)
"What is overheard; of the ways of requests nobody knows whether they lead back."
