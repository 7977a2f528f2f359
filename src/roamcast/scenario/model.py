"""A scenario: one world, its people and what they say, as frozen models in SI units."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from roamcast.scenario.faults import FaultSettings
from roamcast.scenario.section import Count, NotNegative, Positive, ScenarioSection
from roamcast.scenario.workload import Workload
from roamcast.units import (
    BitsPerSecond,
    ByteCount,
    Decibels,
    Hertz,
    Meters,
    MetersPerSecond,
    Seconds,
    Watts,
)

if TYPE_CHECKING:
    from roamcast.routing.router import Parameters
    from roamcast.scenario.content import ScenarioContent
    from roamcast.scenario.traces.movement import Legs


EVERYONE = "*"
"The group of all nodes, in a workload."


class Area(ScenarioSection):
    """The plane in which everything happens, with its origin in the south-west corner."""

    width: Annotated[Meters, Positive]
    height: Annotated[Meters, Positive]

    def contains(self, x: float, y: float) -> bool:
        """Whether a point lies in the area or on its edge."""
        return 0 <= x <= self.width and 0 <= y <= self.height


class Rectangle(ScenarioSection):
    """A part of the area, given by its south-west corner and its size."""

    x: Annotated[Meters, NotNegative]
    y: Annotated[Meters, NotNegative]
    width: Annotated[Meters, Positive]
    height: Annotated[Meters, Positive]


class Point(NamedTuple):
    """A place in the area."""

    x: Annotated[Meters, NotNegative]
    y: Annotated[Meters, NotNegative]


class Hubs(ScenarioSection):
    """Squares in which people gather; they do not overlap."""

    count: Count
    side: Annotated[Meters, Positive]
    at: list[Point] | None = None
    "Their south-west corners; drawn by the seed if absent."


class SpeedRange(NamedTuple):
    """The slowest and the fastest that a node walks."""

    min: Annotated[MetersPerSecond, NotNegative]
    max: Annotated[MetersPerSecond, NotNegative]


def _steady(given: Any) -> Any:
    return (given, given) if isinstance(given, str) else given


class NodeGroup(ScenarioSection):
    """Nodes that behave alike."""

    count: Count
    mobility: Literal["static", "waypoint", "file"] = "static"
    "Whether they stand still, walk a random waypoint, or follow the scenario's movement file."
    speed: Annotated[SpeedRange | None, BeforeValidator(_steady)] = None
    "Each leg's speed is drawn between these; a single speed is both. Needed by walkers."
    draw: Literal["uniform", "fastest"] = "uniform"
    "Whether each leg's speed is drawn anew, or always the fastest."
    pause: Annotated[Seconds, NotNegative] = 0.0
    "How long walkers rest at each waypoint."
    start: Literal["stationary", "rest"] = "stationary"
    "Whether walkers are met in full swing (the stationary distribution) or all begin with a rest."
    home: Rectangle | Literal["hubs"] | None = None
    "Where they walk or stand, if not in the whole area; `hubs` deals them out to the hubs, in order."
    at: list[Point] | None = None
    "Where static nodes stand, one place each; drawn at random if absent."

    @model_validator(mode="after")
    def _check_consistency(self) -> NodeGroup:
        if self.mobility == "waypoint":
            if self.speed is None:
                raise ValueError('walkers need a speed, as in speed = { min = "0.5 m/s", max = "1 m/s" }')
            if not self.speed.max > 0 or self.speed.min > self.speed.max:
                raise ValueError("speed.max must be above zero and not below speed.min")
            if self.start == "stationary" and self.speed.min == 0 and self.draw == "uniform":
                raise ValueError(
                    "a random waypoint with speed.min = 0 slows down for ever and has no stationary state; "
                    'give it a slowest speed or start = "rest"'
                )
        if self.at is not None:
            if self.mobility != "static":
                raise ValueError("only static nodes have places in 'at'")
            if len(self.at) != self.count:
                raise ValueError(f"'at' gives {len(self.at)} places for {self.count} nodes")
        return self


class MovementFile(ScenarioSection):
    """Movement recorded elsewhere, instead of generated."""

    ns2: Path
    "An ns-2 movement file; relative to the scenario's file."


class ConnectivityRequirement(ScenarioSection):
    """Movements in which nobody is cut off for long: others are drawn again."""

    to: str
    "The group to one of whose nodes everyone needs a path."
    longest: Annotated[Seconds, NotNegative]
    "For how long a node may be without one."


FARTHEST = 1e6
"Metres that a signal is followed: the kernel counts its way in picoseconds, and has 32 bits for them."


class Radio(ScenarioSection):
    """The radio, with the defaults of ns-2 (a WaveLAN card of 914 MHz)."""

    range: Annotated[Meters, Positive] = 250.0
    "A frame is understood up to here, if nothing else is on the air."
    carrier_sense: Annotated[Meters, Positive] = 550.0
    "A frame is noticed, and disturbs others, up to here."
    capture: Annotated[Decibels, NotNegative] = 10.0
    "A frame survives a later one that is weaker by this much."
    frequency: Annotated[Hertz, Positive] = 914e6
    power: Annotated[Watts, Positive] = 0.28183815
    antenna_height: Annotated[Meters, Positive] = 1.5
    propagation: Literal["two-ray", "friis"] = "two-ray"

    @model_validator(mode="after")
    def _check_consistency(self) -> Radio:
        if self.carrier_sense < self.range:
            raise ValueError("carrier_sense must not be shorter than range")
        if self.carrier_sense > FARTHEST:
            raise ValueError(f"carrier_sense must not be longer than {FARTHEST / 1000:g} km")
        return self


class Mac(ScenarioSection):
    """The 802.11 DCF and the queue above it, with the constants of the usual ns-2 studies."""

    rate: Annotated[BitsPerSecond, Positive] = 2e6
    "Of unicast data frames."
    basic_rate: Annotated[BitsPerSecond, Positive] = 1e6
    "Of broadcasts, RTS, CTS and ACK."
    slot: Annotated[Seconds, Positive] = 20e-6
    sifs: Annotated[Seconds, Positive] = 10e-6
    difs: Annotated[Seconds, Positive] = 50e-6
    cw_min: Count = 31
    cw_max: Count = 1023
    short_retry: Count = 7
    "Attempts of an RTS, or of a data frame sent without one."
    long_retry: Count = 4
    "Attempts of a data frame sent after an RTS."
    rts_threshold: Annotated[ByteCount, NotNegative] = 0
    "Unicast frames of at least this size are announced by an RTS; headers (58 B below the network) count."
    queue: Count = 50
    "Messages that the link holds, the one being sent included; what comes on top is dropped."
    max_message: Annotated[ByteCount, Positive] = 65_535
    """Largest message that the link takes, without the headers below the router. Larger events are refused,
    larger messages of routers dropped (`too_large`). Each is one frame; one of 802.11 carries 2,304 B."""
    network_header: Annotated[ByteCount, NotNegative] = 20
    "Bytes added to each message below the router."
    link_delay: Annotated[Seconds, NotNegative] = 25e-6
    "From the router to the queue."
    priority: tuple[Literal["event", "subscription", "routing", "control"], ...] = ("routing",)
    "Categories of messages that go to the head of the queue."
    newest_first: Annotated[bool, Field(strict=True)] = False
    "Whether the latest of the `priority` messages goes first, as in ns-2, or the earliest."
    queue_per_class: Annotated[bool, Field(strict=True)] = False
    "Whether `priority` messages and the others have a queue each, which drops newcomers: ns-2's CMUPriQueue."
    arp: Annotated[bool, Field(strict=True)] = False
    "Whether addresses of neighbours are asked for, as in ns-2: a query, a reply, one message kept meanwhile."

    @model_validator(mode="after")
    def _check_consistency(self) -> Mac:
        if self.cw_max < self.cw_min:
            raise ValueError("cw_max must not be below cw_min")
        return self


class Scenario(ScenarioSection):
    """One world per file: where, who, how they move, what they hear and what they say."""

    name: Annotated[str, Field(min_length=1)]
    area: Area
    duration: Annotated[Seconds, Positive]
    warmup: Annotated[Seconds, NotNegative] = 0.0
    "Metrics leave out what was published before this."
    quiet: Annotated[Seconds, NotNegative] = 0.0
    """Nothing is published this long before the end, so that what is merely late is not read as lost; where
    all that is wanted is asked for, nothing is asked, and publishing goes on."""
    location: Annotated[bool, Field(strict=True)] = False
    "Whether nodes know where they are."
    sample: Annotated[Seconds, Positive] = 60.0
    "Between two looks at the sizes of everyone's tables, for the facts."
    groups: Annotated[dict[str, NodeGroup], Field(alias="nodes", min_length=1)]
    "Nodes by group; they are numbered from 0, group after group."
    hubs: Hubs | None = None
    "Where people gather."
    mobility: MovementFile | None = None
    'Recorded movement for the groups with `mobility = "file"`; for all nodes if there is no such group.'
    connected: ConnectivityRequirement | None = None
    "Take only generated movements without long partitions; any if absent."
    radio: Radio = Radio()
    mac: Mac = Mac()
    workload: Workload = Workload()
    faults: dict[str, FaultSettings] = Field(default_factory=dict)
    "What befalls nodes, under names of your choice."
    protocols: Annotated[dict[str, dict[str, Any]], Field(alias="protocol", default_factory=dict)]
    "Parameters of protocols that differ from their defaults, by protocol."

    @model_validator(mode="after")
    def _check_consistency(self, info: ValidationInfo) -> Scenario:
        from roamcast.scenario.consistency import inconsistencies

        for key, problem in inconsistencies(self, info.context):
            raise PydanticCustomError("disagreement", "{problem}", {"key": key, "problem": problem})
        return self

    @cached_property
    def content(self) -> ScenarioContent:
        """Event types, zones, filters and scheduled events, read once and checked."""
        from roamcast.scenario.content import ScenarioContent

        return ScenarioContent(self)

    @cached_property
    def recorded_legs(self) -> Legs | None:
        """The movement file's legs, by the file's own numbers, read once; None where there is no file."""
        from roamcast.scenario.traces.movement import read_ns2

        if self.mobility is None:
            return None
        owner = "the scenario has" if len(self.followers) == self.count else "the groups that follow it have"
        return read_ns2(self.mobility.ns2, len(self.followers), self.area, owner)

    @property
    def followers(self) -> list[int]:
        """The nodes that follow the movement file, in order: the first is the file's node 0."""
        if self.mobility is None:
            return []
        chosen = {name for name, group in self.groups.items() if group.mobility == "file"} or set(self.groups)
        return [node for name, nodes in self.members() if name in chosen for node in nodes]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some parts replaced; what was read for the original is read anew."""
        copy = super().model_copy(update=update, deep=deep)
        for derived in ("content", "recorded_legs"):
            copy.__dict__.pop(derived, None)
        return copy

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return sum(group.count for group in self.groups.values())

    def members(self) -> Iterator[tuple[str, range]]:
        """Each group's name and its nodes' ids."""
        first = 0
        for name, group in self.groups.items():
            yield name, range(first, first + group.count)
            first += group.count

    def nodes_of(self, group: str) -> range:
        """The ids of a group's nodes; of all nodes, for `*`."""
        return range(self.count) if group == EVERYONE else dict(self.members())[group]

    @classmethod
    def read(cls, file: str | Path, settings: Iterable[str] | Mapping[str, Any] = ()) -> Scenario:
        """Return the scenario in a file, or a shipped one by name, with `settings` changed."""
        from roamcast.scenario.read import load
        from roamcast.scenario.shipped import locate

        return load(locate(str(file)), settings)

    def parameters(self, protocol: str) -> Parameters:
        """The parameters of `protocol` in this scenario."""
        from roamcast.routing.catalogue import find
        from roamcast.routing.profiles import with_profile

        router = find(protocol)
        return router.parameters_type.model_validate(with_profile(router, self.protocols.get(protocol, {})))

    def fingerprint(self) -> str:
        """A digest of all that decides a run besides protocol and seed: the same on every machine."""
        from roamcast.scenario.resolved import fingerprint

        return hashlib.sha256(json.dumps(fingerprint(self), sort_keys=True).encode()).hexdigest()
