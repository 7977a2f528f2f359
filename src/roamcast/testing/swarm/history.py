"""A history as plain data: nodes, links, and the timed steps of applications and faults.

A history determines everything: running it again gives the same record. It is stored as JSON, so that a
history that broke a law can be kept as a test.
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
"The event type of all events in histories."

ZONES = 5
"Number of zones; an event has a zone from 0 to 4."

Zones: TypeAlias = tuple[int, int]
"The first and the last zone of an advertisement or a subscription."


def pattern(zones: Zones) -> Filter:
    """Return the filter that matches a range of zones."""
    return (Note.zone >= zones[0]) & (Note.zone <= zones[1])


class StepBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="step", omit_defaults=True):
    """The base class of steps; `at` is the time of the step [s]."""

    at: float


class AdvertiseStep(StepBase, frozen=True, tag="advertise"):
    """An application advertises the zones in which it will publish."""

    node: NodeId
    zones: Zones


class SubscribeStep(StepBase, frozen=True, tag="subscribe"):
    """An application subscribes to a range of zones."""

    node: NodeId
    zones: Zones


class UnsubscribeStep(StepBase, frozen=True, tag="unsubscribe"):
    """An application withdraws a subscription."""

    node: NodeId
    zones: Zones


class RequestStep(StepBase, frozen=True, tag="request"):
    """An application requests one event of a range of zones."""

    node: NodeId
    zones: Zones


class PublishStep(StepBase, frozen=True, tag="publish"):
    """An application publishes an event, if its node is awake."""

    node: NodeId
    zone: int
    size: int = 512


class MoveStep(StepBase, frozen=True, tag="place"):
    """A node gets a position [m] and a velocity [m/s]."""

    node: NodeId
    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0


class LinkUpStep(StepBase, frozen=True, tag="join"):
    """A link between two nodes is added."""

    a: NodeId
    b: NodeId


class LinkDownStep(StepBase, frozen=True, tag="part"):
    """The link between two nodes is removed."""

    a: NodeId
    b: NodeId


class FaultStep(StepBase, frozen=True, tag="befall"):
    """A fault at a node; a node whose first fault is ARRIVE is absent until then."""

    node: NodeId
    kind: FaultKind


class LinkRuleStep(StepBase, frozen=True, tag="disturb"):
    """Links apply a rule until a given time."""

    until: float
    rule: Literal["lose", "duplicate", "delay", "full_queue", "partition"]
    kinds: tuple[int, ...] = ()
    "Numbers of the message kinds concerned; empty: all."
    senders: tuple[NodeId, ...] | None = None
    "The senders concerned; None: all. For a partition: the nodes of one side."
    receivers: tuple[NodeId, ...] | None = None
    share: float = 1.0
    seconds: float = 0.0
    "Maximum delay, or maximum time until the second copy [s]."


class ForgeStep(StepBase, frozen=True, tag="forge"):
    """A node receives a forged message in the name of `sender`."""

    to: NodeId
    sender: NodeId
    data: str
    "The bytes of the message, in hexadecimal digits."
    about: int = -1
    "The id of the publication that the message names; -1 if none."


class Replay(StepBase, frozen=True, tag="replay"):
    """A node receives a copy of an earlier frame with one number changed."""

    to: NodeId
    choice: int
    "Seed of the choice of the frame, the number and its new value, which depend on the frames sent."


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
    """The complete input of one test run."""

    seed: int
    "Seed of the random numbers of links and routers."
    protocol: str
    parameters: dict[str, Any] = {}
    "The parameters that differ from the defaults."
    cramped: bool = False
    "Whether a limit is below its default, so that tables or hop limits may be too small for a guarantee."
    as_bytes: bool = True
    nodes: int
    edges: tuple[tuple[NodeId, NodeId], ...]
    "The links at the start."
    healed: tuple[tuple[NodeId, NodeId], ...]
    "The links after the faults have ended; a connected graph."
    links: LinkModel = LinkModel()
    clocks: tuple[Clock, ...] = ()
    "The clock of each node; empty: exact clocks."
    end: float
    "The time at which the faults end [s]."
    steps: tuple[Step, ...]
    "The steps in order of time."
    later: tuple[LinkRuleStep, ...] = ()
    """Mild faults after the network was healed, had settled and was probed; their times are relative to that.
    The probe events are published once more during these faults."""

    @property
    def hostile(self) -> bool:
        """Return whether the history has forged frames."""
        return any(isinstance(step, ForgeStep | Replay) for step in self.steps)


def write(history: History) -> str:
    """Return a history as JSON."""
    return msgspec.json.encode(history).decode()


def read(text: str | bytes) -> History:
    """Return the history that `write` encoded."""
    return msgspec.json.decode(text, type=History)
