"""What a mesh takes down for a story to check."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.routing.router import BROADCAST, Drop, Message, NodeId, Publication


class SentMessage(NamedTuple):
    """A message that a node gave to its links."""

    time: float
    node: NodeId
    message: Message
    to: NodeId


class LostMessage(NamedTuple):
    """A message that someone in range was to hear, or (-1) that never left, and a rule or a loss took it."""

    time: float
    node: NodeId
    message: Message
    to: NodeId


class DroppedMessage(NamedTuple):
    """A message that a router let go, with its reason."""

    time: float
    node: NodeId
    message: Message | bytes
    "Bytes, where they are no message."
    reason: Drop
    to: NodeId = BROADCAST
    "Whom it was for, where that is one node."


class DeliveredEvent(NamedTuple):
    """An event that reached an application."""

    time: float
    node: NodeId
    publication: Publication


class ReportedState(NamedTuple):
    """Something that a router said of itself."""

    time: float
    node: NodeId
    name: str
    value: float
