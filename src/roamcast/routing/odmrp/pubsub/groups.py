"""The groups of a publisher, computed from its subscribers' subscriptions and updated incrementally."""

from __future__ import annotations

from typing import cast

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.incremental import IncrementalGrouping, make_incremental
from roamcast.content.schema import EventType
from roamcast.routing.odmrp.pubsub.messages import BrokerSubscriptions, GroupJoin
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.odmrp.pubsub.remote_subscriptions import may_match, units
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases

Unit = tuple[NodeId, int]
"A broker, and the index of one of its subscriptions."
UNASSIGNED = 0
"The group of members that have not been assigned to another."
NEVER = float("-inf")
AGAIN = 0xFFFF
"Marks an entry of the roster: the publisher asks the broker for its subscriptions."
GROUPS = AGAIN - 1
LASTING = 0.75
"""Fraction of the timeout for which a publisher relies on the flags that a join has set. A delayed join table
takes seconds, so the flags expire earlier than the publisher assumes, and are renewed later."""


class BrokerMember:
    """A broker that has sent a join table."""

    __slots__ = ("joined", "subscriptions", "units")

    def __init__(self, subscriptions: BrokerSubscriptions) -> None:
        self.subscriptions = subscriptions
        self.units: tuple[Filter, ...] = ()
        self.joined: dict[int, float] = {}
        "Time of the last join of each group [s], most recent last."


class PublisherGroups:
    """The publisher's view of its subscribers' brokers, and their grouping.

    A join request assigns a member to a group, and the member joins the group in its next join table. Until
    then, the publisher sends events for it to the group that it joined before.
    """

    def __init__(self, parameters: PubSubParameters) -> None:
        self._parameters = parameters
        self.members: Leases[NodeId, BrokerMember] = Leases(parameters.timeout, parameters.members)
        self._known: dict[NodeId, BrokerMember] = {}
        "Brokers whose subscriptions are part of the grouping."
        self.following: IncrementalGrouping = make_incremental(
            parameters.grouping, parameters.clusters or None
        )
        self._unknown: dict[NodeId, None] = {}
        "Brokers that have joined and whose current subscriptions are not known."
        self.newcomer_at = NEVER
        "Time at which a new broker last joined [s]."
        self.types: dict[bytes, EventType] = {}
        "The event types that this node publishes."

    def publishes(self, type: EventType) -> None:
        """Add an event type; the subscriptions to it are included in the grouping from now on."""
        if type.fingerprint not in self.types:
            self.types[type.fingerprint] = type
            for broker in list(self._known):
                self._forget(broker)

    def hear(self, join: GroupJoin, subscriptions: BrokerSubscriptions | None, now: float) -> None:
        """Record a broker's join of a group, and its subscriptions if the join table carries them."""
        broker = join.broker
        member = self.members.get(broker, now)
        if member is None or (
            subscriptions is not None and subscriptions.version != member.subscriptions.version
        ):
            if subscriptions is None or subscriptions.version != join.version:
                self._unknown[broker] = None
                while len(self._unknown) > self._parameters.roster:
                    del self._unknown[next(iter(self._unknown))]
                if member is None:
                    return
            else:
                if member is None:
                    self.newcomer_at = now
                joined = {} if member is None else member.joined
                member = BrokerMember(subscriptions)
                member.joined = joined
                self._unknown.pop(broker, None)
        elif join.version != member.subscriptions.version and subscriptions is None:
            self._unknown[broker] = None
        member.joined.pop(join.group, None)
        member.joined[join.group] = now
        while len(member.joined) > 8:
            del member.joined[next(iter(member.joined))]
        self.members.renew(broker, member, now)

    def follow(self, now: float) -> None:
        """Update the grouping with new, changed and expired members."""
        self.members.sweep(now)
        current = dict(self.members.items(now))
        for broker in [b for b, member in self._known.items() if current.get(b) is not member]:
            self._forget(broker)
        for broker, member in current.items():
            if broker not in self._known:
                self._known[broker] = member
                member.units = units(member.subscriptions, self.types)
                for place, unit in enumerate(member.units):
                    self.following.add((broker, place), unit)

    def roster(self, now: float) -> tuple[GroupJoin, ...]:
        """Return the group assignments that members have not adopted yet, limited to one join request."""
        since = now - self._parameters.timeout
        found = [GroupJoin(broker, AGAIN, 0) for broker in self._unknown]
        self._unknown.clear()
        for broker, member in self._known.items():
            groups = sorted({self._number(broker, place) for place in range(len(member.units))})
            if any(member.joined.get(group, NEVER) <= since for group in groups):
                found += [GroupJoin(broker, group, member.subscriptions.version) for group in groups]
        return tuple(found[: self._parameters.roster])

    def targets(self, event: Event, now: float) -> list[int]:
        """Return the groups to which an event is sent, so that every broker that may match receives it."""
        timeout = self._parameters.timeout
        chosen: dict[int, None] = {}
        for label, members, filter in self.following.groups(event.type):
            if not filter.matches(event):
                continue
            group = 1 + label % GROUPS
            for broker, _ in cast("tuple[Unit, ...]", members):
                member = self.members.get(broker, now)
                if member is None:
                    continue
                age = now - member.joined.get(group, NEVER)
                by = group if age < LASTING * timeout else next(reversed(member.joined))
                if (by == group and age < timeout) or may_match(member.subscriptions, event):
                    chosen[by] = None
        return sorted(chosen)

    def count(self) -> int:
        """Return the number of groups."""
        return len(self.following)

    def footprint(self) -> Footprint:
        """Return the size of the member table."""
        entries = self.members._entries.values()
        written = sum(
            8 + sum(len(f.to_bytes()) for f in m.subscriptions.filters) + len(m.subscriptions.summary)
            for _, m in entries
        )
        return Footprint(len(self.members), written, self._parameters.members)

    def _number(self, broker: NodeId, place: int) -> int:
        return 1 + self.following.label((broker, place)) % GROUPS

    def _forget(self, broker: NodeId) -> None:
        member = self._known.pop(broker)
        for place in range(len(member.units)):
            self.following.remove((broker, place))
