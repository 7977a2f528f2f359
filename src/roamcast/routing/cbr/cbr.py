"""CBR: subscriptions follow the reverse paths of advertisements, and events those of subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from roamcast.content.covering import MinimalCover, RelationCache
from roamcast.content.filter import Filter
from roamcast.routing.cbr.advertising import Advertising
from roamcast.routing.cbr.adverts import AdvertRoutes
from roamcast.routing.cbr.forwarded import ForwardedFilters
from roamcast.routing.cbr.messages import (
    HIGHEST_COUNT,
    Advert,
    MostCovering,
    NamedSubscription,
    Subscription,
    TreeEvent,
)
from roamcast.routing.cbr.most_covering import Branch, MostCoveringTable
from roamcast.routing.cbr.next_hops import NextHops
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.routing.cbr.subscription_table import NamedSubscribers, SubscriptionTable
from roamcast.routing.router import (
    BROADCAST,
    Dissemination,
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
)
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.seen import Seen


class Cbr(Advertising):
    """Soft-state reverse-path forwarding along leased advertisements and subscriptions."""

    shares_process = True
    main_parameters: ClassVar[tuple[str, ...]] = (
        "renew",
        "expire",
        "covering",
        "most_covering",
        "link_feedback",
        "repeat",
    )
    parameters_type: ClassVar[type[Parameters]] = CbrParameters
    parameters: CbrParameters
    live: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"renew": "1 s", "expire": "3 s", "link_feedback": True}
    )
    as_published: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"advert_serials": False, "avoid_rings": False, "send_back": True}
    )
    messages: ClassVar[tuple[type[Message], ...]] = (
        *(Advert, Subscription, NamedSubscription, MostCovering, TreeEvent),
    )

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.relations = RelationCache()
        self.subscriptions = SubscriptionTable(p.expire, p.subscriptions)
        self.named = NamedSubscribers(p.expire, p.subscriptions)
        self.trees = MostCoveringTable(p.expire, p.neighbours_news, p.hop_limit, self.relations)
        self.forwarded = ForwardedFilters(p.subscriptions)
        self.passed_on: Leases[Filter, bool] = Leases(p.repeat, p.subscriptions)
        "Filters that were passed on within the last `repeat` seconds and need not be passed on again."
        self.cover = MinimalCover()
        "The minimal cover of all filters known here, announced for most-covering."
        self.seen = Seen(p.handled_limit)
        "Ids of the events handled here."
        self.handlers |= {
            TreeEvent: self._handle_event,
            Subscription: self._handle_subscription,
            NamedSubscription: self._handle_subscription,
            MostCovering: self._handle_most_covering,
        }

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return traits: events are forwarded down the trees that subscriptions have built."""
        assert isinstance(parameters, CbrParameters)
        return ProtocolTraits(travel=Dissemination.TREE, subscription_lease=parameters.expire)

    # Calls of the application.

    def subscribe(self, filter: Filter) -> None:
        """Subscribe, and pass a new subscription on at once."""
        new = filter not in self.interests
        super().subscribe(filter)
        if new:
            self._pass_on(filter, [self.host.node])

    def publish(self, publication: Publication) -> None:
        """Send an event down the trees that subscriptions have built to this node."""
        self.seen.add(publication.id)
        children = self.subscriptions.matching(publication.event, self.host.now())
        message = TreeEvent(publication, frozenset(children))
        if children or self.parameters.send_unwanted:
            self._send_down(message)
        if not children:
            self.host.drop(message, self._drop_reason(publication))

    def link_failed(self, message: Any, to: NodeId) -> None:
        """With `link_feedback`, send a subscription to another next hop; plain CBR ignores link failures."""
        if self.parameters.link_feedback and isinstance(message, Subscription | NamedSubscription):
            now = self.host.now()
            self.adverts.forget(to, now)
            self.trees.forget(to, now)
            self.forwarded.forget(to)
            children = [child for child, filter in self._entries(now) if filter == message.pattern]
            self._pass_on(message.pattern, children, _subscriber(message))

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        passed = len(self.passed_on)
        repeats = {"passed_on": Footprint(passed, 12 * passed, self.passed_on.capacity)}
        names = {"subscribers": self.named.footprint()} if self.parameters.name_subscribers else {}
        return {
            **super().tables(),
            **(repeats if self.parameters.repeat else {}),
            **names,
            "subscriptions": self.subscriptions.footprint(),
            "forwarded": self.forwarded.footprint(),
            "most_covering": self.trees.footprint(),
            "seen": Footprint(len(self.seen), 8 * len(self.seen), self.parameters.handled_limit),
        }

    # Events.

    def _handle_event(self, message: TreeEvent, sender: NodeId) -> Drop | None:
        if self.host.node not in message.children:
            return Drop.NOT_MINE
        publication = message.publication
        if not self._is_new(publication):
            return Drop.DUPLICATE
        return self._handle(publication, sender)

    def _is_new(self, publication: Publication) -> bool:
        """Return whether `publication` is neither handled here yet nor published by this node."""
        return publication.id not in self.seen and publication.publisher != self.host.node

    def _handle(self, publication: Publication, sender: NodeId) -> Drop | None:
        """Deliver a new event if an interest matches it, and forward it to the children that subscribed to
        it."""
        self.seen.add(publication.id)
        subscribed = self.matches(publication.event)
        if subscribed:
            self.host.deliver(publication)
        children = self.subscriptions.matching(publication.event, self.host.now())
        if not self.parameters.send_back:
            children.discard(sender)
        if children:
            message = TreeEvent(publication, frozenset(children))
            self.after_jitter(self._send_down, message)
        elif not subscribed:
            return self._drop_reason(publication)
        return None

    def _send_down(self, message: TreeEvent) -> None:
        if not self.parameters.unicast_events or not message.children:
            self.host.broadcast(message)
            return
        for child in sorted(message.children):
            self.host.send(TreeEvent(message.publication, frozenset((child,))), child)

    def _drop_reason(self, publication: Publication) -> Drop:
        lapsed = self.subscriptions.lapsed(publication.event, self.host.now())
        return Drop.EXPIRED if lapsed else Drop.UNWANTED

    # Leases.

    def renew(self, now: float, routes: list[AdvertRoutes]) -> None:
        """Renew the subscriptions of this node and its children at the next hops."""
        # An expired subscription is kept for one more renewal, so that the drop reason can be EXPIRED.
        self.subscriptions.sweep(now - self.parameters.renew)
        self.trees.leases.sweep(now)
        next_hops = self._next_hops(now, routes)
        entries = self._entries(now)
        subscriptions: dict[NodeId, list[Filter]] = {}
        for child, pattern in entries:
            for neighbour in next_hops.neighbours(pattern, child):
                subscriptions.setdefault(neighbour, []).append(pattern)
        if self.parameters.covering:
            subscriptions = self.forwarded.renew(subscriptions)
        messages: list[tuple[Message, NodeId]] = []
        if self.parameters.most_covering:
            messages += [(news, BROADCAST) for news in self._most_covering_news(entries, next_hops)]
        if self.parameters.name_subscribers:
            messages += self._named_renewals(now, next_hops)
        else:
            messages += [
                (Subscription(each), to) for to, patterns in subscriptions.items() for each in patterns
            ]
        self._send_paced(messages)

    def _named_renewals(self, now: float, next_hops: NextHops) -> list[tuple[Message, NodeId]]:
        """Return a subscription in the name of each subscriber below this node, with its next hops."""
        self.named.leases.sweep(now)
        node = self.host.node
        own = [(node, pattern, node) for pattern in dict.fromkeys(self.interests)]
        return [
            (NamedSubscription(pattern, subscriber), neighbour)
            for child, pattern, subscriber in own + self.named.entries(now)
            for neighbour in sorted(next_hops.neighbours(pattern, child))
        ]

    def _send_paced(self, messages: list[tuple[Message, NodeId]]) -> None:
        """Send messages one by one, because all at once would overflow the link's queue; the last is sent
        before the next renewal."""
        pace = min(self.parameters.pace, self.parameters.renew / max(len(messages), 1))
        wait = 0.0
        for message, to in messages:
            if to == BROADCAST:
                self.host.call_later(wait, self.host.broadcast, message)
            else:
                self.host.call_later(wait, self.host.send, message, to)
            wait += pace

    def _entries(self, now: float) -> list[tuple[NodeId, Filter]]:
        """Return (child, filter) of all valid subscriptions, those of this node first."""
        own = [(self.host.node, pattern) for pattern in dict.fromkeys(self.interests)]
        return own + self.subscriptions.entries(now)

    def _pass_on(self, pattern: Filter, children: Iterable[NodeId], subscriber: NodeId | None = None) -> None:
        """Send the subscription of some children towards the publishers; with covering, skip a neighbour that
        has been sent a covering filter (figure 1)."""
        now = self.host.now()
        if self.parameters.repeat:
            self.passed_on.sweep(now)
            self.passed_on.renew(pattern, True, now)
        next_hops = self._next_hops(now, self.adverts.routes(now))
        targets = {neighbour for child in children for neighbour in next_hops.neighbours(pattern, child)}
        for neighbour in sorted(targets):
            if not self.parameters.covering or self.forwarded.extend(neighbour, pattern):
                named = self.parameters.name_subscribers
                name = self.host.node if subscriber is None else subscriber
                self.host.send(
                    NamedSubscription(pattern, name) if named else Subscription(pattern), neighbour
                )

    def _next_hops(self, now: float, routes: list[AdvertRoutes]) -> NextHops:
        if not self.parameters.most_covering:
            return NextHops(routes, self.relations)
        entries = self.subscriptions.entries(now)

        def find_branch(publisher: NodeId, pattern: Filter, child: NodeId) -> Branch | None:
            through_us = {c for c, filter in entries if self.relations.intersects(filter, pattern)}
            avoid = through_us | {child} if self.parameters.avoid_rings else {child}
            return self.trees.best(publisher, pattern, avoid, now)

        return NextHops(routes, self.relations, find_branch, self.parameters.detour)

    # Messages of neighbours.

    def _handle_subscription(self, message: Subscription | NamedSubscription, sender: NodeId) -> Drop | None:
        now, pattern, subscriber = self.host.now(), message.pattern, _subscriber(message)
        if subscriber == self.host.node:
            return Drop.DUPLICATE  # it has come back
        new = self.subscriptions.hear(sender, pattern, now)
        if subscriber is not None and self.parameters.name_subscribers:
            new = self.named.hear(sender, pattern, subscriber, now)
        if new or (self.parameters.repeat and self.passed_on.get(pattern, now) is None):
            self._pass_on(pattern, [sender], subscriber)
        return None

    def _handle_most_covering(self, message: MostCovering, sender: NodeId) -> Drop | None:
        if message.publisher == self.host.node or not self.parameters.most_covering:
            return Drop.NOT_MINE
        return self.trees.hear(message, sender, self.host.now())

    def _most_covering_news(
        self, entries: list[tuple[NodeId, Filter]], next_hops: NextHops
    ) -> Iterator[MostCovering]:
        """Yield for each publisher and filter the number of subscriptions that it covers here, and their hops
        to the publisher.

        A subscription whose only next hop is the child that it came from is not announced.
        """
        for pattern, count in self._counts([pattern for _, pattern in entries]).items():
            paths: dict[NodeId, int] = {}
            for child in (child for child, filter in entries if filter == pattern):
                for publisher, route in next_hops.of(pattern, child).items():
                    paths[publisher] = min(route.hops + 1, paths.get(publisher, route.hops + 1))
            if any(self.relations.intersects(advertised, pattern) for advertised in self.advertised):
                paths[self.host.node] = 0
            for publisher, hops in paths.items():
                if hops < self.parameters.hop_limit:
                    yield MostCovering(publisher, pattern, min(count, HIGHEST_COUNT), hops)

    def _counts(self, patterns: list[Filter]) -> dict[Filter, int]:
        """Return for each filter how many of `patterns` it covers; with covering, only for filters of the
        minimal cover."""
        distinct = dict.fromkeys(patterns)
        if not self.parameters.covering:
            return {wide: sum(self.relations.covers(wide, other) for other in patterns) for wide in distinct}
        self.cover.replace_all(distinct)
        counts = Counter(wide for pattern in patterns for wide in self.cover.covering(pattern))
        return {pattern: counts[pattern] for pattern in distinct if self.cover.is_minimal(pattern)}


def _subscriber(message: Subscription | NamedSubscription) -> NodeId | None:
    """Return the subscriber that a subscription names; None if it names none."""
    return message.subscriber if isinstance(message, NamedSubscription) else None
