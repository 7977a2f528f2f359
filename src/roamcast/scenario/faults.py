"""What may befall the nodes of a scenario."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from roamcast.scenario.section import Count, NotNegative, Positive, ScenarioSection
from roamcast.units import Seconds


class OutageSettings(ScenarioSection):
    """When something is out of order, and for how long."""

    every: Annotated[Seconds, Positive] | None = None
    "From the end of one outage to the next, on average."
    down: Annotated[Seconds, Positive] | None = None
    "How long an outage lasts, on average where `every` is given; for ever if absent."
    gaps: Literal["exponential", "even"] = "exponential"
    "Whether `every` and `down` are means of exponential times, or exact."
    after: Annotated[Seconds, NotNegative] = 0.0
    "No outage drawn by chance begins before this."
    until: Annotated[Seconds, Positive] | None = None
    "Nor after this; the end of the run if absent."
    at: list[Annotated[Seconds, NotNegative]] = Field(default_factory=list)
    "When outages begin that are not left to chance; these last exactly `down`."

    @model_validator(mode="after")
    def _check_consistency(self) -> OutageSettings:
        if self.every is None and not self.at:
            raise ValueError('say when: every = "60 s" (by chance) or at = ["60 s"]')
        if self.every is not None and self.down is None:
            raise ValueError('outages that come again need an end, as in down = "20 s"')
        return self


class CrashSettings(OutageSettings):
    """When nodes crash, and when they start again."""

    memory: Literal["lost", "kept"] = "lost"
    "Whether they start anew, in a next incarnation, or go on where they stopped."


class TimeRange(NamedTuple):
    """From when to when something may happen."""

    min: Annotated[Seconds, NotNegative]
    max: Annotated[Seconds, NotNegative]


def _exact(given: Any) -> Any:
    return (given, given) if isinstance(given, str) else given


class FaultSettings(ScenarioSection):
    """What befalls a group of nodes, or some by number; drawn from the seed, the same for every protocol."""

    group: str | None = None
    "The group that it befalls."
    count: Count | None = None
    "How many of the group, chosen by the seed; all if absent."
    nodes: list[Annotated[int, Field(strict=True, ge=0)]] = Field(default_factory=list)
    "The nodes that it befalls, by number, instead of a group."
    crash: CrashSettings | None = None
    "They crash: router, timers and queue are gone."
    radio: OutageSettings | None = None
    "Their radio is off: they hear and send nothing."
    arrive: Annotated[TimeRange | None, BeforeValidator(_exact)] = None
    "When they start, if not at the beginning: at one time, or each at random between two."
    leave: Annotated[TimeRange | None, BeforeValidator(_exact)] = None
    "When they are gone for good: at one time, or each at random between two."

    @model_validator(mode="after")
    def _check_consistency(self) -> FaultSettings:
        if (self.group is None) == (not self.nodes):
            raise ValueError('say whom it befalls: group = "NAME" or nodes = [1, 2]')
        if self.count is not None and self.group is None:
            raise ValueError("count chooses from a group; there is none")
        if not (self.crash or self.radio or self.arrive or self.leave):
            raise ValueError("nothing befalls them; add crash, radio, arrive or leave")
        for name, moments in (("arrive", self.arrive), ("leave", self.leave)):
            if moments is not None and moments.min > moments.max:
                raise ValueError(f"{name}.min must not be later than {name}.max")
        return self
