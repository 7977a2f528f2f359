"""CBR: advertisements lay the ways for subscriptions, subscriptions lay the ways for events."""

from __future__ import annotations

from typing import Any, ClassVar

from roamcast.content.covering import Relations
from roamcast.content.filter import Filter
from roamcast.routing.cbr.advertising import Advertising
from roamcast.routing.cbr.adverts import Offer
from roamcast.routing.cbr.messages import HIGHEST_COUNT, Advert, MostCovering, Subscription, TreeEvent
from roamcast.routing.cbr.most_covering import Branch, MostCoveringTable
from roamcast.routing.cbr.next_hops import NextHops
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.routing.cbr.subscription_table import SubscriptionTable
from roamcast.routing.router import Drop, Host, Message, NodeId, Parameters, Publication
from roamcast.routing.state.seen import Seen


class Cbr(Advertising):
    """Every node keeps its neighbours' offers and wishes under lease; events go where wishes came from."""

    parameters_type: ClassVar[type[Parameters]] = CbrParameters
    parameters: CbrParameters
    messages: ClassVar[tuple[type[Message], ...]] = (Advert, Subscription, MostCovering, TreeEvent)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.relations = Relations()
        self.subscriptions = SubscriptionTable(p.expire, p.subscriptions)
        self.trees = MostCoveringTable(p.expire, p.neighbours_news, p.hop_limit, self.relations)
        self.seen = Seen(p.remember)
        self.handlers |= {
            TreeEvent: self._take_event,
            Subscription: self._take_subscription,
            MostCovering: self._take_most_covering,
        }

    # What the application asks.

    def subscribe(self, wanted: Filter) -> None:
        """Want it, and say so at once."""
        new = wanted not in self.interests
        super().subscribe(wanted)
        if new:
            self._pass_on(wanted, self.host.node)

    def publish(self, publication: Publication) -> None:
        """Send an event down the trees that subscriptions have built to here."""
        self._remember(publication.id)
        children = self.subscriptions.matching(publication.event, self.host.now())
        message = TreeEvent(publication, frozenset(children))
        if children:
            self._send_down(message)
        else:
            self.host.drop(message, self._why_nobody(publication))

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Take another way for a subscription, if that is asked for; CBR by itself does not notice."""
        if self.parameters.link_feedback and isinstance(message, Subscription):
            self.adverts.forget(to, self.host.now())
            self._pass_on(message.pattern, self.host.node)

    # Events.

    def _take_event(self, message: TreeEvent, sender: NodeId) -> Drop | None:
        if self.host.node not in message.children:
            return Drop.NOT_MINE
        if message.about in self.seen:
            return Drop.DUPLICATE
        publication = message.publication
        if publication.publisher == self.host.node:
            return Drop.MALFORMED
        return self._handle(publication, sender)

    def _handle(self, publication: Publication, sender: NodeId) -> Drop | None:
        """Deliver a new event here if it is wanted now, and pass it to the children that want it."""
        self._remember(publication.id)
        wanted = self.wants(publication.event)
        if wanted:
            self.host.deliver(publication)
        children = self.subscriptions.matching(publication.event, self.host.now())
        children.discard(sender)
        if children:
            message = TreeEvent(publication, frozenset(children))
            self.after_jitter(self._send_down, message)
        elif not wanted:
            return self._why_nobody(publication)
        return None

    def _send_down(self, message: TreeEvent) -> None:
        self.host.broadcast(message)

    def _why_nobody(self, publication: Publication) -> Drop:
        lapsed = self.subscriptions.lapsed(publication.event, self.host.now())
        return Drop.EXPIRED if lapsed else Drop.UNWANTED

    # Leases.

    def renew(self, now: float, offers: list[Offer]) -> None:
        """Ask the neighbours, again, for what is wanted here and beyond."""
        # A lapsed subscription is kept for one renewal more, so that a loss can be explained by it.
        self.subscriptions.leases.sweep(now - self.parameters.renew)
        self.trees.leases.sweep(now)
        next_hops = self._next_hops(now, offers)
        entries = self._entries(now)
        wait = 0.0
        for neighbour, patterns in self._outgoing(entries, next_hops).items():
            for pattern in patterns:
                self.host.call_later(wait, self.host.send, Subscription(pattern), neighbour)
                wait += self.parameters.pace
        if self.parameters.most_covering:
            self._tell_most_covering(entries, next_hops)

    def _entries(self, now: float) -> list[tuple[NodeId, Filter]]:
        """Who wants what: this node's own wishes first."""
        own = [(self.host.node, pattern) for pattern in dict.fromkeys(self.interests)]
        return own + self.subscriptions.entries(now)

    def _outgoing(
        self, entries: list[tuple[NodeId, Filter]], next_hops: NextHops
    ) -> dict[NodeId, list[Filter]]:
        """What each neighbour is to be asked for. Covering works a neighbour at a time: what covers a
        pattern must go the same way, or it covers nothing."""
        outgoing: dict[NodeId, list[Filter]] = {}
        for child, pattern in entries:
            for neighbour in next_hops.neighbours(pattern, child):
                outgoing.setdefault(neighbour, []).append(pattern)
        if self.parameters.covering:
            return {n: self.relations.minimal_cover(patterns) for n, patterns in outgoing.items()}
        return outgoing

    def _pass_on(self, pattern: Filter, child: NodeId) -> None:
        """Send a new subscription towards the publishers, unless what was sent already covers it."""
        now = self.host.now()
        next_hops = self._next_hops(now, self.adverts.offers(now))
        targets = next_hops.neighbours(pattern, child)
        if self.parameters.covering and targets:
            others = [entry for entry in self._entries(now) if entry != (child, pattern)]
            for neighbour, sent in self._outgoing(others, next_hops).items():
                if neighbour in targets and any(self.relations.covers(wide, pattern) for wide in sent):
                    targets.discard(neighbour)
        for neighbour in sorted(targets):
            self.host.send(Subscription(pattern), neighbour)

    def _next_hops(self, now: float, offers: list[Offer]) -> NextHops:
        if not self.parameters.most_covering:
            return NextHops(offers, self.relations)
        wishes = self.subscriptions.entries(now)

        def find_branch(publisher: NodeId, pattern: Filter, child: NodeId) -> Branch | None:
            through_us = {c for c, wanted in wishes if self.relations.intersects(wanted, pattern)}
            return self.trees.best(publisher, pattern, through_us | {child}, now)

        return NextHops(offers, self.relations, find_branch, self.parameters.detour)

    # What neighbours say.

    def _take_subscription(self, message: Subscription, sender: NodeId) -> Drop | None:
        if self.subscriptions.hear(sender, message.pattern, self.host.now()):
            self._pass_on(message.pattern, sender)
        return None

    def _take_most_covering(self, message: MostCovering, sender: NodeId) -> Drop | None:
        if message.publisher == self.host.node or not self.parameters.most_covering:
            return Drop.NOT_MINE
        return self.trees.hear(message, sender, self.host.now())

    def _tell_most_covering(self, entries: list[tuple[NodeId, Filter]], next_hops: NextHops) -> None:
        """Beacon, for each publisher, how many subscriptions here lie under each pattern."""
        patterns = [pattern for _, pattern in entries]
        told = self.relations.minimal_cover(patterns) if self.parameters.covering else dict.fromkeys(patterns)
        for pattern in told:
            count = sum(self.relations.covers(pattern, other) for other in patterns)
            chosen = next_hops.of(pattern, self.host.node)
            paths = {publisher: hops + 1 for publisher, (hops, _) in chosen.items()}
            if any(self.relations.intersects(offered, pattern) for offered in self.offered):
                paths[self.host.node] = 0
            for publisher, hops in paths.items():
                if hops < self.parameters.hop_limit:
                    news = MostCovering(publisher, pattern, min(count, HIGHEST_COUNT), hops)
                    self.host.broadcast(news)

    def _remember(self, id: int) -> None:
        self.seen.add(id)
