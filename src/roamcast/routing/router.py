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
"The address of all nodes in range."


class Drop(IntEnum):
    """The reason why a received message, or one that was to be sent, goes no further."""

    DUPLICATE = 1
    "This node has handled the message before."
    NOT_MINE = 2
    "The message is addressed to other nodes and was overheard."
    EXPIRED = 3
    "The state needed to forward the message has expired."
    NO_ROUTE = 4
    "No next hop is known."
    HOP_LIMIT = 5
    "The message has reached its hop limit."
    UNWANTED = 6
    "No subscription known here matches the event."
    TABLE_FULL = 7
    "A bounded table or buffer was full."
    MALFORMED = 8
    "The content of the message is inconsistent."
    SUPPRESSED = 9
    "Enough neighbours have already repeated the message."


DUPLICATE = Drop.DUPLICATE
NOT_MINE = Drop.NOT_MINE
"""Module-level aliases of the most frequent outcomes: looking up an enumeration member takes longer than the
test."""


class Position(NamedTuple):
    """A point in the scenario's plane [m]."""

    x: float
    y: float


class Velocity(NamedTuple):
    """A velocity vector in the scenario's plane [m/s]."""

    x: float
    y: float


class Footprint(NamedTuple):
    """The size of one table of a router."""

    entries: int
    bytes: int
    "Size of the entries in their wire encoding [B]."
    limit: int
    "Maximum number of entries."


class Timer(Protocol):
    """A scheduled call that can be cancelled."""

    def cancel(self) -> None:
        """Cancel the call; no effect if it has already run."""

    @property
    def active(self) -> bool:
        """Whether the call is still pending."""


class Host(Protocol):
    """The interface through which a router uses its node."""

    node: NodeId
    random: Random
    "Seeded by run, node and incarnation."
    incarnation: int
    "Number of earlier starts of this node with an empty memory, modulo 256."

    def now(self) -> float:
        """Return the time since the run (or the node) started [s]."""

    def broadcast(self, message: Message) -> None:
        """Send `message` to all nodes in range: one hop, unacknowledged."""

    def send(self, message: Message, to: NodeId) -> None:
        """Send `message` to the neighbour `to`: one hop, acknowledged and retried by the link layer."""

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> Timer:
        """Call `action(*args)` after `delay` seconds."""

    def withdraw(self, neighbour: NodeId) -> list[Message]:
        """Remove and return the messages queued in the link layer for `neighbour`, in order; the one in
        transmission stays."""

    def position(self) -> Position:
        """Return the position of this node; raise `PermissionError` if the scenario does not grant
        location."""

    def velocity(self) -> Velocity:
        """Return the velocity of this node; raise `PermissionError` if the scenario does not grant
        location."""

    def distance(self, signal: float) -> float:
        """Return the distance [m] to a sender received at `signal` watts, by the propagation model; nan if
        unknown."""

    def deliver(self, publication: Publication) -> None:
        """Deliver an event to the application on this node."""

    def drop(self, message: Message, reason: Drop, to: NodeId = BROADCAST) -> None:
        """Record that `message` goes no further, for drops outside `receive`; `to` is the destination of a
        unicast message."""

    def state(self, name: str, value: float) -> None:
        """Record a value of this router's state in the facts, for example that it is a relay or the length of
        a route."""


class Parameters(BaseModel):
    """Base class of protocol parameters: frozen and strict; the string below each field documents it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def _nobody(publication: Publication) -> Iterable[NodeId]:
    return ()


def _nowhere(node: NodeId) -> Position | None:
    return None


def _ignore(publication: int, receiver: NodeId, acknowledged: bool | None) -> None:
    """Ignore a confirmation; the default callback."""


class Router:
    """Base class of all routers: keeps the local subscriptions; subclasses implement dissemination."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    "The class of this protocol's parameters."
    as_published: ClassVar[Mapping[str, Any] | None] = None
    """The profile `as-published`: parameters that disable all extensions beyond the paper, dotted if nested.

    Empty if the default has no extensions; None if the protocol has no paper.
    """
    main_parameters: ClassVar[tuple[str, ...]] = ()
    "The main parameters, dotted if nested; `roamcast protocols NAME` shows them first."
    live: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    "The profile `live`: parameters for nodes on real sockets, dotted if nested."
    ns2: ClassVar[Mapping[str, Any] | None] = None
    "The profile `ns2`: the parameters of ns-2's implementation; None if it has none."
    messages: ClassVar[tuple[type[Message], ...]] = ()
    "The message classes that this protocol sends and handles; any other message is MALFORMED."
    promiscuous: bool = False
    """Whether the host calls `overhear` for unicast messages between other nodes; read once, after
    construction."""
    knows_audience: ClassVar[bool] = False
    "Whether the simulator sets `audience`; only for baselines that know the receivers in advance."
    needs_location: ClassVar[bool] = False
    "Whether the router uses `Host.position`: it runs only in scenarios that grant location."
    shares_process: ClassVar[bool] = False
    """Whether short runs of a campaign may share a process, which saves a fork per run.

    Set it if no module and no class keeps state of a run. Not inherited: each class declares it.
    """
    knows_positions: ClassVar[bool] = False
    "Whether the simulator sets `position_of`; only for baselines that know the positions of other nodes."

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        self.host = host
        self.parameters = parameters if parameters is not None else self.parameters_type()
        self.interests: list[Filter] = []
        self.handled: Seen | dict[int, Any] | None = None
        """Values of `Message.dedup_field` that `receive` would answer with DUPLICATE before anything else;
        the host may test them and save the call. Optional; the table must be the same object for the lifetime
        of the router."""
        self.shortcuts: dict[type[Message], Callable[[Any, NodeId, float], Drop | None]] | None = None
        """Functions that do what `receive` does with messages of these classes; the host may call them
        instead. Optional; read once, after construction."""
        self.audience: Callable[[Publication], Iterable[NodeId]] = _nobody
        """Returns the nodes, in ascending order, whose interests match a publication now; set if
        `knows_audience`."""
        self.position_of: Callable[[NodeId], Position | None] = _nowhere
        "Returns the current position of a node; set if `knows_positions`."
        self.may_refuse = False
        "Whether `publish` may return TABLE_FULL; set by hosts whose applications can wait."
        self.settled: Callable[[int, NodeId, bool | None], None] = _ignore
        """Called with a publication id, a receiver, and True if the receiver has acknowledged the
        publication and delivers it, False if the router stopped waiting for it, None if the receiver has
        acknowledged it but may have subscribed after it was published, and so may not deliver it. Only
        routers with the guarantee UNTIL_ACKNOWLEDGED call it.
        """

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits of this protocol with `parameters`; `why` and the tests use them."""
        return ProtocolTraits()

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table by name; the host samples it for the facts."""
        return {}

    def routes(self) -> Mapping[NodeId, NodeId]:
        """Return the next hop to each node to which a route is known, for display by `roamcast top`."""
        return {}

    def start(self) -> None:
        """Start the router; the host calls this once, before any other method, with the network already
        up."""

    def publish(self, publication: Publication) -> Drop | None:
        """Send an event of this node's application to its subscribers.

        If `may_refuse` is set, TABLE_FULL refuses the event: no more can be stored until receivers
        acknowledge. The application may try again with the same publication.
        """
        raise NotImplementedError

    def unacknowledged(self, publication: int) -> int:
        """Return the number of receivers that have not acknowledged the publication with this id."""
        return 0

    def known_receivers(self, event: Event) -> int:
        """Return the number of nodes to which `event` would be addressed if it were published now.

        Only routers with the guarantee UNTIL_ACKNOWLEDGED know it; others return 0.
        """
        return 0

    def abandon(self, publication: int) -> None:
        """Stop sending the publication with this id, because its lifetime has ended."""

    def advertise(self, filter: Filter) -> None:
        """Handle the application's announcement that it will publish events that `filter` matches."""

    def unadvertise(self, filter: Filter) -> None:
        """Withdraw an advertisement; the state of other nodes about it expires."""

    def subscribe(self, filter: Filter) -> None:
        """Subscribe the application to the events that `filter` matches."""
        self.interests.append(filter)

    def unsubscribe(self, filter: Filter) -> None:
        """Withdraw the subscription `filter`."""
        if filter in self.interests:
            self.interests.remove(filter)

    def request(self, filter: Filter) -> None:
        """Request one event that `filter` matches: a future one, or one that another node still stores."""
        self.subscribe(filter)

    def cancel_request(self, filter: Filter) -> None:
        """Withdraw a request that is satisfied or abandoned; never called from within `deliver`."""
        self.unsubscribe(filter)

    def matches(self, event: Event) -> bool:
        """Return whether an interest of this node's application matches `event`."""
        for filter in self.interests:  # noqa: SIM110 -- a generator would cost more than most filters
            if filter.matches(event):
                return True
        return False

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Handle a message received from the neighbour `sender` at `signal` watts (nan: unknown).

        Return the drop reason if the message goes no further, so that every loss is recorded; None otherwise.
        """
        raise NotImplementedError

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Process a unicast message between two other nodes; called only if the router is `promiscuous`."""

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Handle the link layer's report that it could not deliver `message` to the neighbour `to`."""

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Handle the host's report that a neighbour is heard first, or again some time after a link failure.

        Only live nodes call it, so it may only make use of a route earlier.
        """
