"""What lies between the nodes of a mesh: who is in range of whom, and how messages get across."""

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
        """Bring two nodes into range of each other."""
        if a != b:
            self._joined.add(frozenset((a, b)))

    def cut(self, a: NodeId, b: NodeId) -> None:
        """Take two nodes out of each other's range."""
        self._joined.discard(frozenset((a, b)))

    def joins(self, a: NodeId, b: NodeId) -> bool:
        """Whether two nodes are in range of each other."""
        return frozenset((a, b)) in self._joined

    def add_event_type(self, type: EventType) -> None:
        """Have a type of events that bytes may be of."""
        self.words.types[type.name] = type

    def admits(self, message: Message, node: NodeId) -> bool:
        """Whether the link of `node` takes a message from its router."""
        return all(rule.admits(message, node, self._chance) for rule in self.rules)

    def cross(self, message: Message, node: NodeId, to: NodeId) -> list[float]:
        """After how long each copy of a message gets to a neighbour; none if it is lost."""
        if self._misses():
            return []
        twice = self.model.duplicate and self._random.random() < self.model.duplicate
        return self._pass(
            LinkTransmission(message, node, to), [self._flight() for _ in range(2 if twice else 1)]
        )

    def overhear(self, message: Message, node: NodeId, other: NodeId) -> list[float]:
        """The same for someone who overhears it."""
        if self._misses():
            return []
        return self._pass(LinkTransmission(message, node, other), [self._flight()])

    def acknowledges(self, node: NodeId, to: NodeId) -> bool:
        """Whether the link's own acknowledgement gets from `node` back to the sender `to`."""
        return bool(self._pass(LinkTransmission(None, node, to), [0.0]))

    def as_bytes(self, message: Message) -> Message:
        """Return a message as it is read from its bytes: the same, and as many bytes as it says."""
        data = encode(message)
        if len(data) != message.size:
            raise AssertionError(f"{message!r} has {len(data)} bytes and says {message.size}")
        read = self.words.decode(data)
        if read != message:
            raise AssertionError(f"{message!r} is read from its bytes as {read!r}")
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
