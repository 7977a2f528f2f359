"""Explanations and counts of causes as plain data, for printing and for JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from roamcast.why.causes import Cause


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The explanation of one event at one node, or of one request."""

    about: str
    "The event as publisher/sequence, or the request as node/number."
    node: int
    wanted: str
    "The filter that matched, as XPath; empty if no interest of the node matched."
    outcome: str
    "For an event: delivered, lost or unwanted. For a request: as in the table requests."
    cause: str = ""
    "The key of the cause, if the event was lost or the request not satisfied; else empty."
    proven: bool = False
    story: list[str]


class CauseCount(msgspec.Struct, kw_only=True):
    """The number of losses with one cause, and an example."""

    cause: str
    times: int = 0
    proven: int = 0
    "Number of these losses that are proven, independent of the protocol."
    about: str
    "The event or request of the example."
    node: int
    run: str = ""
    "The folder of the run of the example, if several runs are counted."

    @property
    def description(self) -> str:
        """Return the printed description of the cause."""
        return Cause[self.cause.upper()].value


class CauseTally(msgspec.Struct, kw_only=True):
    """The causes of all lost events or of all unsatisfied requests, most frequent first."""

    expected: int = 0
    missed: int = 0
    causes: list[CauseCount] = []

    @property
    def explained(self) -> float | None:
        """Return the share of misses with a known cause, 0 to 1; None if nothing was missed."""
        unexplained = sum(each.times for each in self.causes if each.cause == Cause.UNEXPLAINED.key)
        return 1 - unexplained / self.missed if self.missed else None

    def add(self, cause: Cause, proven: bool, about: str, node: int) -> None:
        """Count one miss; the first of each cause becomes its example."""
        found = next((each for each in self.causes if each.cause == cause.key), None)
        if found is None:
            found = CauseCount(cause=cause.key, about=about, node=node)
            self.causes.append(found)
        found.times += 1
        found.proven += proven
        self.missed += 1

    def merge(self, other: CauseTally, run: str) -> None:
        """Add the counts of another run, whose folder is `run`, and sort."""
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
        """Sort the causes by frequency, most frequent first."""
        self.causes.sort(key=lambda each: (-each.times, each.cause))

    def record(self) -> dict[str, Any]:
        """Return the JSON object that `roamcast why --json` prints."""
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
    """The counts of causes in one run, or in all runs of one protocol."""

    protocol: str
    runs: int = 1
    events: CauseTally
    requests: CauseTally

    def record(self) -> dict[str, Any]:
        """Return the JSON object that `roamcast why --json` prints."""
        return {
            "protocol": self.protocol,
            "runs": self.runs,
            "events": self.events.record(),
            "requests": self.requests.record(),
        }
