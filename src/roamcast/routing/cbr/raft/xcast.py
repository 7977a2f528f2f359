"""Explicit multicast: one message for many, split where their ways part.

A message goes where the unicast routing below says. Where a link gives up it takes another way that the
routing knows of: it may be long until the routes have noticed that someone is gone. Who is further away than
`chain_limit` nodes is sent a message alone, by unicast.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import TypeVar

from roamcast.routing.cbr.raft.messages import Addressee, Ping, XcastEvent
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Host, NodeId
from roamcast.routing.unicast.unicast import Unicast

D = TypeVar("D")


class Xcast:
    """Sends what is for others one hop further."""

    def __init__(self, host: Host, parameters: RaftCbrParameters, unicast: Unicast) -> None:
        self.host = host
        self.parameters = parameters
        self._unicast = unicast

    def send_event(self, event: XcastEvent) -> None:
        """Send an event to the next hops of its destinations, each with its own share of them."""
        shares, alone = self._by_next_hop(event.destinations, event.chain, attrgetter("node"))
        chain = event.chain[: self.parameters.chain_limit]
        for addressee in alone:
            lone = XcastEvent(event.publication, chain, (addressee,), event.age)
            self._unicast.send(lone, addressee.node)
        for hop, share in shares.items():
            self.host.send(XcastEvent(event.publication, event.chain, tuple(share), event.age), hop)

    def send_ping(self, ping: Ping) -> None:
        """Send a ping to the next hops of its destinations."""
        shares, alone = self._by_next_hop(ping.destinations, ping.chain, lambda node: node)
        chain = ping.chain[: self.parameters.chain_limit]
        for destination in alone:
            self._unicast.send(Ping(ping.publisher, chain, (destination,)), destination)
        for hop, share in shares.items():
            self.host.send(Ping(ping.publisher, ping.chain, tuple(share)), hop)

    def _by_next_hop(
        self, destinations: Iterable[D], chain: Collection[NodeId], node_of: Callable[[D], NodeId]
    ) -> tuple[dict[NodeId, list[D]], list[D]]:
        """Destinations by their next hop; and those without one, too far, or with one that was passed."""
        shares: dict[NodeId, list[D]] = {}
        alone: list[D] = []
        if len(chain) > self.parameters.chain_limit:
            return shares, list(destinations)
        for destination in destinations:
            hop = self._next_hop(node_of(destination), chain)
            if hop is None or hop in chain:
                alone.append(destination)
            else:
                shares.setdefault(hop, []).append(destination)
        if len(shares) > 1 and self.parameters.share_hops:
            shares = self._merge(shares, node_of)
        return shares, alone

    def _merge(self, shares: dict[NodeId, list[D]], node_of: Callable[[D], NodeId]) -> dict[NodeId, list[D]]:
        """Give destinations to as few next hops as ways of equal length allow, the most used hop first."""
        leads, suspects = self._unicast.leads, self._unicast.suspects
        left = [(hop, destination) for hop, share in shares.items() for destination in share]
        offers = {
            hop: [d for own, d in left if own == hop or (leads(hop, node_of(d)) and not suspects(hop))]
            for hop in shares
        }
        merged: dict[NodeId, list[D]] = {}
        while offers:
            hop = max(offers, key=lambda each: len(offers[each]))
            taken = offers.pop(hop)
            if not taken:
                break
            merged[hop] = taken
            offers = {each: [d for d in share if d not in taken] for each, share in offers.items()}
        return merged

    def _next_hop(self, destination: NodeId, chain: Collection[NodeId]) -> NodeId | None:
        """The next hop by the routes; or a neighbour that knows another way, if that link has just failed."""
        hop = self._unicast.next_hop(destination)
        if hop is not None and self._unicast.suspects(hop):
            other = self._unicast.detour(destination, chain)
            return hop if other is None else other
        return hop

    # Where a link has failed.

    def reroute_ping(self, ping: Ping) -> None:
        """Send a ping that the link gave up on by unicast, to each of its destinations."""
        for destination in ping.destinations:
            self._unicast.send(Ping(ping.publisher, ping.chain, (destination,)), destination)

    def return_event(self, event: XcastEvent) -> None:
        """Ask the node that an event came from to find another way to its destinations."""
        chain = join_chain(event.chain, self.host.node)
        if 2 < len(chain) <= self.parameters.chain_limit and not self._unicast.suspects(chain[-2]):
            self.host.send(XcastEvent(event.publication, chain, event.destinations, event.age), chain[-2])

    def reroute_event(self, event: XcastEvent, avoid: Iterable[NodeId] = ()) -> tuple[Addressee, ...]:
        """Send an event that the link gave up on other ways; the value is those to whom there is none."""
        chain = join_chain(event.chain, self.host.node)
        shares: dict[NodeId, list[Addressee]] = {}
        stuck = []
        for addressee in event.destinations:
            hop = self._unicast.detour(addressee.node, {*chain, *avoid})
            if hop is None or len(chain) > self.parameters.chain_limit:
                stuck.append(addressee)
            else:
                shares.setdefault(hop, []).append(addressee)
        for hop, share in shares.items():
            self.host.send(XcastEvent(event.publication, chain, tuple(share), event.age), hop)
        return tuple(stuck)


def join_chain(chain: tuple[NodeId, ...], node: NodeId) -> tuple[NodeId, ...]:
    """`chain` with `node` at its end, and without the circle that leads back to it."""
    return (*chain[: chain.index(node)], node) if node in chain else (*chain, node)
