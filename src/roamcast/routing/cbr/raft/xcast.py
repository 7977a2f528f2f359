"""Explicit multicast: one message for many destinations, split where their routes diverge.

The unicast protocol determines the next hops. After a link failure a message takes another route that the
unicast protocol knows, because routing tables may need long to notice a lost node. Destinations further away
than `chain_limit` nodes are served individually, by unicast.
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
    """Forwards events and pings to the next hops of their destinations."""

    def __init__(self, host: Host, parameters: RaftCbrParameters, unicast: Unicast) -> None:
        self.host = host
        self.parameters = parameters
        self._unicast = unicast

    def send_event(self, event: XcastEvent) -> None:
        """Send an event to the next hops of its destinations, each with its share of them."""
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
        """Return the destinations by next hop; and those without one, too far away, or whose next hop is in
        the chain.

        If the link to the next hop has just failed, a known detour replaces it.
        """
        shares: dict[NodeId, list[D]] = {}
        alone: list[D] = []
        if len(chain) > self.parameters.chain_limit:
            return shares, list(destinations)
        unicast = self._unicast
        for destination in destinations:
            node = node_of(destination)
            hop = unicast.next_hop(node)
            if hop is not None and unicast.suspects(hop):
                other = unicast.detour(node, chain)
                hop = hop if other is None else other
            if hop is None or hop in chain:
                alone.append(destination)
            else:
                shares.setdefault(hop, []).append(destination)
        if len(shares) > 1 and self.parameters.share_hops:
            shares = self._merge(shares, node_of)
        return shares, alone

    def _merge(self, shares: dict[NodeId, list[D]], node_of: Callable[[D], NodeId]) -> dict[NodeId, list[D]]:
        """Assign destinations to as few next hops as routes of equal length allow, the most used hop
        first."""
        left = [(hop, node_of(each), each) for hop, share in shares.items() for each in share]
        nodes = [node for _, node, _ in left]
        offers = {}
        for hop, share in shares.items():
            if self._unicast.suspects(hop):
                offers[hop] = share
            else:
                led = self._unicast.led_by(hop, nodes)
                offers[hop] = [each for own, node, each in left if own == hop or node in led]
        merged: dict[NodeId, list[D]] = {}
        while offers:
            hop = max(offers, key=lambda each: len(offers[each]))
            taken = offers.pop(hop)
            if not taken:
                break
            merged[hop] = taken
            offers = {each: [d for d in share if d not in taken] for each, share in offers.items()}
        return merged

    # Link failures.

    def reroute_ping(self, ping: Ping) -> None:
        """Send a ping after a link failure by unicast to each of its destinations."""
        for destination in ping.destinations:
            self._unicast.send(Ping(ping.publisher, ping.chain, (destination,)), destination)

    def return_event(self, event: XcastEvent) -> None:
        """Send an event back to the node that it came from, to find another route to its destinations."""
        chain = join_chain(event.chain, self.host.node)
        if 2 < len(chain) <= self.parameters.chain_limit and not self._unicast.suspects(chain[-2]):
            self.host.send(XcastEvent(event.publication, chain, event.destinations, event.age), chain[-2])

    def reroute_event(self, event: XcastEvent, avoid: Iterable[NodeId] = ()) -> tuple[Addressee, ...]:
        """Send an event by other routes after a link failure; return the destinations without one."""
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
    """Return `chain` with `node` appended; if `node` is in it already, the loop is removed."""
    return (*chain[: chain.index(node)], node) if node in chain else (*chain, node)
