"""Local route repair (the paper's future work): a node asks its neighbours for another route before it
floods.

The request names the recipients and the nodes to avoid. Neighbours with a suitable route answer by accepting
the job, the one with the shortest route first; the others overhear this and stay silent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from roamcast.routing.router import NOT_MINE, Drop, Footprint, Host, NodeId, Publication, Timer
from roamcast.routing.tpsr.forwarding import Forwarding
from roamcast.routing.tpsr.messages import LONGEST_ROUTE, MOST_RECIPIENTS, Rescue, RoutedEvent, weaker
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.routing.tpsr.route_table import SubscriberTable


class _RescueRequest:
    """Recipients for which this node has asked its neighbours."""

    __slots__ = ("publication", "recipients", "timer")

    def __init__(self, publication: Publication, recipients: Collection[NodeId], timer: Timer) -> None:
        self.publication = publication
        self.recipients = set(recipients)
        self.timer = timer


class _RescueOffer:
    """Recipients that this node will accept unless another neighbour does so first."""

    __slots__ = ("message", "recipients", "timer")

    def __init__(self, message: Rescue, recipients: Collection[NodeId], timer: Timer) -> None:
        self.message = message
        self.recipients = set(recipients)
        self.timer = timer


class Rescues:
    """The rescue requests of one node and its answers to others; calls `fail` if no neighbour answers."""

    def __init__(
        self,
        host: Host,
        parameters: TpsrParameters,
        table: SubscriberTable,
        forwarding: Forwarding,
        fail: Callable[[Publication], None],
    ) -> None:
        self._host = host
        self._wait = parameters.rescue_wait
        self._capacity = parameters.pending_jobs
        self._table = table
        self._forwarding = forwarding
        self._fail = fail
        self._requests: dict[int, _RescueRequest] = {}
        self._offers: dict[int, _RescueOffer] = {}

    def ask(
        self,
        publication: Publication,
        weakest: float,
        recipients: Collection[NodeId],
        avoid: Collection[NodeId],
    ) -> None:
        """Ask the neighbours for another route; fail at once if that has been tried or the table is full."""
        if publication.id in self._requests or len(self._requests) >= self._capacity:
            self._fail(publication)
            return
        timer = self._host.call_later(2 * self._wait, self._expire, publication.id)
        self._requests[publication.id] = _RescueRequest(publication, recipients, timer)
        around = frozenset(sorted({self._host.node, *avoid})[:MOST_RECIPIENTS])
        routes = [self._table.route(recipient, self._host.now()) for recipient in recipients]
        # At most as long as the broken route: few neighbours have one, and they can overhear each other.
        within = max((len(route.hops) for route in routes if route is not None), default=LONGEST_ROUTE)
        self._host.broadcast(Rescue(publication, weakest, frozenset(recipients), around, within))

    def handle(self, message: Rescue, sender: NodeId, signal: float) -> Drop | None:
        """Offer to serve the recipients to which this node has a route that avoids the break."""
        now, avoid = self._host.now(), message.avoid | {sender}
        lengths = {}
        for recipient in message.recipients:
            route = self._table.route(recipient, now)
            if recipient == self._host.node:
                lengths[recipient] = 0
            elif route is not None and len(route.hops) <= message.within and avoid.isdisjoint(route.hops):
                lengths[recipient] = len(route.hops)
        id = message.publication.id
        if not lengths or id in self._offers or len(self._offers) >= self._capacity:
            return NOT_MINE
        shortest = min(lengths.values())
        turn = self._wait * (1 - 1 / (1 + shortest))
        jitter = 0.5 * self._wait * self._host.random.random()
        timer = self._host.call_later(turn + jitter, self._help, id, sender, weaker(message.weakest, signal))
        self._offers[id] = _RescueOffer(message, lengths, timer)
        return None

    def overhear(self, message: RoutedEvent, sender: NodeId) -> None:
        """Process an overheard forwarding: withdraw this node's offer, and adopt the sender as the next
        hop."""
        id = message.publication.id
        served: set[NodeId] = {sender}.union(*(job.recipients for job in message.jobs))
        offer = self._offers.get(id)
        if offer is not None:
            offer.recipients -= served
            if not offer.recipients:
                self._drop(id, offer)
        request = self._requests.get(id)
        if request is not None:
            for recipient in sorted(request.recipients & served):
                self._table.detour(recipient, sender, self._host.now())
            request.recipients -= served
            if not request.recipients:
                request.timer.cancel()
                del self._requests[id]

    def hear(self, publication: int, sender: NodeId) -> None:
        """Process the acknowledgement of a recipient that received the request itself."""
        request = self._requests.get(publication)
        if request is not None and sender in request.recipients:
            self._table.detour(sender, sender, self._host.now())
            request.recipients.discard(sender)
            if not request.recipients:
                request.timer.cancel()
                del self._requests[publication]

    def forget(self, publication: int) -> None:
        """Cancel request and offer of a publication that is being flooded."""
        request = self._requests.pop(publication, None)
        if request is not None:
            request.timer.cancel()
        offer = self._offers.get(publication)
        if offer is not None:
            self._drop(publication, offer)

    def footprints(self) -> dict[str, Footprint]:
        """Return the size of each table."""
        entries = sum(4 * len(each.recipients) for each in self._requests.values())
        offered = sum(4 * len(each.recipients) for each in self._offers.values())
        return {
            "rescues_asked": Footprint(
                len(self._requests), 12 * len(self._requests) + entries, self._capacity
            ),
            "rescues_offered": Footprint(len(self._offers), 12 * len(self._offers) + offered, self._capacity),
        }

    def _expire(self, publication: int) -> None:
        self._fail(self._requests.pop(publication).publication)

    def _drop(self, id: int, offer: _RescueOffer) -> None:
        offer.timer.cancel()
        del self._offers[id]
        self._host.drop(offer.message, Drop.SUPPRESSED)

    def _help(self, id: int, sender: NodeId, weakest: float) -> None:
        offer = self._offers.pop(id)
        fresh, back = self._forwarding.taken.accept(id, sorted(offer.recipients), sender)
        reason: Drop | None = Drop.DUPLICATE
        if fresh or back:
            reason = self._forwarding.charge(offer.message.publication, weakest, fresh, sender, 0.0)
        if reason is not None:
            self._host.drop(offer.message, reason)
