"""The links between the nodes of a mesh, and the transmission of messages over them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from roamcast.content.schema import EventType
from roamcast.routing.router import Message, NodeId
from roamcast.testing.links import LinkModel, LinkRule, LinkTransmission
from roamcast.wire.codec import MessageCodec, encode


class MeshLinks:
    """The links of a mesh."""

    def __init__(self, model: LinkModel, kinds: Iterable[type[Message]], seed: int) -> None:
        self.model = model
        self.rules: list[LinkRule] = []
        self.words = MessageCodec(set(kinds))
        self._joined: set[frozenset[NodeId]] = set()
        self._random = Random(f"{seed}/links")
        self._chance = Random(f"{seed}/rules")

    def join(self, a: NodeId, b: NodeId) -> None:
        """Add a link between two nodes."""
        if a != b:
            self._joined.add(frozenset((a, b)))

    def cut(self, a: NodeId, b: NodeId) -> None:
        """Remove the link between two nodes."""
        self._joined.discard(frozenset((a, b)))

    def joins(self, a: NodeId, b: NodeId) -> bool:
        """Return whether there is a link between two nodes."""
        return frozenset((a, b)) in self._joined

    def add_event_type(self, type: EventType) -> None:
        """Register an event type for decoding."""
        self.words.types[type.name] = type

    def admits(self, message: Message, node: NodeId) -> bool:
        """Return whether the link of `node` accepts a message from its router."""
        return all(rule.admits(message, node, self._chance) for rule in self.rules)

    def cross(self, message: Message, node: NodeId, to: NodeId) -> list[float]:
        """Return the delay of each copy of a message to a neighbour [s]; empty if it is lost."""
        if self._misses():
            return []
        twice = self.model.duplicate and self._random.random() < self.model.duplicate
        return self._pass(
            LinkTransmission(message, node, to), [self._flight() for _ in range(2 if twice else 1)]
        )

    def overhear(self, message: Message, node: NodeId, other: NodeId) -> list[float]:
        """Return the delay of a message to a node that overhears it [s]; empty if it is lost."""
        if self._misses():
            return []
        return self._pass(LinkTransmission(message, node, other), [self._flight()])

    def acknowledges(self, node: NodeId, to: NodeId) -> bool:
        """Return whether the link-layer acknowledgement from `node` reaches the sender `to`."""
        return bool(self._pass(LinkTransmission(None, node, to), [0.0]))

    def as_bytes(self, message: Message) -> Message:
        """Encode and decode a message; raise AssertionError if its size or its content differs."""
        data = encode(message)
        if len(data) != message.size:
            raise AssertionError(f"{message!r} has {len(data)} bytes, but its size is {message.size}")
        read = self.words.decode(data)
        if read != message:
            raise AssertionError(f"{message!r} is decoded from its bytes as {read!r}")
        return read

    def _pass(self, crossing: LinkTransmission, delays: list[float]) -> list[float]:
        for rule in self.rules:
            delays = rule.carry(crossing, delays, self._chance) if delays else delays
        return delays

    def _flight(self) -> float:
        model = self.model
        return model.delay + (model.jitter * self._random.random() if model.jitter else 0.0)

    def _misses(self) -> bool:
        return self.model.loss > 0 and self._random.random() < self.model.loss
