"""The fault settings of a scenario: crashes, radio outages, late arrivals and departures."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from roamcast.scenario.section import Count, NotNegative, Positive, ScenarioSection
from roamcast.units import Seconds


class OutageSettings(ScenarioSection):
    """Start times and durations of outages."""

    every: Annotated[Seconds, Positive] | None = None
    "Mean time from the end of an outage to the start of the next."
    down: Annotated[Seconds, Positive] | None = None
    "Duration of an outage, a mean if `every` is given; until the end of the run if absent."
    gaps: Literal["exponential", "even"] = "exponential"
    "Distribution of `every` and `down`: exponential, or constant."
    after: Annotated[Seconds, NotNegative] = 0.0
    "Earliest start of a random outage."
    until: Annotated[Seconds, Positive] | None = None
    "Latest start of a random outage; the end of the run if absent."
    at: list[Annotated[Seconds, NotNegative]] = Field(default_factory=list)
    "Start times of scheduled outages; each lasts exactly `down`."

    @model_validator(mode="after")
    def _check_consistency(self) -> OutageSettings:
        if self.every is None and not self.at:
            raise ValueError('no start times; add every = "60 s" (random) or at = ["60 s"]')
        if self.every is not None and self.down is None:
            raise ValueError('outages with "every" need a duration, such as down = "20 s"')
        return self


class CrashSettings(OutageSettings):
    """Start times and durations of crashes."""

    memory: Literal["lost", "kept"] = "lost"
    "After a crash, a node starts a new incarnation without its state, or continues with it."


class TimeRange(NamedTuple):
    """An interval of time [s]."""

    min: Annotated[Seconds, NotNegative]
    max: Annotated[Seconds, NotNegative]


def _exact(given: Any) -> Any:
    return (given, given) if isinstance(given, str) else given


class FaultSettings(ScenarioSection):
    """Faults of a group or of listed nodes; the schedule depends on the seed and not on the protocol."""

    group: str | None = None
    "The affected group."
    count: Count | None = None
    "Number of affected nodes of the group, chosen by the seed; all if absent."
    nodes: list[Annotated[int, Field(strict=True, ge=0)]] = Field(default_factory=list)
    "Ids of the affected nodes, instead of a group."
    crash: CrashSettings | None = None
    "The nodes crash: router state, timers and queue are lost."
    radio: OutageSettings | None = None
    "The radio is switched off: the nodes neither receive nor send."
    arrive: Annotated[TimeRange | None, BeforeValidator(_exact)] = None
    "Start time of the nodes, or an interval from which each node's start is drawn; 0 if absent."
    leave: Annotated[TimeRange | None, BeforeValidator(_exact)] = None
    "Time at which the nodes leave permanently, or an interval from which each node's time is drawn."

    @model_validator(mode="after")
    def _check_consistency(self) -> FaultSettings:
        if (self.group is None) == (not self.nodes):
            raise ValueError('expected either group = "NAME" or nodes = [1, 2]')
        if self.count is not None and self.group is None:
            raise ValueError("count needs a group; add group or remove count")
        if not (self.crash or self.radio or self.arrive or self.leave):
            raise ValueError("no fault is given; add crash, radio, arrive or leave")
        for name, moments in (("arrive", self.arrive), ("leave", self.leave)):
            if moments is not None and moments.min > moments.max:
                raise ValueError(f"{name}.min must not be later than {name}.max")
        return self
