"""What is told to programs: stories and counts as plain data."""

from __future__ import annotations

from typing import Any

import msgspec

from roamcast.why.causes import Cause


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one event on its way to one node, or to one request."""

    about: str
    "The event as publisher/sequence, or the request as node/number."
    node: int
    wanted: str
    "The filter that matched, as XPath; empty if the node did not want it."
    outcome: str
    "An event's: delivered, lost or unwanted. A request's: as in the table of requests."
    cause: str = ""
    "The key of the cause, if it was lost or not satisfied."
    proven: bool = False
    story: list[str]


class CauseCount(msgspec.Struct, kw_only=True):
    """How often a cause was at work, and a case of it."""

    cause: str
    times: int = 0
    proven: int = 0
    "How many of these are proven, whatever the protocol."
    about: str
    "The event or request of the case."
    node: int
    run: str = ""
    "The folder of the case, where there are several runs."

    @property
    def description(self) -> str:
        """The cause as a person would say it."""
        return Cause[self.cause.upper()].value


class CauseTally(msgspec.Struct, kw_only=True):
    """The causes of all that was not delivered, or of all requests not satisfied, the most frequent first."""

    expected: int = 0
    missed: int = 0
    causes: list[CauseCount] = []

    @property
    def explained(self) -> float | None:
        """The share of what was missed of which the facts tell the cause; None if nothing was missed."""
        untold = sum(each.times for each in self.causes if each.cause == Cause.UNEXPLAINED.key)
        return 1 - untold / self.missed if self.missed else None

    def add(self, cause: Cause, proven: bool, about: str, node: int) -> None:
        """Count one more."""
        found = next((each for each in self.causes if each.cause == cause.key), None)
        if found is None:
            found = CauseCount(cause=cause.key, about=about, node=node)
            self.causes.append(found)
        found.times += 1
        found.proven += proven
        self.missed += 1

    def merge(self, other: CauseTally, run: str) -> None:
        """Count what was counted in another run."""
        self.expected += other.expected
        self.missed += other.missed
        for each in other.causes:
            found = next((own for own in self.causes if own.cause == each.cause), None)
            if found is None:
                self.causes.append(msgspec.structs.replace(each, run=run))
            else:
                found.times += each.times
                found.proven += each.proven
        self.sort()

    def sort(self) -> None:
        """The most frequent first."""
        self.causes.sort(key=lambda each: (-each.times, each.cause))

    def record(self) -> dict[str, Any]:
        """For programs."""
        counts = [msgspec.to_builtins(each) | {"says": each.description} for each in self.causes]
        if not any(each.run for each in self.causes):
            for count in counts:
                del count["run"]
        return {
            "expected": self.expected,
            "missed": self.missed,
            "explained": self.explained,
            "causes": counts,
        }


class RunTally(msgspec.Struct, kw_only=True):
    """The causes in one run, or in all runs of one protocol."""

    protocol: str
    runs: int = 1
    events: CauseTally
    requests: CauseTally

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {
            "protocol": self.protocol,
            "runs": self.runs,
            "events": self.events.record(),
            "requests": self.requests.record(),
        }
