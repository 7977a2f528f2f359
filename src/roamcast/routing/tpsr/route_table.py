"""The subscription table: what each subscriber wants, and one route to it."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.tpsr.messages import UNKNOWN, RouteSubscription
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.wire.blobs import filter_size

_HALF = 1 << 31


def newer(serial: int, than: int) -> bool:
    """Whether a serial number follows another; they go round, as RFC 1982 has it."""
    return 0 < (serial - than) % (2 * _HALF) < _HALF


class SourceRoute(NamedTuple):
    """A way to a subscriber."""

    hops: tuple[NodeId, ...]
    "From the next hop to the subscriber itself."
    weakest: float
    "The weakest signal at which one of the hops was heard."
    flood: int
    "The renewal that laid it, whoever's that was."


class SubscriberEntry:
    """What is known of one subscriber."""

    __slots__ = ("route", "serial", "wanted")

    def __init__(self, serial: int, wanted: tuple[Filter, ...], route: SourceRoute) -> None:
        self.serial = serial
        self.wanted = wanted
        self.route = route


class SubscriberTable:
    """Subscriptions by subscriber, under lease; a route laid by a newer renewal replaces any other."""

    def __init__(self, host: Host, parameters: TpsrParameters) -> None:
        self._host = host
        self._ranking = parameters.ranking
        self._fragile = parameters.fragile
        self.leases: Leases[NodeId, SubscriberEntry] = Leases(parameters.expire, parameters.subscribers)
        self._known = self.leases.keys()

    def hear(self, message: RouteSubscription, weakest: float, flood: int, now: float) -> bool:
        """Take down a subscription and the route that it came over; false if a newer one is known."""
        subscriber, serial = message.subscriber, message.serial
        entry = self.leases.get(subscriber, now)
        if entry is not None and serial == entry.serial:  # most are copies
            held = entry.route
            if flood == held.flood and self.better(len(message.route) + 1, weakest, held):
                entry.route = SourceRoute((*reversed(message.route), subscriber), weakest, flood)
            return True
        if entry is not None and not newer(serial, entry.serial):
            return False
        # What has lapsed is kept as long again, so that a loss can be explained by it.
        self.leases.sweep(now - self.leases.duration)
        route = SourceRoute((*reversed(message.route), subscriber), weakest, flood)
        self.leases.renew(subscriber, SubscriberEntry(serial, message.wanted, route), now)
        return True

    def share(self, message: RouteSubscription, weakest: float, flood: int, now: float) -> None:
        """Learn the way to other subscribers that have repeated the message."""
        route, known = message.route, self._known
        if known.isdisjoint(route):  # most repeat it for others alone
            return
        for place, subscriber in enumerate(route):
            if subscriber not in known:
                continue
            entry = self.leases.get(subscriber, now)
            if entry is None:
                continue
            held = entry.route
            if flood != held.flood or self.better(len(route) - place, weakest, held):
                entry.route = SourceRoute((*reversed(route[place + 1 :]), subscriber), weakest, flood)

    def matching(self, event: Event, now: float) -> list[NodeId]:
        """Who wants an event, in order of node."""
        return sorted(
            subscriber
            for subscriber, entry in self.leases.items(now)
            if any(pattern.matches(event) for pattern in entry.wanted)
        )

    def lapsed(self, event: Event, now: float) -> bool:
        """Whether someone would have wanted an event, but for a subscription that was not renewed."""
        gone = {subscriber for subscriber, _ in self.leases.lapsed(now)}
        return any(
            subscriber in gone and any(pattern.matches(event) for pattern in entry.wanted)
            for subscriber, entry in self.leases.items(now - self.leases.duration)
        )

    def route(self, subscriber: NodeId, now: float) -> SourceRoute | None:
        """The way to a subscriber, if one is known."""
        entry = self.leases.get(subscriber, now)
        return None if entry is None else entry.route

    def detour(self, subscriber: NodeId, neighbour: NodeId, now: float) -> None:
        """Go over a neighbour that has shown to know a way; the rest of it is taken to be as it was."""
        entry = self.leases.get(subscriber, now)
        if entry is not None:
            rest = [hop for hop in entry.route.hops[1:] if hop not in (neighbour, subscriber)]
            hops = (subscriber,) if neighbour == subscriber else (neighbour, *rest, subscriber)
            entry.route = entry.route._replace(hops=hops)

    def better(self, length: int, weakest: float, than: SourceRoute) -> bool:
        """Whether a route of that length and weakest signal is better than another of the same renewal.

        By length no two nodes can point at each other: a route over a neighbour is longer than its own.
        """
        other, stronger = len(than.hops), weakest > than.weakest  # what is unknown is 0: weaker than any
        if self._ranking == "signal":
            return stronger or (weakest == than.weakest and length < other)
        if self._ranking == "sound":
            fragile = self.fragile(than.weakest)
            if self.fragile(weakest) != fragile:
                return fragile
        return length < other or (length == other and stronger)

    def fragile(self, weakest: float) -> bool:
        """Whether a hop that is heard so weakly may soon break."""
        return weakest != UNKNOWN and self._host.distance(weakest) > self._fragile

    def footprint(self) -> Footprint:
        """Subscriber, serial, signal and lease of each entry, its route and its filters."""
        entries = [entry for _, entry in self.leases.items(float("-inf"))]
        held = sum(4 * len(e.route.hops) + sum(map(filter_size, e.wanted)) for e in entries)
        return Footprint(len(self.leases), 24 * len(self.leases) + held, self.leases.capacity)
