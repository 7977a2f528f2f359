"""The records that a mesh keeps for tests."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.routing.router import BROADCAST, Drop, Message, NodeId, Publication


class SentMessage(NamedTuple):
    """A message that a router sent."""

    time: float
    node: NodeId
    message: Message
    to: NodeId


class LostMessage(NamedTuple):
    """A message that was lost on the way to a node in range, or (-1) that never left the sender."""

    time: float
    node: NodeId
    message: Message
    to: NodeId


class DroppedMessage(NamedTuple):
    """A message that a router dropped, with the reason."""

    time: float
    node: NodeId
    message: Message | bytes
    "The raw bytes, if they could not be decoded."
    reason: Drop
    to: NodeId = BROADCAST
    "The addressee, if it is a single node."


class DeliveredEvent(NamedTuple):
    """An event that was delivered to an application."""

    time: float
    node: NodeId
    publication: Publication


class ReportedState(NamedTuple):
    """A state that a router reported."""

    time: float
    node: NodeId
    name: str
    value: float
