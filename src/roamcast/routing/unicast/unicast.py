"""The contract of unicast routing: a collaborator that carries messages over as many hops as it takes.

A router makes one for its host, says what is to happen when a message arrives or fails, hands it what it
hears of the kinds in `messages` and every failed link, and calls `send`. It sees only what is for itself:
whether a message is passed on, waits for a route or goes another way is decided here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId, Parameters
from roamcast.routing.state.seen import Seen
from roamcast.wire.fields import Hops, Node


class Datagram(Message, number=48):
    """A message on its way over several hops, for protocols that route hop by hop."""

    origin: Node
    destination: Node
    hops: Hops
    "How many more it may travel."
    payload: Message


class UnicastUser(Protocol):
    """What a router does for the unicast routing below it."""

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Take a message for this node, sent by `origin` and passed on last by the neighbour `sender`."""

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Hear that a message can be carried no further from here; true if the router takes care of it.

        Otherwise it is dropped with the reason. The node where it failed need not be the one that sent it.
        """

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """A neighbour to try where no route is known, if the router knows better; else None."""

    def add_age(self, message: Message, seconds: float) -> Message:
        """A message that has waited so long for a route, as it is to be sent: some tell their age."""


class Unicast(ABC):
    """One node's part in a unicast protocol."""

    parameters_type: ClassVar[type[Parameters]]
    messages: ClassVar[tuple[type[Message], ...]]
    "The kinds of message that it says and understands, envelopes included."
    promiscuous: bool = False
    "Whether it is to overhear unicast messages between others."

    def __init__(self, host: Host, parameters: Parameters, user: UnicastUser) -> None:
        self.host = host
        self.user = user
        self.handled: Seen | None = None
        "As `Router.handled`, for the router above: keys of flooded messages whose copies need no call."

    @abstractmethod
    def start(self) -> None:
        """Begin: called once, with the network already up."""

    @abstractmethod
    def send(self, message: Message, to: NodeId) -> None:
        """Carry `message` to the node `to`, or let the router know that it failed; now or later."""

    def send_across(self, message: Message, neighbour: NodeId) -> None:
        """Carry `message` to a neighbour that was heard a moment ago, if possible over that link."""
        self.send(message, neighbour)

    @abstractmethod
    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Handle a message of one of the kinds in `messages`."""

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:  # noqa: B027
        """Notice a message of one of the kinds in `messages` between two others."""

    @abstractmethod
    def link_failed(self, message: Any, to: NodeId) -> None:
        """Learn that the link gave up on a message to a neighbour, be it one of ours or the router's own."""

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """The neighbour that a message for `destination` would go to now; None while no route is known."""
        return None

    def detour(self, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """A neighbour, none of `avoid`, to try when the link to the next hop has failed; None: none known."""
        return None

    def leads(self, neighbour: NodeId, destination: NodeId) -> bool:
        """Return whether a neighbour is known to be on a way to `destination` as short as the route."""
        return False

    def suspects(self, neighbour: NodeId) -> bool:
        """Whether the link to a neighbour has just failed, so that other ways are better for a moment."""
        return False

    @abstractmethod
    def neighbours(self) -> Collection[NodeId]:
        """Who has been heard lately and not been lost since."""

    def tables(self) -> Mapping[str, Footprint]:
        """The size of each of its tables."""
        return {}

    # For implementations.

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> None:
        """Give up on a router's message: the router takes care of it, or it is dropped.

        Whom it was for is told: copies for several nodes end on one way.
        """
        if not self.user.fail(message, origin, destination, reason):
            self.host.drop(message, reason, destination)
