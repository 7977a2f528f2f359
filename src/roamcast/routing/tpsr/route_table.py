"""Subscription table: the filters of each subscriber, and one route to it."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.serials import is_newer
from roamcast.routing.tpsr.messages import UNKNOWN, RouteSubscription
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.wire.blobs import filter_size


class SourceRoute(NamedTuple):
    """A route to a subscriber."""

    hops: tuple[NodeId, ...]
    "The nodes from the next hop to the subscriber."
    weakest: float
    "The weakest received signal of all hops [W]."
    flood: int
    "The flood that set up the route: that of this subscriber, or of another one."


class SubscriberEntry:
    """The filters of one subscriber, its serial and its route."""

    __slots__ = ("filters", "route", "serial")

    def __init__(self, serial: int, filters: tuple[Filter, ...], route: SourceRoute) -> None:
        self.serial = serial
        self.filters = filters
        self.route = route


class SubscriberTable:
    """Leased subscriptions by subscriber; a route set up by a newer flood replaces an older one."""

    def __init__(self, host: Host, parameters: TpsrParameters) -> None:
        self._host = host
        self._ranking = parameters.ranking
        self._fragile = parameters.fragile
        self.leases: Leases[NodeId, SubscriberEntry] = Leases(parameters.expire, parameters.subscribers)
        self._known = self.leases.keys()

    def hear(self, message: RouteSubscription, weakest: float, flood: int, now: float) -> bool:
        """Store a subscription and its route; return False if a newer one is known."""
        subscriber, serial = message.subscriber, message.serial
        entry = self.leases.get(subscriber, now)
        if entry is not None and serial == entry.serial:  # most are duplicates
            held = entry.route
            if flood == held.flood and self.better(len(message.route) + 1, weakest, held):
                entry.route = SourceRoute((*reversed(message.route), subscriber), weakest, flood)
            return True
        if entry is not None and not is_newer(serial, entry.serial):
            return False
        # Expired entries are kept for another lease, so that the drop reason can be EXPIRED.
        self.leases.sweep(now - self.leases.duration)
        route = SourceRoute((*reversed(message.route), subscriber), weakest, flood)
        self.leases.renew(subscriber, SubscriberEntry(serial, message.filters, route), now)
        return True

    def share(self, message: RouteSubscription, weakest: float, flood: int, now: float) -> None:
        """Update the routes to other known subscribers that have repeated the message."""
        route, known = message.route, self._known
        if known.isdisjoint(route):  # most relays are not subscribers
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
        """Return the subscribers with a filter that matches an event, in ascending order."""
        return sorted(
            subscriber
            for subscriber, entry in self.leases.items(now)
            if any(pattern.matches(event) for pattern in entry.filters)
        )

    def lapsed(self, event: Event, now: float) -> bool:
        """Return whether a recently expired subscription matches an event."""
        gone = {subscriber for subscriber, _ in self.leases.lapsed(now)}
        return any(
            subscriber in gone and any(pattern.matches(event) for pattern in entry.filters)
            for subscriber, entry in self.leases.items(now - self.leases.duration)
        )

    def route(self, subscriber: NodeId, now: float) -> SourceRoute | None:
        """Return the route to a subscriber; None if there is none."""
        entry = self.leases.get(subscriber, now)
        return None if entry is None else entry.route

    def detour(self, subscriber: NodeId, neighbour: NodeId, now: float) -> None:
        """Make `neighbour`, which was overheard to serve the subscriber, the next hop; keep the rest of the
        route."""
        entry = self.leases.get(subscriber, now)
        if entry is not None:
            rest = [hop for hop in entry.route.hops[1:] if hop not in (neighbour, subscriber)]
            hops = (subscriber,) if neighbour == subscriber else (neighbour, *rest, subscriber)
            entry.route = entry.route._replace(hops=hops)

    def better(self, length: int, weakest: float, than: SourceRoute) -> bool:
        """Return whether a route of that length and weakest signal is better than another of the same flood.

        Ranking by length prevents two nodes from pointing at each other: a route over a neighbour is longer
        than the neighbour's own.
        """
        other, stronger = len(than.hops), weakest > than.weakest  # an unknown signal is 0, the weakest
        if self._ranking == "signal":
            return stronger or (weakest == than.weakest and length < other)
        if self._ranking == "sound":
            fragile = self.fragile(than.weakest)
            if self.fragile(weakest) != fragile:
                return fragile
        return length < other or (length == other and stronger)

    def fragile(self, weakest: float) -> bool:
        """Return whether a hop received at `weakest` watts may break soon."""
        return weakest != UNKNOWN and self._host.distance(weakest) > self._fragile

    def footprint(self) -> Footprint:
        """Return the size: subscriber, serial, signal, lease, route and filters of each entry."""
        entries = [entry for _, entry in self.leases.items(float("-inf"))]
        held = sum(4 * len(e.route.hops) + sum(map(filter_size, e.filters)) for e in entries)
        return Footprint(len(self.leases), 24 * len(self.leases) + held, self.leases.capacity)
