"""Explicit multicast: one message for many, split where their ways part; and messages for one.

A message goes where DSDV says. Where a link gives up it takes another way that a neighbour has told of: it
may be long until the routes have noticed that someone is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import msgspec

from roamcast.routing.cbr.adverts import AdvertTable
from roamcast.routing.cbr.raft.messages import Addressee, Ping, Subscribe, XcastEvent
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import BROADCAST, Drop, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.dsdv.dsdv import Dsdv

D = TypeVar("D")


class Xcast:
    """Sends what is for others one hop further."""

    def __init__(self, host: Host, parameters: RaftCbrParameters, routes: Dsdv, adverts: AdvertTable) -> None:
        self.host = host
        self.parameters = parameters
        self._routes = routes
        self._adverts = adverts
        self._failed: Leases[NodeId, bool] = Leases(parameters.retransmit_timeout, parameters.subscribers)
        "Neighbours on whom the link has just given up."

    def post(self, message: Any, destination: NodeId) -> None:
        """Send a message over as many hops as it takes, to be handled at its destination alone."""
        if destination == self.host.node:
            self.host.drop(message, Drop.MALFORMED)
        elif isinstance(message, Subscribe) and self._routes.next_hop(destination) is None:
            # Where no route is known yet, advertisements still tell who is nearer to the publisher.
            hop = self._adverts.nearest(destination, (), self.host.now())
            if hop is not None:
                self.host.send(message, hop)
            else:
                self.host.drop(message, Drop.NO_ROUTE)
        else:
            self._routes.forward(message, destination)

    def pass_on(self, message: Any, sender: NodeId) -> Drop | None:
        """Carry a message for someone else one hop further."""
        if message.hops >= self.parameters.chain_limit:
            return Drop.HOP_LIMIT
        message = msgspec.structs.replace(message, hops=message.hops + 1)
        if self._routes.next_hop(message.to) == sender:
            # Routes that point at each other: the message would only go to and fro.
            return self._post_around(message, (sender,))
        self.post(message, message.to)
        return None

    def send_event(self, event: XcastEvent) -> None:
        """Send an event to the next hops of its destinations, each with its own share of them."""
        shares, alone = self._share_out(event.destinations, event.chain, lambda each: each.node)
        for addressee in alone:
            lone = msgspec.structs.replace(event, destinations=(addressee,), to=addressee.node, hops=0)
            self.post(lone, addressee.node)
        for hop, share in shares.items():
            self.host.send(XcastEvent(event.publication, event.chain, tuple(share), event.age), hop)

    def send_ping(self, ping: Ping) -> None:
        """Send a ping to the next hops of its destinations."""
        shares, alone = self._share_out(ping.destinations, ping.chain, lambda node: node)
        for destination in alone:
            self.post(Ping(ping.publisher, ping.chain, (destination,), destination), destination)
        for hop, share in shares.items():
            self.host.send(Ping(ping.publisher, ping.chain, tuple(share)), hop)

    def _share_out(
        self, destinations: Iterable[D], chain: Collection[NodeId], node_of: Callable[[D], NodeId]
    ) -> tuple[dict[NodeId, list[D]], list[D]]:
        """Destinations by their next hop; and those without one, or with one that has been passed."""
        shares: dict[NodeId, list[D]] = {}
        alone = []
        for destination in destinations:
            hop = self._hop(node_of(destination), chain)
            if hop is None or hop in chain:
                alone.append(destination)
            else:
                shares.setdefault(hop, []).append(destination)
        return shares, alone

    def _hop(self, destination: NodeId, chain: Collection[NodeId]) -> NodeId | None:
        """The next hop by the routes; or a neighbour that knows another way, if that link has just failed."""
        hop = self._routes.next_hop(destination)
        if hop is not None and self._failed and self._failed.get(hop, self.host.now()) is not None:
            other = self._detour(destination, chain)
            return hop if other is None else other
        return hop

    # Where a link has failed.

    def give_up(self, neighbour: NodeId) -> None:
        """Keep to other ways for a moment: the link to a neighbour has failed."""
        now = self.host.now()
        self._failed.sweep(now)
        self._failed.renew(neighbour, True, now)

    def go_around(self, message: Any) -> None:
        """Send a message that the link gave up on another way, if there is one."""
        if isinstance(message, Ping) and message.to == BROADCAST:
            onward = [
                Ping(message.publisher, message.chain, (destination,), destination)
                for destination in message.destinations
            ]
        else:
            onward = [msgspec.structs.replace(message, hops=message.hops + 1)]
        for each in onward:
            refused = (
                Drop.HOP_LIMIT if each.hops > self.parameters.chain_limit else self._post_around(each, ())
            )
            if refused is not None:
                self.host.drop(each, refused)

    def hand_back(self, event: XcastEvent) -> None:
        """Ask the node that an event came from to find another way to its destinations."""
        chain = join_chain(event.chain, self.host.node)
        if len(chain) > 2 and self._failed.get(chain[-2], self.host.now()) is None:
            self.host.send(XcastEvent(event.publication, chain, event.destinations, event.age), chain[-2])

    def event_around(self, event: XcastEvent, avoid: Iterable[NodeId] = ()) -> tuple[Addressee, ...]:
        """Send an event that the link gave up on other ways; the value is those to whom there is none."""
        chain = join_chain(event.chain, self.host.node)
        shares: dict[NodeId, list[Addressee]] = {}
        stuck = []
        for addressee in event.destinations:
            hop = self._detour(addressee.node, {*chain, *avoid})
            if hop is None or len(chain) >= self.parameters.chain_limit:
                stuck.append(addressee)
            else:
                shares.setdefault(hop, []).append(addressee)
        for hop, share in shares.items():
            self.host.send(XcastEvent(event.publication, chain, tuple(share), event.age), hop)
        return tuple(stuck)

    def _post_around(self, message: Any, avoid: Iterable[NodeId]) -> Drop | None:
        hop = self._detour(message.to, avoid)
        if hop is None and isinstance(message, Subscribe):
            hop = self._adverts.nearest(message.to, self._avoided(avoid), self.host.now())
        if hop is None:
            return Drop.NO_ROUTE
        self.host.send(message, hop)
        return None

    def _detour(self, destination: NodeId, avoid: Iterable[NodeId]) -> NodeId | None:
        return self._routes.detour(destination, self._avoided(avoid))

    def _avoided(self, others: Iterable[NodeId]) -> set[NodeId]:
        return {neighbour for neighbour, _ in self._failed.items(self.host.now())}.union(others)


def join_chain(chain: tuple[NodeId, ...], node: NodeId) -> tuple[NodeId, ...]:
    """`chain` with `node` at its end, and without the circle that leads back to it."""
    return (*chain[: chain.index(node)], node) if node in chain else (*chain, node)
