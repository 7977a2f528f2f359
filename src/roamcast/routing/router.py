"""The interface of routers. Read this module first.

A router is the protocol logic of one node. It owns no clock, socket, thread, file, log or random
generator: it uses those of its `Host`. The same router class runs in the simulator (`roamcast.sim`)
and in tests without a radio (`roamcast.testing.Mesh`).

`receive` is the hot path: in a dense network 19 of 20 received messages are duplicates. Test for
duplicates first, and allocate nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from random import Random
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.state.seen import Seen
from roamcast.routing.traits import DeliveryGuarantee, Dissemination, ProtocolTraits
from roamcast.wire.field import NodeId
from roamcast.wire.message import Category, Message, Role
from roamcast.wire.publication import Publication

__all__ = [
    "BROADCAST",
    "DUPLICATE",
    "NOT_MINE",
    "Category",
    "DeliveryGuarantee",
    "Dissemination",
    "Drop",
    "Footprint",
    "Host",
    "Message",
    "NodeId",
    "Parameters",
    "Position",
    "ProtocolTraits",
    "Publication",
    "Role",
    "Router",
    "Timer",
    "Velocity",
]

BROADCAST: NodeId = -1
"The address of everyone in range."


class Drop(IntEnum):
    """Why a message that was heard, or should have been sent, went no further."""

    DUPLICATE = 1
    "This node has handled the message before."
    NOT_MINE = 2
    "Addressed to others; overheard only because the air is shared."
    EXPIRED = 3
    "The state that would have carried it lapsed."
    NO_ROUTE = 4
    "Nobody to send it to is known."
    HOP_LIMIT = 5
    "It has travelled as far as it may."
    UNWANTED = 6
    "No subscription here or beyond matches it."
    TABLE_FULL = 7
    "A bounded table or buffer had no room."
    MALFORMED = 8
    "It claims what cannot be true."
    SUPPRESSED = 9
    "Enough neighbours have already repeated it."


DUPLICATE = Drop.DUPLICATE
NOT_MINE = Drop.NOT_MINE
"Plain names for how most messages heard end: looking up an enumeration's member costs more than the test."


class Position(NamedTuple):
    """A place in the scenario's plane, in metres."""

    x: float
    y: float


class Velocity(NamedTuple):
    """A speed with its direction in the scenario's plane, in metres per second."""

    x: float
    y: float


class Footprint(NamedTuple):
    """The size of one of a router's tables."""

    entries: int
    bytes: int
    "What the entries hold, if written as on the wire."
    limit: int
    "Entries that it never exceeds."


class Timer(Protocol):
    """Something that will happen unless it is cancelled."""

    def cancel(self) -> None:
        """Make sure that it will not happen; harmless if it has."""

    @property
    def active(self) -> bool:
        """Whether it is still to happen."""


class Host(Protocol):
    """What a router may ask of the node that it runs on."""

    node: NodeId
    random: Random
    "Seeded per run, node and incarnation."
    incarnation: int
    "How often this node has started with an empty memory before, modulo 256."

    def now(self) -> float:
        """Seconds since the run (or the node) started."""

    def broadcast(self, message: Message) -> None:
        """Give `message` to everyone in range: one hop, unacknowledged."""

    def send(self, message: Message, to: NodeId) -> None:
        """Give `message` to the neighbour `to`: one hop, acknowledged and retried by the link."""

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> Timer:
        """Call `action(*args)` after `delay` seconds."""

    def withdraw(self, neighbour: NodeId) -> list[Message]:
        """Take back, in order, what waits in the link for `neighbour`; not what it is busy with."""

    def position(self) -> Position:
        """Own position; raises `PermissionError` where the scenario does not grant location."""

    def velocity(self) -> Velocity:
        """Own velocity; raises `PermissionError` where the scenario does not grant location."""

    def distance(self, signal: float) -> float:
        """Metres to a sender heard at `signal` watts, by the propagation; nan where nobody knows."""

    def deliver(self, publication: Publication) -> None:
        """Hand an event to the application on this node."""

    def drop(self, message: Message, reason: Drop, to: NodeId = BROADCAST) -> None:
        """Record that `message` goes no further, for drops that happen outside `receive`; `to`: whom it was
        for, where that is one node."""

    def state(self, name: str, value: float) -> None:
        """Record a fact about this router: that it has become a relay, how long a route is."""


class Parameters(BaseModel):
    """Base of a protocol's parameters: frozen, strict, each explained by the string below it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def _nobody(publication: Publication) -> Iterable[NodeId]:
    return ()


def _nowhere(node: NodeId) -> Position | None:
    return None


def _ignore(publication: int, receiver: NodeId, acknowledged: bool) -> None:
    """Nobody asks for confirmations."""


class Router:
    """Base of all routers: keeps the local subscriptions, leaves the travelling to its children."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    "The parameters that this protocol takes."
    as_published: ClassVar[Mapping[str, Any] | None] = None
    """The profile `as-published`: parameters that switch off all by which it goes beyond its paper, dotted
    where they are nested; empty if it does not by default, None if it has no paper."""
    main_parameters: ClassVar[tuple[str, ...]] = ()
    "The few parameters that people change, dotted where nested; `roamcast protocols NAME` shows them first."
    live: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    "The profile `live`: parameters for nodes on real sockets, dotted where they are nested."
    messages: ClassVar[tuple[type[Message], ...]] = ()
    "The kinds of message that it says and understands; whatever else is heard is MALFORMED."
    promiscuous: bool = False
    "Whether `overhear` is to be called for unicast messages between others; asked once, when it is made."
    knows_audience: ClassVar[bool] = False
    "Whether `audience` is granted: only baselines that are told their receivers in advance ask for it."
    needs_location: ClassVar[bool] = False
    "Whether it asks its host where it is: it runs only where the scenario grants location."
    shares_process: ClassVar[bool] = False
    """Whether short runs of a campaign may follow each other in one process, which saves a fork for each: set
    it if no module or class keeps anything of a run. Not inherited: each class says it of itself."""
    knows_positions: ClassVar[bool] = False
    "Whether `whereabouts` is granted: only baselines that may be told where others are ask for it."

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        self.host = host
        self.parameters = parameters if parameters is not None else self.parameters_type()
        self.interests: list[Filter] = []
        self.handled: Seen | dict[int, Any] | None = None
        """Keys of messages (`Message.key`) that `receive` would answer with DUPLICATE before all else; a host
        may look here and save the call. Optional: one and the same table for the life of the router."""
        self.audience: Callable[[Publication], Iterable[NodeId]] = _nobody
        "Who wants a publication at this moment; set by the world where `knows_audience`, in order of node."
        self.position_of: Callable[[NodeId], Position | None] = _nowhere
        "Where a node is at this moment; set by the world where `knows_places`."
        self.may_refuse = False
        "Whether `publish` may refuse; set by hosts whose applications can wait."
        self.settled: Callable[[int, NodeId, bool], None] = _ignore
        """Called with a publication's id and a receiver that has acknowledged it (True), or is not waited for
        any more (False). Only by routers that promise UNTIL_ACKNOWLEDGED."""

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """How this protocol behaves with `parameters`; `why` and the tests go by it."""
        return ProtocolTraits()

    def tables(self) -> Mapping[str, Footprint]:
        """The size of each of its tables, by name; noted in the facts now and then."""
        return {}

    def routes(self) -> Mapping[NodeId, NodeId]:
        """Return the next hop to each node that it knows a route to; for people who look at a live node."""
        return {}

    def start(self) -> None:
        """Begin: called once, before anything else, with the network already up."""

    def publish(self, publication: Publication) -> Drop | None:
        """Send an event of this node's application on its way.

        TABLE_FULL refuses it, where `may_refuse`: no more can be kept until receivers acknowledge. The
        application may try again with the same publication.
        """
        raise NotImplementedError

    def unacknowledged(self, publication: int) -> int:
        """Return how many receivers have yet to acknowledge the publication with this id."""
        return 0

    def abandon(self, publication: int) -> None:
        """Stop sending the publication with this id: its lifetime is over."""

    def advertise(self, offered: Filter) -> None:
        """Hear from the application what it is going to publish."""

    def unadvertise(self, offered: Filter) -> None:
        """Hear that it is not going to publish that any more; what others know of it expires."""

    def subscribe(self, wanted: Filter) -> None:
        """Start wanting what `wanted` matches."""
        self.interests.append(wanted)

    def unsubscribe(self, wanted: Filter) -> None:
        """Stop wanting it."""
        if wanted in self.interests:
            self.interests.remove(wanted)

    def request(self, wanted: Filter) -> None:
        """Ask for one event that `wanted` matches: the next to come, or one that somebody still has."""
        self.subscribe(wanted)

    def cancel_request(self, wanted: Filter) -> None:
        """Ask no more: it has come, or nobody waits any longer; never called from within `deliver`."""
        self.unsubscribe(wanted)

    def matches(self, event: Event) -> bool:
        """Whether the application on this node wants `event` now."""
        for wanted in self.interests:  # noqa: SIM110 -- a generator would cost more than most filters
            if wanted.matches(event):
                return True
        return False

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Handle a message heard from the neighbour `sender` at `signal` watts (nan: unknown).

        The value says what became of a message that went no further, so that nothing
        disappears silently and a duplicate costs no call.
        """
        raise NotImplementedError

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Notice a unicast message between two others; called only for promiscuous routers."""

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Learn that the link gave up on sending `message` to the neighbour `to`."""
