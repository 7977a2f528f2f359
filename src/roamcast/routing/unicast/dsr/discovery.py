"""Finding ways: requests gather the way that they come, and replies tell it back."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import DUPLICATE, Drop, Host, NodeId
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsr.messages import MOST_BURDEN, DeadLink, DsrReply, DsrRequest
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.source_routing import IDENTIFICATIONS, SourceRouting


class DsrDiscovery:
    """A node's part in finding ways."""

    def __init__(self, host: Host, parameters: DsrParameters, carriage: SourceRouting) -> None:
        self.host = host
        self.parameters = p = parameters
        self.carriage = carriage
        self.seen = Seen(p.requests)
        self._newest: dict[NodeId, int] = {}
        "Of each origin, where requests are remembered in order; the first origin makes room."
        self.found: Callable[[NodeId], None] = _ignore
        "Told of whom a reply was about."
        self.told: tuple[float, DeadLink] | None = None
        "The last failed link that this node was told of, and when; until a request to everyone has named it."
        self._node = host.node
        self._request_id = host.incarnation << 8
        "Counted from the incarnation on: those of an earlier one are still remembered by others."

    # Requests.

    def request(self, target: NodeId, ttl: int) -> None:
        """Ask for a way."""
        p, now = self.parameters, self.host.now()
        self.carriage.drop_expired(now)
        self._request_id = (self._request_id + 1) % IDENTIFICATIONS
        dead: tuple[DeadLink, ...] = ()
        if self.told is not None and now - self.told[0] < p.error_memory:
            dead = (self.told[1],)
        if ttl > 1:
            self.told = None
        request = DsrRequest(target, self._request_id, ttl, (self._node,), dead)
        self._note(self._node, self._request_id)
        if p.request_jitter:
            call_within(self.host, p.request_jitter, self.host.broadcast, request)
        else:
            self.host.broadcast(request)

    def _note(self, origin: NodeId, request: int) -> bool:
        """Remember a request of an origin; false if it was seen, or is older than one that was."""
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
        """Answer a request, or repeat it."""
        so_far, node = request.so_far, self._node
        if request.target == node:
            return self._answer(request, sender)
        if not self._note(so_far[0], request.id):
            return DUPLICATE
        if so_far[-1] != sender or node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self.carriage.cut(*dead)
        if len(so_far) >= self.parameters.route_limit - 1:
            return Drop.HOP_LIMIT
        if self.parameters.cached_replies and self._answer_from_cache(request):
            return None
        return self._forward_request(request)

    def _forward_request(self, request: DsrRequest) -> Drop | None:
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

    # Replies.

    def _answer(self, request: DsrRequest, sender: NodeId) -> Drop | None:
        """Answer each copy of a request for oneself: each came another way."""
        so_far, p = request.so_far, self.parameters
        if so_far[-1] != sender or self._node in so_far:
            return Drop.MALFORMED
        for dead in request.dead:
            self.carriage.cut(*dead)
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
        """Tell the rest of the way, if it is known and does not come back."""
        p, so_far = self.parameters, request.so_far
        rest = self.carriage.cache.find(request.target, self.host.now())
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
        """Tell a way to the node at the end of `route`, and keep that: it was asked from there."""
        self.carriage.learn(route)
        self.host.send(DsrReply(self.carriage.number(), route, 1, found), route[1])

    def handle_reply(self, reply: DsrReply, sender: NodeId) -> Drop | None:
        """Keep a way that was asked for; pass on what others asked for, and learn from it."""
        route, at = reply.route, reply.at
        if at == len(route) - 1:
            if reply.found[0] != self._node:
                return Drop.MALFORMED
            self.carriage.cache.add(reply.found, self.host.now())
            self.found(reply.found[-1])
            self.carriage.send_waiting(self.parameters.release_gap)
            return None
        self.carriage.notice(route[at:])
        if self.parameters.forwarded_finds:
            self.learn_route(reply.found, sender)
        self.host.send(DsrReply(reply.id, route, at + 1, reply.found, reply.burden), route[at + 1])
        return None

    def learn_route(self, found: tuple[NodeId, ...], sender: NodeId) -> None:
        """Learn from a way that another was told."""
        node = self._node
        if node in found:
            self.carriage.notice(found[found.index(node) :])
        elif sender in found and self.parameters.overheard_finds:
            self.carriage.notice((node, *found[found.index(sender) :]))


def _ignore(target: NodeId) -> None:
    """Until somebody is to be told."""
