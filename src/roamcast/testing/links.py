"""The link model of a mesh, and rules that inject faults into links.

Every rule is applied to each message, for each of its receivers. A rule is valid within its block:

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
"A message type, or a category of messages."

Nodes: TypeAlias = NodeId | Collection[NodeId] | None
"One node, several nodes, or all (None)."


class LinkModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """The behaviour of all links; by default they are perfect."""

    delay: float = 0.002
    "Delay from sender to receiver [s]."
    jitter: float = 0.0
    "Maximum additional random delay [s]; messages may be reordered."
    loss: float = 0.0
    "Loss probability of a broadcast at each receiver, and of each attempt of a unicast."
    duplicate: float = 0.0
    "Probability that a message arrives twice."
    tries: int = 4
    "Attempts of a unicast before `link_failed` is called at the sender."


class LinkTransmission(NamedTuple):
    """A message in transit to one node in range; None as message is a link-layer acknowledgement."""

    message: Message | None
    sender: NodeId
    to: NodeId


class LinkRule:
    """A rule that links apply to messages; this base class changes nothing."""

    def admits(self, message: Message, sender: NodeId, random: Random) -> bool:
        """Return whether the link accepts a message from its router."""
        return True

    def carry(self, crossing: LinkTransmission, delays: list[float], random: Random) -> list[float]:
        """Return the delay of each copy [s], from the delays without this rule; an empty list is a loss."""
        return delays


class MessageSelector(NamedTuple):
    """Selects the messages to which a rule applies."""

    sorts: tuple[Sort, ...]
    senders: Nodes
    receivers: Nodes
    share: float

    def concerns(self, crossing: LinkTransmission, random: Random) -> bool:
        """Return whether the rule applies to this transmission; random if `share` is below 1."""
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
    """Return a rule that loses messages of these types or categories (none given: all)."""
    return _Lose(MessageSelector(sorts, from_, to, share))


def one_way(a: NodeId, b: NodeId) -> LinkRule:
    """Return a rule by which `b` receives from `a`, but `a` does not receive from `b`."""
    return lose(from_=b, to=a)


def duplicate(
    *sorts: Sort, from_: Nodes = None, to: Nodes = None, share: float = 1.0, after: float = 0.01
) -> LinkRule:
    """Return a rule by which messages arrive twice, the second copy up to `after` [s] later."""
    return _Duplicate(MessageSelector(sorts, from_, to, share), after)


def delay(
    *sorts: Sort,
    by: float = 0.0,
    jitter: float = 0.0,
    from_: Nodes = None,
    to: Nodes = None,
    share: float = 1.0,
) -> LinkRule:
    """Return a rule that delays messages by `by` plus up to `jitter` [s]; they may be reordered."""
    return _Delay(MessageSelector(sorts, from_, to, share), by, jitter)


def full_queue(node: Nodes = None, *sorts: Sort, share: float = 1.0) -> LinkRule:
    """Return a rule by which the queue of a node discards its messages; the router is not notified."""
    return _FullQueue(MessageSelector(sorts, node, None, share))


def partition(*sides: Collection[NodeId]) -> LinkRule:
    """Return a rule that separates the sides; all nodes that are not named form one more side."""
    return _Partition(sides)


def _among(nodes: Nodes, node: NodeId) -> bool:
    return nodes is None or (node == nodes if isinstance(nodes, int) else node in nodes)


def _of_sorts(message: Message | None, sorts: tuple[Sort, ...]) -> bool:
    if message is None:
        return False
    types = tuple(sort for sort in sorts if isinstance(sort, type))
    return isinstance(message, types) or isinstance(unwrap(message), types) or message.category in sorts
