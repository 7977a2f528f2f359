"""What is published and wanted in a scenario."""

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
    "The type of an event about a zone; its attribute `zone` holds the zone's number."


class Topics(ScenarioSection):
    """Things that events are about, numbered from 1."""

    count: Count
    type: str = "content"
    "The type of an event about a topic; its attribute `topic` holds the topic's number."


class InterestAreas(ScenarioSection):
    """Parts of the plane where people want different things: hubs, and the quarters that they lie upon."""

    quarters: Count = 1
    "Quarters along each side of the area, numbered west to east and then south to north."
    hubs: list[Annotated[int, Field(strict=True, ge=0)]] | None = None
    "Which of the areas' numbers, from 0, the hubs have; the first if absent. Quarters have the others."
    offset: Literal["spread", "literal", "none"] = "spread"
    "What number i of m areas adds to each of n topics: i n // m; n mod i, as printed (0: nothing); nothing."


class EventTemplate(ScenarioSection):
    """How to make events of one type: each attribute is constant, or drawn from a list for each event."""

    type: Annotated[str, Field(min_length=1)]
    values: dict[str, Any] = Field(default_factory=dict)


class Documents(ScenarioSection):
    """Events read from XML or JSON documents, which are validated against the workload's schemas."""

    documents: Annotated[list[Path], Field(min_length=1)]
    "Relative to the scenario's file."
    order: Literal["in-turn", "random"] = "in-turn"


class PublisherSettings(ScenarioSection):
    """What the publishers of a group do."""

    count: Count | None = None
    "How many of the group publish, chosen by the seed; all if absent."
    every: Annotated[Seconds, Positive]
    "From one burst of a publisher to its next; the mean, where gaps are exponential."
    gaps: Literal["even", "exponential"] = "even"
    burst: Count = 1
    "Events published at a time."
    spacing: Annotated[Seconds, NotNegative] = 0.0
    "Between the events of a burst; 0 publishes them at once."
    phase: Literal["random"] | Annotated[Seconds, NotNegative] = "random"
    "When a publisher's first burst is, at random within `every` so that publishers do not march in step."
    size: Annotated[ByteCount, Positive] = 512
    "Of each event message on the air, padding included."
    content: Literal["each-zone", "random-zone", "own-topics"] | EventTemplate | Documents = "random-zone"
    """Events about the zones in turn, about zones drawn at random, made from a template, or read from
    documents; or the topics are dealt out to the publishers, and each is published at times of its own."""
    advertise: str | None = None
    "The filter that covers what these publishers say; everything of its event type if absent."


class SubscriberSettings(ScenarioSection):
    """What the subscribers of a group want."""

    count: Count | None = None
    "How many of the group subscribe, chosen by the seed; all if absent. More include the fewer."
    interest: Literal["zone"] | list[str] = "zone"
    "The zone where the subscriber is, or XPath filters."
    choose: Count | None = None
    "How many of the listed filters each wants, chosen by the seed; all if absent."
    deal: Annotated[bool, Field(strict=True)] = False
    "Whether the listed filters are shuffled and dealt out in turn, `choose` (or one) to each, not drawn."
    tick: Annotated[Seconds, Positive] = 1.0
    "Between two looks at the own position."
    bias: Share = 1.0
    "Probability that a look turns to the zone where the subscriber is; else to any zone, at random."
    locality: Share = 0.0
    "Share of the subscribers who instead all have the same interest, for ever."
    common: str | None = None
    "That interest, as an XPath filter; about one zone, drawn by the seed, if absent."


class RequesterSettings(ScenarioSection):
    """What the requesters of a group ask for; a request is satisfied by the next copy, new or old."""

    count: Count | None = None
    "How many of the group ask, chosen by the seed; all if absent."
    every: Annotated[Seconds, Positive]
    "From one request of a requester to its next; the mean, where gaps are exponential."
    gaps: Literal["even", "exponential"] = "exponential"
    publishers: bool = True
    "Whether those who publish ask, too."
    interest: Literal["zone", "topic"] | Annotated[list[str], Field(min_length=1)] = "zone"
    "What is asked for: the zone where the requester is, a topic, or one of these XPath filters."
    choose: Count | None = None
    "How many of the listed filters each asks for, chosen by the seed; all if absent."
    skew: Annotated[float, Field(strict=True, ge=0, le=10)] = 0.0
    """How much more often the first of the listed filters, or of the topics, are asked for (Zipf's exponent;
    0: all alike). Which topics are the first depends on the area where the requester is."""
    timeout: Annotated[Seconds, Positive] = 30.0
    "How long a requester waits for an answer."


class Workload(ScenarioSection):
    """Who publishes what and when, who wants what, and who asks for what."""

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
    "Event types by name; a field is a kind, a list of values, or a table of kind, min, max, optional."
    schemas: Annotated[list[Path], BeforeValidator(_listed)] = Field(default_factory=list, alias="schema")
    "Files with event types, XML Schema (.xsd) or JSON Schema (.json), relative to the scenario's file."
    schedule: Path | None = None
    "A CSV file of publications instead of generated ones; relative to the scenario's file."

    @model_validator(mode="after")
    def _check_consistency(self) -> Workload:
        if self.schedule is not None and self.publish:
            raise ValueError("publications come from a schedule or are generated by publish, not both")
        return self
