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

Question = Event | EventDigest | Filter
Item = tuple[NodeId, GroupJoin]
"An item of a join table: a source, and a broker's join of one of its groups."


class MemberEntry:
    """An entry of the member table: the last queries of a publisher, and the reply."""

    __slots__ = ("answered_at", "groups", "incarnation", "joined", "questions", "told", "version")

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.questions: tuple[Question, ...] = ()
        self.groups: tuple[int, ...] = (UNASSIGNED,)
        "The groups that this broker is to join."
        self.version = -1
        "Version of this broker's subscriptions that the publisher last confirmed; -1: none."
        self.told = -1
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
            host, parameters, lambda item: self.upstream.route(item[0]), self._say
        )
        self.table: Leases[NodeId, MemberEntry] = Leases(parameters.timeout, parameters.routes)
        self._carried: Leases[Item, BrokerSubscriptions | None] = Leases(
            parameters.timeout, parameters.forwarded_joins
        )
        "The subscriptions that each join carries, for own and forwarded joins."
        self._below: dict[tuple[NodeId, int], Leases[NodeId, int]] = {}
        "For the forwarding filter: downstream brokers by source and group, with their subscription versions."
        self._wishes: Leases[NodeId, BrokerSubscriptions] = Leases(parameters.timeout, parameters.members)
        "The subscriptions of downstream brokers."
        self._false_joins = Counter(host, FALSE_JOINS)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        carried = [wish for _, wish in self._carried._entries.values()]
        below = sum(map(len, self._below.values()))
        wishes = [wish for _, wish in self._wishes._entries.values()]
        return {
            "routes": self.upstream.footprint(16),
            "answers": self.replies.footprint(16),
            "asked": Footprint(len(self.table), 16 * len(self.table), self.table.capacity),
            "carried": Footprint(len(carried), sum(map(_size, carried)), self._carried.capacity),
            "below": Footprint(below, 8 * below, self._parameters.forwarded_joins),
            "wishes": Footprint(len(wishes), sum(map(_size, wishes)), self._wishes.capacity),
        }

    # Joins of this broker.

    def set_subscriptions(self, filters: Collection[Filter]) -> None:
        """Replace the subscriptions, and send a change at once to publishers that have sent queries."""
        if not self.broker.set_subscriptions(filters) or not self.broker.filters:
            return
        for source, asked in list(self.table.items(self._host.now())):
            if asked.answered_at >= 0 or self._may_match(asked.questions):
                self._answer(source, asked)

    def hear_request(
        self,
        message: ContentRequest | EventRequest,
        questions: tuple[Question, ...],
        sender: NodeId,
        lifetime: int | None,
    ) -> None:
        """Store a join request, and reply if a subscription may match one of its queries."""
        now, source = self._host.now(), message.source
        self.upstream.learn(source, sender, message.sequence, lifetime)
        asked = self.table.get(source, now)
        incarnation = message.sequence >> 24
        if asked is None or asked.incarnation != incarnation:
            asked = MemberEntry(incarnation)
        asked.questions = questions
        self.table.renew(source, asked, now)
        if message.roster:
            self._assign(asked, message.roster)
        if self.broker.filters and self._may_match(questions):
            if not any(map(self.broker.matches_exactly, questions)):
                self._false_joins.increment()
            if not self._answered_lately(asked, now):
                self._answer(source, asked)

    def _answered_lately(self, asked: MemberEntry, now: float) -> bool:
        """Return whether the publisher has the current state, and the flags on the path are fresh."""
        p, version = self._parameters, self.broker.version
        if asked.told != version or asked.groups != asked.joined:
            return False
        # Half of the timeout leaves time for the next request. Until the publisher confirms the version, the
        # reply may have been lost, so the broker replies to the next refresh, too.
        fresh = min(p.answer_every, p.timeout / 2 if asked.version == version else p.refresh)
        return now - asked.answered_at < fresh

    def joined(self, source: NodeId, groups: Collection[int]) -> bool:
        """Return whether this broker has joined one of a source's groups."""
        asked = self.table.get(source, self._host.now())
        return asked is not None and asked.answered_at >= 0 and not groups.isdisjoint(asked.groups)  # type: ignore[attr-defined]

    def _may_match(self, questions: tuple[Question, ...]) -> bool:
        by_summary = self._parameters.compare == "summary"
        return any(self.broker.may_match(each, by_summary) for each in questions)

    def _assign(self, asked: MemberEntry, roster: tuple[GroupJoin, ...]) -> None:
        mine = [join for join in roster if join.broker == self._host.node]
        if any(join.group == AGAIN for join in mine):
            asked.version = asked.told = -1
        elif mine:
            asked.groups = tuple(join.group for join in mine)
            asked.version = mine[0].version

    def _answer(self, source: NodeId, asked: MemberEntry) -> None:
        """Join the assigned groups; include the subscriptions unless the publisher has them."""
        now, broker = self._host.now(), self.broker
        known = (
            self._parameters.omit_known_subscriptions
            and asked.version == broker.version
            and now - asked.answered_at < LASTING * self._parameters.timeout
        )
        asked.answered_at, asked.joined, asked.told = now, asked.groups, broker.version
        for group in asked.groups:
            item = (source, GroupJoin(self._host.node, group, broker.version))
            self._carried.renew(item, None if known else broker.subscriptions, now)
            self.replies.answer(item, self._parameters.reply_delay if known else 0.0)

    # Joins of other brokers.

    def reaches(self, source: NodeId) -> bool:
        """Return whether there is a reverse path to a source."""
        return self.upstream.route(source) is not None

    def heard(self, neighbour: NodeId, source: NodeId, joins: tuple[GroupJoin, ...]) -> None:
        """Record a neighbour's joins towards a source; joins repeated by the next hop are acknowledged."""
        if self.upstream.leads(source, neighbour):  # most tables come from other neighbours: skip them early
            for join in joins:
                self.replies.heard(neighbour, (source, join))

    def pass_on(self, source: NodeId, join: GroupJoin, wish: BrokerSubscriptions | None) -> None:
        """Forward a broker's join towards the source."""
        now, item = self._host.now(), (source, join)
        if wish is not None or self._carried.get(item, now) is None:
            self._carried.renew(item, wish, now)
        if self._parameters.forwarding_filter:
            self._keep_below(source, join, wish, now)
        self.replies.pass_on(item, self._parameters.reply_delay if wish is None else 0.0)

    def below(self, source: NodeId, group: int) -> Iterator[BrokerSubscriptions | None]:
        """Yield the subscriptions of downstream brokers in a source's group; None for an unknown one."""
        now, held = self._host.now(), self._below.get((source, group))
        for broker, version in held.items(now) if held is not None else ():
            wish = self._wishes.get(broker, now)
            yield wish if wish is not None and wish.version == version else None

    def _keep_below(
        self, source: NodeId, join: GroupJoin, wish: BrokerSubscriptions | None, now: float
    ) -> None:
        held = self._below.pop((source, join.group), None)
        if held is None:
            held = Leases(self._parameters.timeout, self._parameters.members)
        self._below[source, join.group] = held  # most recently used last
        held.renew(join.broker, join.version, now)
        wish = wish if wish is not None else self._wishes.get(join.broker, now)
        if wish is not None:
            self._wishes.renew(join.broker, wish, now)
        while sum(map(len, self._below.values())) > self._parameters.forwarded_joins:
            oldest = next(iter(self._below))
            first = self._below[oldest].first()
            if first is not None:
                self._below[oldest].discard(first[0])
            if not self._below[oldest]:
                del self._below[oldest]

    def _say(self, said: list[tuple[Item, UpstreamRoute]]) -> None:
        """Send the items in as few join tables as possible."""
        now = self._host.now()
        ways: dict[NodeId, tuple[NodeId, list[GroupJoin]]] = {}
        wishes: dict[NodeId, BrokerSubscriptions] = {}
        lifetimes: list[int] = []
        length = 0
        for (source, join), route in said:
            wish = self._carried.get((source, join), now)
            more = (0 if source in ways else 9) + 8
            if wish is not None and join.broker not in wishes:
                more += 7 + _size(wish)
            if ways and (length + more > self._parameters.table_bytes - 8 or len(ways) >= 255):
                self._send(ways, wishes, lifetimes)
                ways, wishes, lifetimes, length = {}, {}, [], 0
            ways.setdefault(source, (route.neighbour, []))[1].append(join)
            if wish is not None:
                wishes[join.broker] = wish
            if route.lifetime is not None:
                lifetimes.append(route.lifetime)
            length += more
        if ways:
            self._send(ways, wishes, lifetimes)

    def _send(
        self,
        ways: dict[NodeId, tuple[NodeId, list[GroupJoin]]],
        wishes: dict[NodeId, BrokerSubscriptions],
        lifetimes: list[int],
    ) -> None:
        told = tuple(SourceJoins(source, hop, tuple(joins[:255])) for source, (hop, joins) in ways.items())
        lifetime = (min(lifetimes),) if lifetimes else ()
        self._host.broadcast(SummaryTable(told, tuple(wishes.values())[:255], lifetime))


def _size(wish: BrokerSubscriptions | None) -> int:
    return 0 if wish is None else 9 + sum(map(filter_size, wish.filters)) + len(wish.summary)
