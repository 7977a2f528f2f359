"""The scenario model: area, nodes, movement, radio and MAC as immutable sections in SI units."""

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
from roamcast.scenario.radio.settings import Radio
from roamcast.scenario.section import Count, NotNegative, Positive, ScenarioSection
from roamcast.scenario.workload import Workload
from roamcast.units import (
    BitsPerSecond,
    ByteCount,
    Meters,
    MetersPerSecond,
    Seconds,
)

if TYPE_CHECKING:
    from roamcast.routing.router import Parameters
    from roamcast.scenario.content import ScenarioContent
    from roamcast.scenario.traces.movement import Legs


EVERYONE = "*"
"The name that stands for all nodes in a workload."


class Area(ScenarioSection):
    """The simulated rectangle; its origin is the south-west corner."""

    width: Annotated[Meters, Positive]
    height: Annotated[Meters, Positive]

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies in the area or on its edge."""
        return 0 <= x <= self.width and 0 <= y <= self.height


class Rectangle(ScenarioSection):
    """A rectangle within the area, given by its south-west corner and its size."""

    x: Annotated[Meters, NotNegative]
    y: Annotated[Meters, NotNegative]
    width: Annotated[Meters, Positive]
    height: Annotated[Meters, Positive]


class Point(NamedTuple):
    """A position in the area."""

    x: Annotated[Meters, NotNegative]
    y: Annotated[Meters, NotNegative]


class Hubs(ScenarioSection):
    """Squares in which nodes gather; they do not overlap."""

    count: Count
    side: Annotated[Meters, Positive]
    at: list[Point] | None = None
    "South-west corners of the hubs; placed at random (by the seed) if absent."


class SpeedRange(NamedTuple):
    """The minimum and the maximum speed of a node."""

    min: Annotated[MetersPerSecond, NotNegative]
    max: Annotated[MetersPerSecond, NotNegative]


def _steady(given: Any) -> Any:
    return (given, given) if isinstance(given, str) else given


class NodeGroup(ScenarioSection):
    """A group of nodes with the same settings."""

    count: Count
    mobility: Literal["static", "waypoint", "file"] = "static"
    "Movement model: none, random waypoint, or the scenario's movement file."
    speed: Annotated[SpeedRange | None, BeforeValidator(_steady)] = None
    'Range of the speed of each leg; a single speed is minimum and maximum. Required by `"waypoint"`.'
    draw: Literal["uniform", "fastest"] = "uniform"
    "Speed of each leg: uniformly distributed over the range, or always the maximum."
    pause: Annotated[Seconds, NotNegative] = 0.0
    "Pause at each waypoint."
    start: Literal["stationary", "rest"] = "stationary"
    "Initial state of random waypoint: the stationary distribution, or a pause at a uniform position."
    home: Rectangle | Literal["hubs"] | None = None
    "Region of the nodes; the whole area if absent. `hubs` divides the nodes evenly among the hubs."
    at: list[Point] | None = None
    "Positions of static nodes, one per node; random if absent."

    @model_validator(mode="after")
    def _check_consistency(self) -> NodeGroup:
        if self.mobility == "waypoint":
            if self.speed is None:
                raise ValueError(
                    'mobility = "waypoint" needs a speed: speed = { min = "0.5 m/s", max = "1 m/s" }'
                )
            if not self.speed.max > 0 or self.speed.min > self.speed.max:
                raise ValueError("speed.max must be above zero and not below speed.min")
            if self.start == "stationary" and self.speed.min == 0 and self.draw == "uniform":
                raise ValueError(
                    "random waypoint with speed.min = 0 has no stationary distribution; "
                    'set speed.min above zero, or start = "rest"'
                )
        if self.at is not None:
            if self.mobility != "static":
                raise ValueError("'at' is only valid for mobility = \"static\"")
            if len(self.at) != self.count:
                raise ValueError(
                    f"'at' has {len(self.at)} positions for {self.count} nodes; expected one per node"
                )
        return self


class MovementFile(ScenarioSection):
    """A file of recorded movement."""

    ns2: Path
    "An ns-2 movement file; the path is relative to the scenario file."


class ConnectivityRequirement(ScenarioSection):
    """A limit on partitions: generated movement that exceeds it is discarded and generated again."""

    to: str
    "Every node needs a path to at least one node of this group."
    longest: Annotated[Seconds, NotNegative]
    "Maximum time for which a node may have no such path."


class Mac(ScenarioSection):
    """The 802.11 DCF and its interface queue; the defaults are those of common ns-2 studies."""

    rate: Annotated[BitsPerSecond, Positive] = 2e6
    "Bit rate of unicast data frames."
    basic_rate: Annotated[BitsPerSecond, Positive] = 1e6
    "Bit rate of broadcast, RTS, CTS and ACK frames."
    slot: Annotated[Seconds, Positive] = 20e-6
    sifs: Annotated[Seconds, Positive] = 10e-6
    difs: Annotated[Seconds, Positive] = 50e-6
    cw_min: Count = 31
    cw_max: Count = 1023
    short_retry: Count = 7
    "Maximum attempts of an RTS, or of a data frame sent without RTS."
    long_retry: Count = 4
    "Maximum attempts of a data frame sent after an RTS."
    rts_threshold: Annotated[ByteCount, NotNegative] = 0
    "Minimum size of a unicast frame that is preceded by an RTS, including 58 B of link and radio headers."
    queue: Count = 50
    "Queue capacity in messages, including the one in transmission. A full queue drops a message."
    max_message: Annotated[ByteCount, Positive] = 65_535
    """Maximum size of a message, without the headers below the router. Larger events are rejected; larger
    messages of routers are dropped (`too_large`). A message is one frame; an 802.11 frame carries 2,304 B."""
    network_header: Annotated[ByteCount, NotNegative] = 20
    "Size of the network header that is added to each message."
    link_delay: Annotated[Seconds, NotNegative] = 25e-6
    "Delay between the router and the queue."
    priority: tuple[Literal["event", "subscription", "routing", "control"], ...] = ("routing",)
    "Message categories that are placed at the head of the queue."
    newest_first: Annotated[bool, Field(strict=True)] = False
    "Order of the `priority` messages: last in, first out, as in ns-2; otherwise first in, first out."
    queue_per_class: Annotated[bool, Field(strict=True)] = False
    "Use separate queues for `priority` messages and others; a full one drops arrivals (ns-2's CMUPriQueue)."
    arp: Annotated[bool, Field(strict=True)] = False
    "Resolve neighbours' addresses by ARP, as in ns-2: query and reply, with one message buffered meanwhile."

    @model_validator(mode="after")
    def _check_consistency(self) -> Mac:
        if self.cw_max < self.cw_min:
            raise ValueError("cw_max must not be below cw_min")
        return self


class Scenario(ScenarioSection):
    """A scenario: area, nodes, movement, radio, workload, faults and protocol parameters."""

    name: Annotated[str, Field(min_length=1)]
    area: Area
    duration: Annotated[Seconds, Positive]
    warmup: Annotated[Seconds, NotNegative] = 0.0
    "Metrics exclude publications before this time."
    quiet: Annotated[Seconds, NotNegative] = 0.0
    """Time before the end of the run without new publications, so that late deliveries are not counted as
    lost. In a workload of requests alone, no request is issued in this time, and publishing continues."""
    location: Annotated[bool, Field(strict=True)] = False
    "Routers may use the position of their node."
    sample: Annotated[Seconds, Positive] = 60.0
    "Interval at which the sizes of the routers' tables are recorded."
    groups: Annotated[dict[str, NodeGroup], Field(alias="nodes", min_length=1)]
    "Groups of nodes by name. Nodes are numbered from 0, group after group."
    hubs: Hubs | None = None
    "Squares in which nodes gather."
    mobility: MovementFile | None = None
    'Recorded movement for the groups with `mobility = "file"`; for all nodes if there is no such group.'
    connected: ConnectivityRequirement | None = None
    "Limit on partitions of generated movement; no limit if absent."
    radio: Radio = Radio()
    mac: Mac = Mac()
    workload: Workload = Workload()
    faults: dict[str, FaultSettings] = Field(default_factory=dict)
    "Fault settings, under names of your choice."
    protocols: Annotated[dict[str, dict[str, Any]], Field(alias="protocol", default_factory=dict)]
    "Protocol parameters that differ from the defaults, by protocol."

    @model_validator(mode="after")
    def _check_consistency(self, info: ValidationInfo) -> Scenario:
        from roamcast.scenario.consistency import inconsistencies
        from roamcast.scenario.radio.complete import complete_mac, complete_radio

        try:
            self.__dict__["mac"] = complete_mac(self.mac, self.radio)
            self.__dict__["radio"] = complete_radio(self.radio, self.mac)
        except ValueError as error:
            raise PydanticCustomError(
                "disagreement", "{problem}", {"key": "radio.range", "problem": str(error)}
            ) from None
        for key, problem in inconsistencies(self, info.context):
            raise PydanticCustomError("disagreement", "{problem}", {"key": key, "problem": problem})
        return self

    @cached_property
    def content(self) -> ScenarioContent:
        """The event types, zones, filters and scheduled events, read and checked at the first access."""
        from roamcast.scenario.content import ScenarioContent

        return ScenarioContent(self)

    @cached_property
    def recorded_legs(self) -> Legs | None:
        """The legs of the movement file, with the file's node numbers, read once; None without a file."""
        from roamcast.scenario.traces.movement import read_ns2

        if self.mobility is None:
            return None
        owner = "the scenario has" if len(self.followers) == self.count else "the groups that follow it have"
        return read_ns2(self.mobility.ns2, len(self.followers), self.area, owner)

    @property
    def followers(self) -> list[int]:
        """The nodes that follow the movement file; the first one is the file's node 0."""
        if self.mobility is None:
            return []
        chosen = {name for name, group in self.groups.items() if group.mobility == "file"} or set(self.groups)
        return [node for name, nodes in self.members() if name in chosen for node in nodes]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced; the copy reads its content and movement file again."""
        copy = super().model_copy(update=update, deep=deep)
        for derived in ("content", "recorded_legs"):
            copy.__dict__.pop(derived, None)
        return copy

    @property
    def count(self) -> int:
        """The number of nodes."""
        return sum(group.count for group in self.groups.values())

    def members(self) -> Iterator[tuple[str, range]]:
        """Yield each group's name and the ids of its nodes."""
        first = 0
        for name, group in self.groups.items():
            yield name, range(first, first + group.count)
            first += group.count

    def nodes_of(self, group: str) -> range:
        """Return the ids of a group's nodes, or of all nodes for `*`."""
        return range(self.count) if group == EVERYONE else dict(self.members())[group]

    @classmethod
    def read(cls, file: str | Path, settings: Iterable[str] | Mapping[str, Any] = ()) -> Scenario:
        """Return the scenario in a file, or a shipped one by name, with `settings` changed."""
        from roamcast.scenario.read import load
        from roamcast.scenario.shipped import locate

        return load(locate(str(file)), settings)

    def parameters(self, protocol: str) -> Parameters:
        """Return the parameters of `protocol` in this scenario."""
        from roamcast.routing.catalogue import find
        from roamcast.routing.profiles import with_profile

        router = find(protocol)
        return router.parameters_type.model_validate(with_profile(router, self.protocols.get(protocol, {})))

    def fingerprint(self) -> str:
        """Return a digest of all inputs of a run except protocol and seed; it is equal on every machine."""
        from roamcast.scenario.resolved import fingerprint

        return hashlib.sha256(json.dumps(fingerprint(self), sort_keys=True).encode()).hexdigest()
