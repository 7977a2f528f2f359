"""The member's role: queries of publishers, joins of this broker, and joins that it forwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest
from roamcast.routing.odmrp.join import JoinReplies, Upstream, UpstreamRoute
from roamcast.routing.odmrp.pubsub.broker import Broker
from roamcast.routing.odmrp.pubsub.groups import AGAIN, LASTING, UNASSIGNED
from roamcast.routing.odmrp.pubsub.messages import (
    BrokerSubscriptions,
    ContentRequest,
    EventRequest,
    GroupJoin,
    SourceJoins,
    SummaryTable,
)
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.odmrp.state_facts import FALSE_JOINS, Counter
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size

Query = Event | EventDigest | Filter
Item = tuple[NodeId, GroupJoin]
"An item of a join table: a source, and a broker's join of one of its groups."


class MemberEntry:
    """An entry of the member table: the last queries of a publisher, and the reply."""

    __slots__ = ("answered_at", "groups", "incarnation", "joined", "queries", "sent_version", "version")

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.queries: tuple[Query, ...] = ()
        self.groups: tuple[int, ...] = (UNASSIGNED,)
        "The groups that this broker is to join."
        self.version = -1
        "Version of this broker's subscriptions that the publisher last confirmed; -1: none."
        self.sent_version = -1
        "Version of the subscriptions that was last sent; -1: none, or the publisher did not receive it."
        self.answered_at = -1.0
        self.joined: tuple[int, ...] = ()
        "The groups that the last reply joined."


class Membership:
    """The content of a node's join tables: its own joins and those that it forwards."""

    def __init__(self, host: Host, parameters: PubSubParameters) -> None:
        self._host = host
        self._parameters = parameters
        self.broker = Broker(host.node, parameters.summary_bytes)
        self.upstream: Upstream[NodeId] = Upstream(host, parameters)
        self.replies: JoinReplies[Item] = JoinReplies(
            host, parameters, lambda item: self.upstream.route(item[0]), self._send_items
        )
        self.table: Leases[NodeId, MemberEntry] = Leases(parameters.timeout, parameters.routes)
        self._carried: Leases[Item, BrokerSubscriptions | None] = Leases(
            parameters.timeout, parameters.forwarded_joins
        )
        "The subscriptions that each join carries, for own and forwarded joins."
        self._below: dict[tuple[NodeId, int], Leases[NodeId, int]] = {}
        "For the forwarding filter: downstream brokers by source and group, with their subscription versions."
        self._subscriptions: Leases[NodeId, BrokerSubscriptions] = Leases(
            parameters.timeout, parameters.members
        )
        "The subscriptions of downstream brokers."
        self._false_joins = Counter(host, FALSE_JOINS)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        carried = [subscriptions for _, subscriptions in self._carried._entries.values()]
        below = sum(map(len, self._below.values()))
        known = [subscriptions for _, subscriptions in self._subscriptions._entries.values()]
        return {
            "routes": self.upstream.footprint(16),
            "answers": self.replies.footprint(16),
            "asked": Footprint(len(self.table), 16 * len(self.table), self.table.capacity),
            "carried": Footprint(len(carried), sum(map(_size, carried)), self._carried.capacity),
            "below": Footprint(below, 8 * below, self._parameters.forwarded_joins),
            "wishes": Footprint(len(known), sum(map(_size, known)), self._subscriptions.capacity),
        }

    # Joins of this broker.

    def set_subscriptions(self, filters: Collection[Filter]) -> None:
        """Replace the subscriptions, and send a change at once to publishers that have sent queries."""
        if not self.broker.set_subscriptions(filters) or not self.broker.filters:
            return
        for source, entry in list(self.table.items(self._host.now())):
            if entry.answered_at >= 0 or self._may_match(entry.queries):
                self._answer(source, entry)

    def hear_request(
        self,
        message: ContentRequest | EventRequest,
        queries: tuple[Query, ...],
        sender: NodeId,
        lifetime: int | None,
    ) -> None:
        """Store a join request, and reply if a subscription may match one of its queries."""
        now, source = self._host.now(), message.source
        self.upstream.learn(source, sender, message.sequence, lifetime)
        entry = self.table.get(source, now)
        incarnation = message.sequence >> 24
        if entry is None or entry.incarnation != incarnation:
            entry = MemberEntry(incarnation)
        entry.queries = queries
        self.table.renew(source, entry, now)
        if message.roster:
            self._assign(entry, message.roster)
        if self.broker.filters and self._may_match(queries):
            if not any(map(self.broker.matches_exactly, queries)):
                self._false_joins.increment()
            if not self._answered_lately(entry, now):
                self._answer(source, entry)

    def _answered_lately(self, entry: MemberEntry, now: float) -> bool:
        """Return whether the publisher has the current state, and the flags on the path are fresh."""
        p, version = self._parameters, self.broker.version
        if entry.sent_version != version or entry.groups != entry.joined:
            return False
        # Half of the timeout leaves time for the next request. Until the publisher confirms the version, the
        # reply may have been lost, so the broker replies to the next refresh, too.
        fresh = min(p.answer_every, p.timeout / 2 if entry.version == version else p.refresh)
        return now - entry.answered_at < fresh

    def joined(self, source: NodeId, groups: Collection[int]) -> bool:
        """Return whether this broker has joined one of a source's groups."""
        entry = self.table.get(source, self._host.now())
        return entry is not None and entry.answered_at >= 0 and not groups.isdisjoint(entry.groups)  # type: ignore[attr-defined]

    def _may_match(self, queries: tuple[Query, ...]) -> bool:
        by_summary = self._parameters.compare == "summary"
        return any(self.broker.may_match(each, by_summary) for each in queries)

    def _assign(self, entry: MemberEntry, roster: tuple[GroupJoin, ...]) -> None:
        mine = [join for join in roster if join.broker == self._host.node]
        if any(join.group == AGAIN for join in mine):
            entry.version = entry.sent_version = -1
        elif mine:
            entry.groups = tuple(join.group for join in mine)
            entry.version = mine[0].version

    def _answer(self, source: NodeId, entry: MemberEntry) -> None:
        """Join the assigned groups; include the subscriptions unless the publisher has them."""
        now, broker = self._host.now(), self.broker
        known = (
            self._parameters.omit_known_subscriptions
            and entry.version == broker.version
            and now - entry.answered_at < LASTING * self._parameters.timeout
        )
        entry.answered_at, entry.joined, entry.sent_version = now, entry.groups, broker.version
        for group in entry.groups:
            item = (source, GroupJoin(self._host.node, group, broker.version))
            self._carried.renew(item, None if known else broker.subscriptions, now)
            self.replies.answer(item, self._parameters.reply_delay if known else 0.0)

    # Joins of other brokers.

    def reaches(self, source: NodeId) -> bool:
        """Return whether there is a reverse path to a source."""
        return self.upstream.route(source) is not None

    def overhear(self, neighbour: NodeId, source: NodeId, joins: tuple[GroupJoin, ...]) -> None:
        """Record a neighbour's joins towards a source; joins repeated by the next hop are acknowledged."""
        if self.upstream.leads(source, neighbour):  # most tables come from other neighbours: skip them early
            for join in joins:
                self.replies.overhear(neighbour, (source, join))

    def pass_on(self, source: NodeId, join: GroupJoin, subscriptions: BrokerSubscriptions | None) -> None:
        """Forward a broker's join towards the source."""
        now, item = self._host.now(), (source, join)
        if subscriptions is not None or self._carried.get(item, now) is None:
            self._carried.renew(item, subscriptions, now)
        if self._parameters.forwarding_filter:
            self._keep_below(source, join, subscriptions, now)
        self.replies.pass_on(item, self._parameters.reply_delay if subscriptions is None else 0.0)

    def below(self, source: NodeId, group: int) -> Iterator[BrokerSubscriptions | None]:
        """Yield the subscriptions of downstream brokers in a source's group; None for an unknown one."""
        now, held = self._host.now(), self._below.get((source, group))
        for broker, version in held.items(now) if held is not None else ():
            subscriptions = self._subscriptions.get(broker, now)
            yield subscriptions if subscriptions is not None and subscriptions.version == version else None

    def _keep_below(
        self, source: NodeId, join: GroupJoin, subscriptions: BrokerSubscriptions | None, now: float
    ) -> None:
        held = self._below.pop((source, join.group), None)
        if held is None:
            held = Leases(self._parameters.timeout, self._parameters.members)
        self._below[source, join.group] = held  # most recently used last
        held.renew(join.broker, join.version, now)
        subscriptions = (
            subscriptions if subscriptions is not None else self._subscriptions.get(join.broker, now)
        )
        if subscriptions is not None:
            self._subscriptions.renew(join.broker, subscriptions, now)
        while sum(map(len, self._below.values())) > self._parameters.forwarded_joins:
            oldest = next(iter(self._below))
            first = self._below[oldest].first()
            if first is not None:
                self._below[oldest].discard(first[0])
            if not self._below[oldest]:
                del self._below[oldest]

    def _send_items(self, items: list[tuple[Item, UpstreamRoute]]) -> None:
        """Send the items in as few join tables as possible."""
        now = self._host.now()
        joins_by_source: dict[NodeId, tuple[NodeId, list[GroupJoin]]] = {}
        included: dict[NodeId, BrokerSubscriptions] = {}
        lifetimes: list[int] = []
        length = 0
        for (source, join), route in items:
            subscriptions = self._carried.get((source, join), now)
            more = (0 if source in joins_by_source else 9) + 8
            if subscriptions is not None and join.broker not in included:
                more += 7 + _size(subscriptions)
            if joins_by_source and (
                length + more > self._parameters.table_bytes - 8 or len(joins_by_source) >= 255
            ):
                self._send(joins_by_source, included, lifetimes)
                joins_by_source, included, lifetimes, length = {}, {}, [], 0
            joins_by_source.setdefault(source, (route.neighbour, []))[1].append(join)
            if subscriptions is not None:
                included[join.broker] = subscriptions
            if route.lifetime is not None:
                lifetimes.append(route.lifetime)
            length += more
        if joins_by_source:
            self._send(joins_by_source, included, lifetimes)

    def _send(
        self,
        joins_by_source: dict[NodeId, tuple[NodeId, list[GroupJoin]]],
        included: dict[NodeId, BrokerSubscriptions],
        lifetimes: list[int],
    ) -> None:
        sources = tuple(
            SourceJoins(source, hop, tuple(joins[:255])) for source, (hop, joins) in joins_by_source.items()
        )
        lifetime = (min(lifetimes),) if lifetimes else ()
        self._host.broadcast(SummaryTable(sources, tuple(included.values())[:255], lifetime))


def _size(subscriptions: BrokerSubscriptions | None) -> int:
    return (
        0
        if subscriptions is None
        else 9 + sum(map(filter_size, subscriptions.filters)) + len(subscriptions.summary)
    )
