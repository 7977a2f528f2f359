"""The workload of a scenario: publications, subscriptions and requests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from roamcast.scenario.section import Count, NotNegative, Positive, ScenarioSection, Share
from roamcast.units import ByteCount, Meters, Seconds


def _listed(value: Any) -> Any:
    """Return a single file as a list of one."""
    return [value] if isinstance(value, str | Path) else value


class Zones(ScenarioSection):
    """A grid of squares over the area, numbered from 1, west to east and then south to north."""

    side: Annotated[Meters, Positive]
    type: str = "coupon"
    "Event type of the events about zones; its field `zone` contains the zone number."


class Topics(ScenarioSection):
    """Topics of events, numbered from 1."""

    count: Count
    type: str = "content"
    "Event type of the events about topics; its field `topic` contains the topic number."


class InterestAreas(ScenarioSection):
    """Regions with different preferred topics: the hubs, and the quarters of the area outside the hubs."""

    quarters: Count = 1
    "Number of quarters along each side of the area; numbered west to east, then south to north."
    hubs: list[Annotated[int, Field(strict=True, ge=0)]] | None = None
    "Region numbers (from 0) of the hubs; the lowest ones if absent. The quarters get the other numbers."
    offset: Literal["spread", "literal", "none"] = "spread"
    """Offset that region i of m adds to the number of each of n topics: `"spread"` i n // m; `"literal"`
    n mod i, as printed in the paper (0 for i = 0); `"none"` 0."""


class EventTemplate(ScenarioSection):
    """A template for events of one type: each field is constant, or drawn from a list for each event."""

    type: Annotated[str, Field(min_length=1)]
    values: dict[str, Any] = Field(default_factory=dict)


class Documents(ScenarioSection):
    """Events read from XML or JSON documents, which are validated against the workload's schemas."""

    documents: Annotated[list[Path], Field(min_length=1)]
    "Paths relative to the scenario file."
    order: Literal["in-turn", "random"] = "in-turn"


class PublisherSettings(ScenarioSection):
    """Publications of a group."""

    count: Count | None = None
    "Number of publishers in the group, chosen by the seed; all nodes if absent."
    every: Annotated[Seconds, Positive]
    "Interval between the bursts of a publisher; the mean interval if `gaps` are exponential."
    gaps: Literal["even", "exponential"] = "even"
    burst: Count = 1
    "Number of events per burst."
    spacing: Annotated[Seconds, NotNegative] = 0.0
    "Interval between the events of a burst; 0 publishes all at the same time."
    phase: Literal["random"] | Annotated[Seconds, NotNegative] = "random"
    "Time of a publisher's first burst; a random time within `every` avoids synchronised publishers."
    size: Annotated[ByteCount, Positive] = 512
    "Size of each event message on the air, including padding."
    content: Literal["each-zone", "random-zone", "own-topics"] | EventTemplate | Documents = "random-zone"
    """Content of the events: each zone in turn, random zones, a template, or documents. `"own-topics"`
    divides the topics evenly among the publishers and publishes each topic on a schedule of its own."""
    advertise: str | None = None
    "Filter that the publishers advertise; all events of their event type if absent."


class SubscriberSettings(ScenarioSection):
    """Subscriptions of a group."""

    count: Count | None = None
    "Number of subscribers, chosen by the seed; all nodes if absent. A larger number includes the smaller."
    interest: Literal["zone"] | list[str] = "zone"
    "The subscriber's current zone, or a list of XPath filters."
    choose: Count | None = None
    "Number of listed filters per subscriber, chosen by the seed; all if absent."
    deal: Annotated[bool, Field(strict=True)] = False
    "Shuffle the listed filters and assign `choose` (default 1) to each subscriber in turn."
    tick: Annotated[Seconds, Positive] = 1.0
    "Position polling interval."
    bias: Share = 1.0
    "Probability that a poll selects the subscriber's current zone; otherwise it selects a random zone."
    locality: Share = 0.0
    "Share of the subscribers that have one common, constant interest instead."
    common: str | None = None
    "The common interest as an XPath filter; a zone chosen by the seed if absent."


class RequesterSettings(ScenarioSection):
    """Requests of a group; the first matching event that arrives satisfies a request, new or cached."""

    count: Count | None = None
    "Number of requesters in the group, chosen by the seed; all nodes if absent."
    every: Annotated[Seconds, Positive]
    "Interval between the requests of a requester; the mean interval if `gaps` are exponential."
    gaps: Literal["even", "exponential"] = "exponential"
    publishers: bool = True
    "Publishers issue requests, too."
    interest: Literal["zone", "topic"] | Annotated[list[str], Field(min_length=1)] = "zone"
    "Subject of a request: the requester's current zone, a topic, or one of the listed XPath filters."
    choose: Count | None = None
    "Number of listed filters per requester, chosen by the seed; all if absent."
    skew: Annotated[float, Field(strict=True, ge=0, le=10)] = 0.0
    """Zipf exponent of the popularity of the listed filters, or of the topics, in order; 0 is uniform. The
    order of the topics depends on the requester's region (`areas`)."""
    timeout: Annotated[Seconds, Positive] = 30.0
    "Time after which an unsatisfied request expires."


class Workload(ScenarioSection):
    """Publications, subscriptions and requests."""

    zones: Zones | None = None
    topics: Topics | None = None
    areas: InterestAreas | None = None
    publish: dict[str, PublisherSettings] = Field(default_factory=dict)
    "By group; `*` is everyone."
    subscribe: dict[str, SubscriberSettings] = Field(default_factory=dict)
    "By group; `*` is everyone."
    request: dict[str, RequesterSettings] = Field(default_factory=dict)
    "By group; `*` is everyone."
    types: dict[str, dict[str, Any]] = Field(default_factory=dict)
    "Event types by name. A field is a type, a list of values, or a table (`kind`, `min`, `max`, `optional`)."
    schemas: Annotated[list[Path], BeforeValidator(_listed)] = Field(default_factory=list, alias="schema")
    "Files with event types: XML Schema (.xsd) or JSON Schema (.json); paths relative to the scenario file."
    schedule: Path | None = None
    "A CSV file of publications, which replaces `publish`; the path is relative to the scenario file."

    @model_validator(mode="after")
    def _check_consistency(self) -> Workload:
        if self.schedule is not None and self.publish:
            raise ValueError("schedule and publish exclude each other; remove one of them")
        return self
