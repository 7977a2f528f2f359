"""The interface of unicast routing: a component that carries messages over several hops.

A router creates one for its host and implements the callbacks for messages that arrive or fail. It passes on
the received messages of the classes in `messages` and all link failures, and calls `send`. The router sees
only messages addressed to its own node: forwarding, waiting for routes and rerouting happen here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, Protocol

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId, Parameters
from roamcast.routing.state.seen import Seen
from roamcast.wire.fields import Hops, Node


class Datagram(Message, number=48):
    """A message on its way over several hops, for protocols that route hop by hop."""

    origin: Node
    destination: Node
    hops: Hops
    "Remaining hops."
    payload: Message


class UnicastUser(Protocol):
    """The callbacks of a router for the unicast protocol that it uses.

    A router that inherits from this class drops what cannot be forwarded, and gives no hints.
    """

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Handle a message for this node from `origin`, received from the neighbour `sender`."""

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Handle a message that cannot be forwarded; return True if the router handles it further.

        Otherwise it is dropped with the reason. The node at which it failed may differ from its origin.
        """
        return False

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Return a neighbour to try if no route is known, or None."""
        return None

    def add_age(self, message: Message, seconds: float) -> Message:
        """Return the message to be sent after it waited `seconds` for a route; some carry their age."""
        return message


class Unicast(ABC):
    """One node's instance of a unicast protocol."""

    parameters_type: ClassVar[type[Parameters]]
    messages: ClassVar[tuple[type[Message], ...]]
    "The message classes that the protocol sends and receives, including envelopes."
    promiscuous: bool = False
    "Whether the protocol overhears unicast messages between other nodes."

    def __init__(self, host: Host, parameters: Parameters, user: UnicastUser) -> None:
        self.host = host
        self.user = user
        self.handled: Seen | None = None
        "As `Router.handled`: keys of flooded messages whose duplicates need no call."

    @abstractmethod
    def start(self) -> None:
        """Start the protocol; called once, when the network is up."""

    @abstractmethod
    def send(self, message: Message, to: NodeId) -> None:
        """Send `message` to the node `to`, now or later; a failure is reported to the router."""

    def send_across(self, message: Message, neighbour: NodeId) -> None:
        """Send `message` to a neighbour that was received a moment ago, if possible over that link."""
        self.send(message, neighbour)

    @abstractmethod
    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Handle a message of one of the classes in `messages`."""

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:  # noqa: B027
        """Process an overheard message of one of the classes in `messages`."""

    @abstractmethod
    def link_failed(self, message: Any, to: NodeId) -> None:
        """Handle a link failure of a message to a neighbour, sent by this protocol or by the router."""

    def neighbour_appeared(self, neighbour: NodeId) -> None:  # noqa: B027
        """Handle the report of a live node (`Router.neighbour_appeared`)."""

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """Return the current next hop to `destination`; None if no route is known."""
        return None

    def detour(self, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Return a neighbour outside `avoid` to try after a link failure to the next hop; None if unknown."""
        return None

    def led_by(self, neighbour: NodeId, destinations: Iterable[NodeId]) -> Collection[NodeId]:
        """Return the destinations to which a neighbour is known to be on a path as short as the route."""
        return ()

    def suspects(self, neighbour: NodeId) -> bool:
        """Return whether the link to a neighbour has just failed, so that other routes are preferable."""
        return False

    @abstractmethod
    def neighbours(self) -> Collection[NodeId]:
        """Return the neighbours that were received recently and have not been lost since."""

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        return {}

    # For implementations.

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> None:
        """Report the failure of a router's message to the router, which handles it, or drop it.

        The drop records the destination, since copies for several nodes can fail on the same path.
        """
        if not self.user.fail(message, origin, destination, reason):
            self.host.drop(message, reason, destination)
