"""Route requests and replies of AODV, and the routes that nodes learn from them."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import DUPLICATE, Drop, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.serials import SERIALS, is_newer
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.aodv.messages import (
    DESTINATION_ONLY,
    GRATUITOUS,
    NO_DELETE,
    STAMPED,
    UNKNOWN,
    RouteReply,
    RouteRequest,
)
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.request_memory import RequestMemory
from roamcast.routing.unicast.aodv.route_errors import RouteErrors
from roamcast.routing.unicast.aodv.routes import INFINITE, AodvRoute, AodvRouteTable

FOR_EVER = 2**32 - 1
"Lifetime that ns-2 reports for a route under repair [ms]."


class RequestReply:
    """A node's handling of requests and replies, with its sequence number and the seen requests."""

    def __init__(
        self, host: Host, parameters: AodvParameters, routes: AodvRouteTable, breaks: RouteErrors
    ) -> None:
        self.host = host
        self.parameters = p = parameters
        self.routes = routes
        self.breaks = breaks
        self.seen = Seen(p.requests)
        self._memory = RequestMemory(p.requests, p.request_memory) if p.request_memory else None
        "Replaces `seen` if requests are remembered for a limited time."
        self.sequence = host.incarnation << 24
        self._request_id = host.incarnation << 24
        "Starts from the incarnation, since other nodes remember the ids of earlier ones."
        self.blacklist: Leases[NodeId, bool] = Leases(p.blacklist or 1.0, p.destinations)
        "Neighbours to which a reply could not be sent."
        self.stamp = STAMPED if p.stamped else 0
        self.listening_until = 0.0
        "End of the silent period after a crash [s]."
        self.found: Callable[[AodvRoute, bool], None] = _ignore
        "Called for each new route, with whether a reply brought it."

    def listens(self) -> bool:
        """Return whether this node is in the silent period after a crash."""
        return self.listening_until > self.host.now()

    # Requests.

    def request(self, route: AodvRoute, ttl: int) -> None:
        """Broadcast a request for a route."""
        p, node = self.parameters, self.host.node
        self.sequence = (self.sequence + (2 if p.parity else 1)) % SERIALS
        self._request_id = (self._request_id + 1) % SERIALS
        flags = self.stamp
        flags |= 0 if self.routes.numbered(route, self.host.now()) else UNKNOWN
        flags |= 0 if p.intermediate_replies else DESTINATION_ONLY
        flags |= GRATUITOUS if p.gratuitous_replies else 0
        request = RouteRequest(
            flags, 0, ttl, self._request_id, route.destination, route.sequence, node, self.sequence
        )
        self._note(request.flood)
        self.host.broadcast(request)

    def _note(self, request: int) -> bool:
        """Remember a request; return False if it is already remembered."""
        if self._memory is not None:
            return self._memory.add(request, self.host.now())
        return self.seen.add(request)

    def handle_request(self, request: RouteRequest, sender: NodeId) -> Drop | None:
        """Store the reverse route of a request; reply to it or repeat it."""
        if not self._note(request.origin << 32 | request.id):
            return DUPLICATE
        now = self.host.now()
        if self.host.node in (request.origin, sender) or request.hops >= INFINITE - 1:
            return Drop.MALFORMED
        if len(self.blacklist) and self.blacklist.get(sender, now) is not None:
            return Drop.SUPPRESSED
        back = self._learn_reverse_route(request, sender, now)
        if request.destination == self.host.node:
            self._answer_as_destination(request)
            return None
        route = self.routes.usable(request.destination, now)
        if route is not None and self._may_answer(request, route):
            self._answer_from_table(request, route, back, now)
            return None
        return self._forward_request(request)

    def _forward_request(self, request: RouteRequest) -> Drop | None:
        """Repeat a request with the newest known sequence number of the destination."""
        if request.ttl <= 1:
            return Drop.HOP_LIMIT
        if self.listens():
            return Drop.SUPPRESSED
        flags, requested = request.flags, request.destination_sequence
        known = self.routes.entries.get(request.destination)
        if (
            known is not None
            and (flags & UNKNOWN or is_newer(known.sequence, requested))
            and self.routes.numbered(known, self.host.now())
        ):
            flags &= ~UNKNOWN
            requested = known.sequence
        onward = RouteRequest(
            flags,
            request.hops + 1,
            request.ttl - 1,
            request.id,
            request.destination,
            requested,
            request.origin,
            request.origin_sequence,
        )
        call_within(self.host, self.parameters.jitter, self.host.broadcast, onward)
        return None

    def _learn_reverse_route(self, request: RouteRequest, sender: NodeId, now: float) -> AodvRoute | None:
        """Store the reverse route to the origin, with a lifetime until a reply can arrive."""
        p, origin, hops = self.parameters, request.origin, request.hops + 1
        life = p.reverse_route_lifetime or max(
            2 * p.node_traversal * (2 * p.diameter - hops), p.node_traversal
        )
        known = self.routes.entries.get(origin)
        until = 0.0 if known is None else known.expires
        route = self.routes.offer(origin, sender, hops, request.origin_sequence, now=now, life=life)
        if route is not None:
            route.expires = max(route.expires, until)  # RFC 3561, 6.5: a request does not shorten it
            self.found(route, False)
            return route
        route = self.routes.live(origin, now)
        if route is not None:
            route.expires = max(route.expires, now + life)
        return route

    def _may_answer(self, request: RouteRequest, route: AodvRoute) -> bool:
        return (
            not request.flags & DESTINATION_ONLY
            and route.known
            and not self.listens()
            and self._outlives_reply(route)
            and (request.flags & UNKNOWN > 0 or not is_newer(request.destination_sequence, route.sequence))
        )

    def _outlives_reply(self, route: AodvRoute) -> bool:
        least = self.parameters.reply_lifetime
        return not least or route.repairing or route.expires - self.host.now() >= least

    def _answer_as_destination(self, request: RouteRequest) -> None:
        requested = request.destination_sequence
        if not request.flags & UNKNOWN and is_newer(requested, self.sequence):
            self.sequence = requested
        if self.parameters.parity:
            self.sequence = (self.sequence + 2 - self.sequence % 2) % SERIALS
        life = int(1000 * self.parameters.my_route_timeout)
        reply = RouteReply(self.stamp, 0, self.host.node, self.sequence, request.origin, life)
        if not self.listens():
            self._reply(reply, request.origin)

    def _answer_from_table(
        self, request: RouteRequest, route: AodvRoute, back: AodvRoute | None, now: float
    ) -> None:
        if back is None:
            return
        most = self.parameters.precursors
        route.use_by(back.hop, most)
        back.use_by(route.hop, most)
        self._reply(self._send_reply(route, request.origin, now), request.origin)
        if request.flags & GRATUITOUS:
            self._reply(self._send_reply(back, route.destination, now), route.destination)

    def _send_reply(self, route: AodvRoute, to: NodeId, now: float) -> RouteReply:
        left = max(route.expires - now, 0.0)
        life = 1000 * int(left) if self.parameters.stamped else int(1000 * left)
        if route.repairing:
            life = FOR_EVER  # ns-2: the remaining time is negative, and read as 136 years
        return RouteReply(self.stamp, route.hops, route.destination, route.sequence, to, life)

    # Replies.

    def _reply(self, reply: RouteReply, to: NodeId) -> None:
        """Send a reply to the next hop towards the origin of the request."""
        back = self.routes.live(to, self.host.now())
        if back is not None:
            self.host.send(reply, back.hop)
        else:
            self.host.drop(reply, Drop.NO_ROUTE)

    def handle_reply(self, reply: RouteReply, sender: NodeId) -> Drop | None:
        """Store the route of a reply, and forward the reply to the origin of the request."""
        node = self.host.node
        if sender == node or reply.hops >= INFINITE - 1:
            return Drop.MALFORMED
        if reply.destination == node:
            return Drop.NOT_MINE  # a neighbour's route to this node leads back through it
        p, now, hops = self.parameters, self.host.now(), reply.hops + 1
        self.routes.relied_on(reply.origin, now)
        repaired = p.local_repair == "rfc" and self.routes.repairs(reply.destination)
        life = reply.lifetime / 1000
        if reply.lifetime != FOR_EVER or not p.stamped:
            life = min(life, p.my_route_timeout)
        learned = (reply.destination, sender, hops, reply.destination_sequence)
        route = self.routes.offer(*learned, now=now, life=life)
        if route is None and p.equal_replies:
            route = self.routes.confirm(*learned, now=now, life=life)
        if route is None:
            return Drop.SUPPRESSED
        if repaired and hops > route.last_hops:
            self.breaks.send_errors([route], flags=NO_DELETE)
        self.found(route, True)
        return None if reply.origin == node else self._forward_reply(reply, route, sender, now)

    def _forward_reply(self, reply: RouteReply, route: AodvRoute, sender: NodeId, now: float) -> Drop | None:
        p = self.parameters
        back = self.routes.live(reply.origin, now)
        if back is None:
            return Drop.NO_ROUTE
        if self.listens():
            return Drop.SUPPRESSED
        route.use_by(back.hop, p.precursors)
        back.expires = max(back.expires, now + p.active_route_timeout)
        if p.refresh_both_ways:
            towards = self.routes.live(sender, now)
            if towards is not None:
                towards.use_by(back.hop, p.precursors)
        onward = RouteReply(
            reply.flags,
            reply.hops + 1,
            reply.destination,
            reply.destination_sequence,
            reply.origin,
            reply.lifetime,
        )
        self.host.send(onward, back.hop)
        return None


def _ignore(route: AodvRoute, replied: bool) -> None:
    """Ignore a new route; the default callback."""
