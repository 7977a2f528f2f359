"""A history as plain data: nodes, links, what applications do and what goes wrong, moment by moment.

Everything that happens follows from it: played again, it gives the same record. It is written as JSON, so
that a history which broke a law can be kept as a test.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.faults import FaultKind
from roamcast.routing.router import NodeId
from roamcast.testing.host import Clock
from roamcast.testing.links import LinkModel

Note = EventType("note", {"zone": Integer()})
"What is published in every history."

ZONES = 5
"Events are of the zones 0 to 4."

Zones: TypeAlias = tuple[int, int]
"An offer or a wish: the first zone and the last."


def pattern(zones: Zones) -> Filter:
    """The filter of some zones."""
    return (Note.zone >= zones[0]) & (Note.zone <= zones[1])


class StepBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="step", omit_defaults=True):
    """Something that happens."""

    at: float


class AdvertiseStep(StepBase, frozen=True, tag="advertise"):
    """An application says what it will publish."""

    node: NodeId
    zones: Zones


class SubscribeStep(StepBase, frozen=True, tag="subscribe"):
    """An application begins to want something."""

    node: NodeId
    zones: Zones


class UnsubscribeStep(StepBase, frozen=True, tag="unsubscribe"):
    """It wants it no longer."""

    node: NodeId
    zones: Zones


class RequestStep(StepBase, frozen=True, tag="request"):
    """An application asks for one event."""

    node: NodeId
    zones: Zones


class PublishStep(StepBase, frozen=True, tag="publish"):
    """An application publishes an event, if its node is awake."""

    node: NodeId
    zone: int
    size: int = 512


class MoveStep(StepBase, frozen=True, tag="place"):
    """A node is put somewhere, and moves from there."""

    node: NodeId
    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0


class LinkUpStep(StepBase, frozen=True, tag="join"):
    """Two nodes come into range of each other."""

    a: NodeId
    b: NodeId


class LinkDownStep(StepBase, frozen=True, tag="part"):
    """They get out of range."""

    a: NodeId
    b: NodeId


class FaultStep(StepBase, frozen=True, tag="befall"):
    """Something befalls a node; one whose first is to arrive is not there until then."""

    node: NodeId
    kind: FaultKind


class LinkRuleStep(StepBase, frozen=True, tag="disturb"):
    """Links follow another rule for a while."""

    until: float
    rule: Literal["lose", "duplicate", "delay", "full_queue", "partition"]
    kinds: tuple[int, ...] = ()
    "Of the messages concerned; none named: all."
    senders: tuple[NodeId, ...] | None = None
    "None: all. For a partition, one of its sides."
    receivers: tuple[NodeId, ...] | None = None
    share: float = 1.0
    seconds: float = 0.0
    "Of delay, or until the second copy, at most."


class ForgeStep(StepBase, frozen=True, tag="forge"):
    """A stranger says something to a node, in someone's name."""

    to: NodeId
    sender: NodeId
    data: str
    "The bytes of the message, in hexadecimal digits."
    about: int = -1
    "The publication that it speaks of."


class Replay(StepBase, frozen=True, tag="replay"):
    """A node hears a frame that was sent before, with one number changed."""

    to: NodeId
    choice: int
    "Decides which frame, which number and what it becomes: all of that depends on what was sent."


Step: TypeAlias = (
    AdvertiseStep
    | SubscribeStep
    | UnsubscribeStep
    | RequestStep
    | PublishStep
    | MoveStep
    | LinkUpStep
    | LinkDownStep
    | FaultStep
    | LinkRuleStep
    | ForgeStep
    | Replay
)


class History(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that will happen."""

    seed: int
    "Of the chance that links and routers have."
    protocol: str
    parameters: dict[str, Any] = {}
    "What differs from the defaults."
    cramped: bool = False
    "Whether a bound was drawn below its default: tables may be too small and ways too long for a promise."
    as_bytes: bool = True
    nodes: int
    edges: tuple[tuple[NodeId, NodeId], ...]
    "Who hears whom at first."
    healed: tuple[tuple[NodeId, NodeId], ...]
    "Who hears whom when the faults have ended: a connected graph."
    links: LinkModel = LinkModel()
    clocks: tuple[Clock, ...] = ()
    "Of each node; where there is none, true clocks."
    end: float
    "When the faults end."
    steps: tuple[Step, ...]
    "In order of time."
    later: tuple[LinkRuleStep, ...] = ()
    """Mild faults after the network was healed, had settled and was probed; their times count from then. The
    same events are published once more while they last."""

    @property
    def hostile(self) -> bool:
        """Whether there are forged frames."""
        return any(isinstance(step, ForgeStep | Replay) for step in self.steps)


def write(history: History) -> str:
    """A history as JSON."""
    return msgspec.json.encode(history).decode()


def read(text: str | bytes) -> History:
    """The history that `write` wrote."""
    return msgspec.json.decode(text, type=History)
