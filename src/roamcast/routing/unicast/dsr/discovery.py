"""Route discovery of DSR: requests record their path, and replies return it."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import DUPLICATE, Drop, Host, NodeId
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsr.messages import MOST_BURDEN, DeadLink, DsrReply, DsrRequest
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.source_routing import IDENTIFICATIONS, SourceRouting


class DsrDiscovery:
    """A node's handling of route requests and replies."""

    def __init__(self, host: Host, parameters: DsrParameters, routing: SourceRouting) -> None:
        self.host = host
        self.parameters = p = parameters
        self.routing = routing
        self.seen = Seen(p.requests)
        self._newest: dict[NodeId, int] = {}
        "Newest request id by origin, if requests are remembered in order; the oldest origin is evicted."
        self.found: Callable[[NodeId], None] = _ignore
        "Called with the target of each reply."
        self.last_error: tuple[float, DeadLink] | None = None
        "Time [s] and link of the last route error received, until a network-wide request has reported it."
        self._node = host.node
        self._request_id = host.incarnation << 8
        "Starts from the incarnation, since other nodes remember the ids of earlier ones."

    # Requests.

    def request(self, target: NodeId, ttl: int) -> None:
        """Broadcast a request for a route."""
        p, now = self.parameters, self.host.now()
        self.routing.drop_expired(now)
        self._request_id = (self._request_id + 1) % IDENTIFICATIONS
        dead: tuple[DeadLink, ...] = ()
        if self.last_error is not None and now - self.last_error[0] < p.error_memory:
            dead = (self.last_error[1],)
        if ttl > 1:
            self.last_error = None
        request = DsrRequest(target, self._request_id, ttl, (self._node,), dead)
        self._note(self._node, self._request_id)
        if p.request_jitter:
            call_within(self.host, p.request_jitter, self.host.broadcast, request)
        else:
            self.host.broadcast(request)

    def _note(self, origin: NodeId, request: int) -> bool:
        """Remember a request; return False if it was seen, or is older than one that was."""
        limit = self.parameters.ordered_requests
        if not limit:
            return self.seen.add(origin << 16 | request)
        newest = self._newest.get(origin)
        if newest is not None and not 0 < (request - newest) % IDENTIFICATIONS < IDENTIFICATIONS // 2:
            return False
        if newest is None and len(self._newest) >= limit:
            del self._newest[next(iter(self._newest))]
        self._newest[origin] = request
        return True

    def handle_request(self, request: DsrRequest, sender: NodeId) -> Drop | None:
        """Reply to a request, or repeat it."""
        so_far, node = request.so_far, self._node
        if request.target == node:
            return self._answer(request, sender)
        if not self._note(so_far[0], request.id):
            return DUPLICATE
        if so_far[-1] != sender or node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self.routing.cut(*dead)
        if len(so_far) >= self.parameters.route_limit - 1:
            return Drop.HOP_LIMIT
        if self.parameters.cached_replies and self._answer_from_cache(request):
            return None
        return self._forward_request(request)

    def _forward_request(self, request: DsrRequest) -> Drop | None:
        """Repeat a request with this node appended to its path."""
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

    # Replies.

    def _answer(self, request: DsrRequest, sender: NodeId) -> Drop | None:
        """Reply, as the target, to each copy of a request, since each took another path."""
        so_far, p = request.so_far, self.parameters
        if so_far[-1] != sender or self._node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self.routing.cut(*dead)
        found = (*so_far, self._node)
        if len(found) > p.route_limit:
            return Drop.HOP_LIMIT
        back = found[::-1]
        if p.reply_jitter:
            call_within(self.host, p.reply_jitter, self.reply, found, back)
        else:
            self.reply(found, back)
        return None

    def _answer_from_cache(self, request: DsrRequest) -> bool:
        """Reply with the rest of the path from the cache, if it is known and has no loop; return whether."""
        p, so_far = self.parameters, request.so_far
        rest = self.routing.cache.find(request.target, self.host.now())
        if rest is None or len(so_far) + len(rest) > p.route_limit or not set(so_far).isdisjoint(rest):
            return False
        back = (self._node, *reversed(so_far))
        if p.reply_spacing:
            hops = len(so_far) + len(rest) - 1
            wait = p.reply_spacing * (hops - 1 + self.host.random.random())
            self.host.call_later(wait, self.reply, so_far + rest, back)
        else:
            self.reply(so_far + rest, back)
        return True

    def reply(self, found: tuple[NodeId, ...], route: tuple[NodeId, ...]) -> None:
        """Send a route to the node at the end of `route`, and cache `route`."""
        self.routing.learn(route)
        self.host.send(DsrReply(self.routing.number(), route, 1, found), route[1])

    def handle_reply(self, reply: DsrReply, sender: NodeId) -> Drop | None:
        """Cache the route of a reply for this node; forward and learn from a reply for another node."""
        route, at = reply.route, reply.at
        if at == len(route) - 1:
            if reply.found[0] != self._node:
                return Drop.MALFORMED
            self.routing.cache.add(reply.found, self.host.now())
            self.found(reply.found[-1])
            self.routing.send_waiting(self.parameters.release_gap)
            return None
        self.routing.notice(route[at:])
        if self.parameters.forwarded_finds:
            self.learn_route(reply.found, sender)
        self.host.send(DsrReply(reply.id, route, at + 1, reply.found, reply.burden), route[at + 1])
        return None

    def learn_route(self, found: tuple[NodeId, ...], sender: NodeId) -> None:
        """Learn from a route in another node's reply."""
        node = self._node
        if node in found:
            self.routing.notice(found[found.index(node) :])
        elif sender in found and self.parameters.overheard_finds:
            self.routing.notice((node, *found[found.index(sender) :]))


def _ignore(target: NodeId) -> None:
    """Ignore a reply; the default callback."""
