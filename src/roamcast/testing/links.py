"""Links of a mesh: how they behave as a rule, and rules that make them worse.

Each message passes every rule for each of its receivers. A rule ends with its block:

    with mesh.fault(lose(Ack, to=0)):
        mesh.run(for_=3)
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import NamedTuple, TypeAlias

import msgspec

from roamcast.routing.router import Category, Message, NodeId
from roamcast.wire.message import unwrap

Sort: TypeAlias = type[Message] | Category
"Messages of a type, or of a category."

Nodes: TypeAlias = NodeId | Collection[NodeId] | None
"One node, some, or (None) all."


class LinkModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """How links behave: perfect unless said otherwise."""

    delay: float = 0.002
    "Seconds from sender to receiver."
    jitter: float = 0.0
    "Up to this much more, at random: enough of it reorders messages."
    loss: float = 0.0
    "Share of broadcasts lost per receiver; of unicast attempts lost per try."
    duplicate: float = 0.0
    "Share of messages that arrive twice."
    tries: int = 4
    "Attempts of a unicast before the sender is told that the link failed."


class LinkTransmission(NamedTuple):
    """A message on its way to one node in range; without a message, the link's own acknowledgement."""

    message: Message | None
    sender: NodeId
    to: NodeId


class LinkRule:
    """What happens to messages on their way; this one does nothing."""

    def admits(self, message: Message, sender: NodeId, random: Random) -> bool:
        """Whether the link takes a message from its router at all."""
        return True

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        """After how long each copy arrives, given what it would be without this rule; none is a loss."""
        return delays


class MessageSelector(NamedTuple):
    """The messages that a rule is about."""

    sorts: tuple[Sort, ...]
    senders: Nodes
    receivers: Nodes
    share: float

    def concerns(self, crossing: LinkTransmission, random: Random) -> bool:
        """Whether the rule strikes this time."""
        return (
            _among(self.senders, crossing.sender)
            and _among(self.receivers, crossing.to)
            and (not self.sorts or _of_sorts(crossing.message, self.sorts))
            and (self.share >= 1 or random.random() < self.share)
        )


class _Lose(LinkRule):
    def __init__(self, which: MessageSelector) -> None:
        self._which = which

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        return [] if self._which.concerns(crossing, random) else delays


class _Duplicate(LinkRule):
    def __init__(self, which: MessageSelector, after: float) -> None:
        self._which = which
        self._after = after

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        if crossing.message is None or not self._which.concerns(crossing, random):
            return delays
        return [*delays, *(delay + self._after * random.random() for delay in delays)]


class _Delay(LinkRule):
    def __init__(self, which: MessageSelector, by: float, jitter: float) -> None:
        self._which = which
        self._by = by
        self._jitter = jitter

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        if crossing.message is None or not self._which.concerns(crossing, random):
            return delays
        return [delay + self._by + self._jitter * random.random() for delay in delays]


class _FullQueue(LinkRule):
    def __init__(self, which: MessageSelector) -> None:
        self._which = which

    def admits(self, message: Message, sender: NodeId, random: Random) -> bool:
        return not self._which.concerns(LinkTransmission(message, sender, sender), random)


class _Partition(LinkRule):
    def __init__(self, sides: tuple[Collection[NodeId], ...]) -> None:
        self._side = {node: side for side, nodes in enumerate(sides) for node in nodes}

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        apart = self._side.get(crossing.sender) != self._side.get(crossing.to)
        return [] if apart else delays


def lose(*sorts: Sort, from_: Nodes = None, to: Nodes = None, share: float = 1.0) -> LinkRule:
    """Lose messages of these types or categories (all, if none is named) on their way."""
    return _Lose(MessageSelector(sorts, from_, to, share))


def one_way(a: NodeId, b: NodeId) -> LinkRule:
    """Have `b` hear `a`, but not `a` hear `b`."""
    return lose(from_=b, to=a)


def duplicate(
    *sorts: Sort, from_: Nodes = None, to: Nodes = None, share: float = 1.0, after: float = 0.01
) -> LinkRule:
    """Have messages arrive twice, the second time up to `after` seconds later."""
    return _Duplicate(MessageSelector(sorts, from_, to, share), after)


def delay(
    *sorts: Sort,
    by: float = 0.0,
    jitter: float = 0.0,
    from_: Nodes = None,
    to: Nodes = None,
    share: float = 1.0,
) -> LinkRule:
    """Have messages arrive `by` and up to `jitter` seconds later: enough of that reorders them."""
    return _Delay(MessageSelector(sorts, from_, to, share), by, jitter)


def full_queue(node: Nodes = None, *sorts: Sort, share: float = 1.0) -> LinkRule:
    """Have no room for what a node sends: it never leaves, and the router is not told."""
    return _FullQueue(MessageSelector(sorts, node, None, share))


def partition(*sides: Collection[NodeId]) -> LinkRule:
    """Keep sides from hearing each other; nodes that are not named are a side of their own."""
    return _Partition(sides)


def _among(nodes: Nodes, node: NodeId) -> bool:
    return nodes is None or (node == nodes if isinstance(nodes, int) else node in nodes)


def _of_sorts(message: Message | None, sorts: tuple[Sort, ...]) -> bool:
    if message is None:
        return False
    types = tuple(sort for sort in sorts if isinstance(sort, type))
    return isinstance(message, types) or isinstance(unwrap(message), types) or message.category in sorts
