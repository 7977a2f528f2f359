"""What happened when a history was played: all that the laws look at."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import msgspec

from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, Message, NodeId, Publication
from roamcast.routing.traits import ProtocolTraits
from roamcast.testing.messages import nodes_named
from roamcast.testing.records import DroppedMessage, LostMessage, ReportedState, SentMessage
from roamcast.testing.swarm.history import History
from roamcast.wire.message import Role, unwrap

FLEETING = (Role.FINDS_ROUTE, Role.BEACONS)
"What such messages say is believed for a while only, whatever the protocol promises."


class SwarmTransmission(NamedTuple):
    """A message that a router gave to its links."""

    time: float
    node: NodeId
    incarnation: int
    message: Message
    to: NodeId
    reach: tuple[NodeId, ...]
    "Who was to hear it: the addressee, or everyone in range."
    awake: bool
    "Whether the node was up."


class SwarmReception(NamedTuple):
    """A message that a router was given, and what it said of it."""

    time: float
    node: NodeId
    incarnation: int
    message: Message
    sender: NodeId
    answer: object
    "What `receive` returned."
    forged: bool


class SwarmDelivery(NamedTuple):
    """An event that reached an application."""

    time: float
    node: NodeId
    incarnation: int
    publication: Publication


class SwarmPublication(NamedTuple):
    """An event that an application published."""

    time: float
    publication: Publication
    offered: bool
    "Whether it had been advertised."


class TableOverflow(NamedTuple):
    """A table that held more than its limit."""

    time: float
    node: NodeId
    table: str
    size: Footprint


class SubscriptionSpan(msgspec.Struct):
    """What an application wanted, from when until when."""

    node: NodeId
    pattern: Filter
    begin: float
    single: bool = False
    "Whether it asked for one event only."
    end: float = inf

    def holds(self, time: float) -> bool:
        """Whether it was in force at a moment."""
        return self.begin <= time < self.end


class Incarnation(msgspec.Struct):
    """One incarnation of a node: from its start to its crash, or until everyone left."""

    node: NodeId
    incarnation: int
    begin: float
    end: float = inf


class SwarmRecord(msgspec.Struct):
    """All that happened."""

    history: History
    traits: ProtocolTraits
    serials: bool = True
    "Whether advertisements, if the router has such, are told apart by serials (`advert_serials`)."
    transmissions: list[SwarmTransmission] = []
    receptions: list[SwarmReception] = []
    lost: list[LostMessage] = []
    drops: list[DroppedMessage] = []
    deliveries: list[SwarmDelivery] = []
    states: list[ReportedState] = []
    belated: list[SentMessage] = []
    "What routers tried to send when their node had crashed."
    published: list[SwarmPublication] = []
    probes: list[SwarmPublication] = []
    "What was published when the faults had ended and all had settled."
    subscriptions: list[SubscriptionSpan] = []
    incarnations: list[Incarnation] = []
    overflows: list[TableOverflow] = []
    error: str | None = None
    "The traceback of an exception; the play ended there."
    stormed: bool = False
    "Whether there was no end of frames; the play ended there."
    settled_at: float = inf
    left_at: float = inf
    "When everyone left."
    forged_publications: set[int] = set()
    "The publications that forged frames were about: nobody knows by whose doing they were delivered or lost."
    busy: str | None = None
    "How many timers were set, if there was no end of them; the play ended there."
    later_at: float = inf
    "When the mild faults after the settling began."
    second: SwarmRecord | None = None
    "What happened the second time."

    @property
    def ended_early(self) -> bool:
        """Whether an exception, a storm or timers without end broke off the play."""
        return self.error is not None or self.stormed or self.busy is not None

    @property
    def forged_nodes(self) -> set[NodeId]:
        """The nodes that forged frames named, but for those about routes to them: routes lapse."""
        said = [heard.message for heard in self.receptions if heard.forged]
        return set().union(
            *(nodes_named(message) for message in said if unwrap(message).role not in FLEETING)
        )

    def incarnation_at(self, node: NodeId, time: float) -> Incarnation | None:
        """The incarnation that a node was in at a moment."""
        return next((x for x in self.incarnations if x.node == node and x.begin <= time < x.end), None)
