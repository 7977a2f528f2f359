"""The groups of a publisher: made from the subscriptions it has gathered, changed without losing anybody."""

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
"A broker, and which of its subscriptions."
UNASSIGNED = 0
"The group of those who have no other yet."
NEVER = float("-inf")
AGAIN = 0xFFFF
"Instead of a group: the publisher does not know the broker's subscriptions."
GROUPS = AGAIN - 1
LASTING = 0.75
"""Share of the timeout for which a join counts on the flags that it has set: a patient join table takes
seconds, so they lapse that much earlier than the publisher would think, and are renewed that much later."""


class BrokerMember:
    """A broker that has answered."""

    __slots__ = ("joined", "units", "wish")

    def __init__(self, wish: BrokerSubscriptions) -> None:
        self.wish = wish
        self.units: tuple[Filter, ...] = ()
        self.joined: dict[int, float] = {}
        "When it was last heard to have joined each group; the latest last."


class PublisherGroups:
    """What a publisher knows of its subscribers' brokers, and how it groups them.

    A member is told its group in a join request and joins it in its next join table. Until it has, events
    reach it by the group that it joined before.
    """

    def __init__(self, parameters: PubSubParameters) -> None:
        self._parameters = parameters
        self.members: Leases[NodeId, BrokerMember] = Leases(parameters.timeout, parameters.members)
        self._known: dict[NodeId, BrokerMember] = {}
        "Those whose subscriptions are in the grouping."
        self.following: IncrementalGrouping = make_incremental(
            parameters.grouping, parameters.clusters or None
        )
        self._strangers: dict[NodeId, None] = {}
        "Brokers that have joined and whose subscriptions are not known."
        self.newcomer_at = NEVER
        "When a broker that was not known last joined."
        self.types: dict[bytes, EventType] = {}
        "The event types that this node publishes."

    def publishes(self, type: EventType) -> None:
        """Note a type of event; what members want of it counts from now on."""
        if type.fingerprint not in self.types:
            self.types[type.fingerprint] = type
            for broker in list(self._known):
                self._forget(broker)

    def hear(self, join: GroupJoin, wish: BrokerSubscriptions | None, now: float) -> None:
        """Take down that a broker has joined a group, and what it wants if that was told."""
        broker = join.broker
        member = self.members.get(broker, now)
        if member is None or (wish is not None and wish.version != member.wish.version):
            if wish is None or wish.version != join.version:
                self._strangers[broker] = None
                while len(self._strangers) > self._parameters.roster:
                    del self._strangers[next(iter(self._strangers))]
                if member is None:
                    return
            else:
                if member is None:
                    self.newcomer_at = now
                joined = {} if member is None else member.joined
                member = BrokerMember(wish)
                member.joined = joined
                self._strangers.pop(broker, None)
        elif join.version != member.wish.version and wish is None:
            self._strangers[broker] = None
        member.joined.pop(join.group, None)
        member.joined[join.group] = now
        while len(member.joined) > 8:
            del member.joined[next(iter(member.joined))]
        self.members.renew(broker, member, now)

    def follow(self, now: float) -> None:
        """Have the grouping follow who is there now and what they want."""
        self.members.sweep(now)
        living = dict(self.members.items(now))
        for broker in [b for b, member in self._known.items() if living.get(b) is not member]:
            self._forget(broker)
        for broker, member in living.items():
            if broker not in self._known:
                self._known[broker] = member
                member.units = units(member.wish, self.types)
                for place, unit in enumerate(member.units):
                    self.following.add((broker, place), unit)

    def roster(self, now: float) -> tuple[GroupJoin, ...]:
        """Who is to join which groups and has not yet, as far as one join request tells."""
        since = now - self._parameters.timeout
        found = [GroupJoin(broker, AGAIN, 0) for broker in self._strangers]
        self._strangers.clear()
        for broker, member in self._known.items():
            groups = sorted({self._number(broker, place) for place in range(len(member.units))})
            if any(member.joined.get(group, NEVER) <= since for group in groups):
                found += [GroupJoin(broker, group, member.wish.version) for group in groups]
        return tuple(found[: self._parameters.roster])

    def targets(self, event: Event, now: float) -> list[int]:
        """The groups that an event is to be sent to, so that whoever may want it gets it."""
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
                if (by == group and age < timeout) or may_match(member.wish, event):
                    chosen[by] = None
        return sorted(chosen)

    def count(self) -> int:
        """How many groups there are."""
        return len(self.following)

    def footprint(self) -> Footprint:
        """The size of what is known of members."""
        entries = self.members._entries.values()
        written = sum(
            8 + sum(len(f.to_bytes()) for f in m.wish.filters) + len(m.wish.summary) for _, m in entries
        )
        return Footprint(len(self.members), written, self._parameters.members)

    def _number(self, broker: NodeId, place: int) -> int:
        return 1 + self.following.label((broker, place)) % GROUPS

    def _forget(self, broker: NodeId) -> None:
        member = self._known.pop(broker)
        for place in range(len(member.units)):
            self.following.remove((broker, place))
