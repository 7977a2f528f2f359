"""The record of a run of a history, which the laws check."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import msgspec

from roamcast.content.filter import Filter
from roamcast.routing.router import Drop, Footprint, Message, NodeId, Publication
from roamcast.routing.traits import ProtocolTraits
from roamcast.testing.messages import nodes_named
from roamcast.testing.records import DroppedMessage, LostMessage, ReportedState, SentMessage
from roamcast.testing.swarm.history import History
from roamcast.wire.message import Role, unwrap

FLEETING = (Role.ROUTING, Role.BEACON)
"Roles of messages whose content always expires, for any delivery guarantee."


class SwarmTransmission(NamedTuple):
    """A message that a router sent."""

    time: float
    node: NodeId
    incarnation: int
    message: Message
    to: NodeId
    reach: tuple[NodeId, ...]
    "The intended receivers: the addressee, or all neighbours."
    awake: bool
    "Whether the node was up and not asleep."


class SwarmReception(NamedTuple):
    """A message that a router received, and the result."""

    time: float
    node: NodeId
    incarnation: int
    message: Message
    sender: NodeId
    answer: object
    "The value that `receive` returned."
    forged: bool


class SwarmDelivery(NamedTuple):
    """An event that was delivered to an application."""

    time: float
    node: NodeId
    incarnation: int
    publication: Publication


class SwarmPublication(NamedTuple):
    """An event that an application published."""

    time: float
    publication: Publication
    advertised: bool
    "Whether the publisher had advertised it."


class TableOverflow(NamedTuple):
    """A table that held more than its limit."""

    time: float
    node: NodeId
    table: str
    size: Footprint


class SubscriptionSpan(msgspec.Struct):
    """A subscription or a request of an application, from `begin` to `end` [s]."""

    node: NodeId
    pattern: Filter
    begin: float
    single: bool = False
    "Whether it is a request for one event."
    end: float = inf

    def holds(self, time: float) -> bool:
        """Return whether the subscription was active at a time."""
        return self.begin <= time < self.end


class Incarnation(msgspec.Struct):
    """One incarnation of a node: from its start to its crash or to the end of the run [s]."""

    node: NodeId
    incarnation: int
    begin: float
    end: float = inf


class SwarmRecord(msgspec.Struct):
    """The record of one run of a history."""

    history: History
    traits: ProtocolTraits
    serials: bool = True
    "Whether advertisements have serials (`advert_serials`); true for routers without advertisements."
    transmissions: list[SwarmTransmission] = []
    receptions: list[SwarmReception] = []
    lost: list[LostMessage] = []
    drops: list[DroppedMessage] = []
    deliveries: list[SwarmDelivery] = []
    states: list[ReportedState] = []
    belated: list[SentMessage] = []
    "Messages that routers tried to send after their node had crashed."
    published: list[SwarmPublication] = []
    probes: list[SwarmPublication] = []
    "The probe events, published after the faults had ended and the network had settled."
    subscriptions: list[SubscriptionSpan] = []
    incarnations: list[Incarnation] = []
    overflows: list[TableOverflow] = []
    error: str | None = None
    "The traceback of an exception, which ended the run."
    stormed: bool = False
    "Whether a broadcast storm ended the run."
    longest: float = 0.0
    "The longest duration among the parameters: a router may hold an event that long [s]."
    settled_at: float = inf
    left_at: float = inf
    "The time at which all nodes left [s]."
    forged_publications: set[int] = set()
    "The publications that forged frames named; forgery may have caused their delivery or loss."
    busy: str | None = None
    "The description of an endless sequence of timers, which ended the run; None if there was none."
    later_at: float = inf
    "The time at which the mild faults after the probes began [s]."
    second: SwarmRecord | None = None
    "The record of the second run."

    @property
    def suppressed(self) -> list[Message]:
        """Return the messages of which a router suppressed a repetition."""
        return [
            drop.message
            for drop in self.drops
            if drop.reason is Drop.SUPPRESSED and isinstance(drop.message, Message)
        ]

    @property
    def ended_early(self) -> bool:
        """Return whether an exception, a storm or endless timers ended the run."""
        return self.error is not None or self.stormed or self.busy is not None

    def stuck(self) -> bool:
        """Return whether a router that does not find every path dropped a message for want of a next hop."""
        return bool(self.traits.incomplete) and any(drop.reason is Drop.NO_ROUTE for drop in self.drops)

    @property
    def forged_nodes(self) -> set[NodeId]:
        """Return the nodes that forged frames named, except frames of roles whose content expires."""
        forged = [heard.message for heard in self.receptions if heard.forged]
        return set().union(
            *(nodes_named(message) for message in forged if unwrap(message).role not in FLEETING)
        )

    def incarnation_at(self, node: NodeId, time: float) -> Incarnation | None:
        """Return the incarnation of a node at a time; None if it was down."""
        return next((x for x in self.incarnations if x.node == node and x.begin <= time < x.end), None)
