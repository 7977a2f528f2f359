"""The result of a campaign as a report tells it: its tables, read once, and its claims with verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign import Campaign, Claim
from roamcast.pipeline.claims import settings_of
from roamcast.pipeline.entry import Setting
from roamcast.pipeline.store import Store

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """A claim, its checks with our numbers, and the verdict."""

    name: str
    claim: Claim
    checks: list[Row]

    @property
    def verdict(self) -> str:
        """`held`, `not held`, or `not judged` where no seed has the values."""
        if any(check["held"] is False for check in self.checks):
            return "not held"
        if not self.checks or any(check["held"] is None for check in self.checks):
            return "not judged"
        return "held"

    @property
    def sure(self) -> bool | None:
        """Whether the intervals agree with the verdict; None where there are none."""
        deciding = [check for check in self.checks if check["held"] is (self.verdict == "held")]
        if not deciding or any(check["sure"] is None for check in deciding):
            return None
        told = [check["sure"] for check in deciding]
        return all(told) if self.verdict == "held" else any(told)

    @property
    def ours(self) -> str:
        """Our number, with its interval; the least and the most where there are several."""
        known = [check for check in self.checks if check["ours"] is not None]
        if not known:
            return "-"
        if len(known) == 1:
            return with_interval(known[0]["ours"], known[0]["half"])
        ordered = sorted(known, key=lambda check: check["ours"])
        ends = [with_interval(check["ours"], check["half"]) for check in (ordered[0], ordered[-1])]
        return f"{ends[0]} to {ends[1]} ({len(known)} checks)"

    @property
    def asked(self) -> str:
        """What was asked of our number."""
        of = {
            "ordering": "each step ",
            "difference": "difference ",
            "ratio": "ratio ",
            "trend": "climb ",
            "crossing": "crossing ",
        }
        first = self.checks[0] if self.checks else {"low": None, "high": None, "strict": False}
        low, high = first["low"], first["high"]
        above, below = ("above", "below") if first["strict"] else ("at least", "at most")
        bound = f"{above} {short(low)}" if high is None else f"{below} {short(high)}"
        if low is not None and high is not None:
            bound = f"{short(low)} to {short(high)}"
        return f"{METRICS[self.claim.metric].title}: {of.get(self.claim.kind, '')}{bound}"

    @property
    def broken(self) -> list[str]:
        """The checks that did not hold, in words."""
        return [
            f"{check['tells']}: {with_interval(check['ours'], check['half'])}"
            for check in self.checks
            if check["held"] is False
        ]


class Result:
    """All that a campaign's folder says."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.campaign, self.notes = store.read_campaign()
        self.tables: dict[str, list[Row]] = {name: store.read_table(name).to_pylist() for name in _TOLD}

    @property
    def claims(self) -> list[Judged]:
        """The campaign's claims, judged, in the file's order."""
        return judge_claims(self.campaign, self.tables["verdicts"])

    @cached_property
    def values(self) -> dict[tuple[str, str, str, str], Row]:
        """The summary by sweep, point, protocol and metric."""
        return {
            (row["sweep"], row["point"], row["protocol"], row["metric"]): row
            for row in self.tables["summary"]
        }

    def counts(self) -> dict[str, int]:
        """Runs by what became of them."""
        found: dict[str, int] = {}
        for row in self.tables["runs"]:
            found[row["status"]] = found.get(row["status"], 0) + 1
        return found

    def failures(self) -> list[tuple[str, str]]:
        """The run and error of each failure."""
        return [(row["run"], row["error"]) for row in self.tables["runs"] if row["status"] == "failed"]

    def commands(self) -> list[tuple[str, str, str, str]]:
        """For each point: sweep, settings, protocol, and the command that reproduces its first seed."""
        command = {row["run"]: row["command"] for row in self.tables["plan"]}
        first: dict[tuple[str, str, str], Row] = {}
        for row in self.tables["points"]:
            key = (row["sweep"], row["point"], row["protocol"])
            if key not in first or row["seed"] < first[key]["seed"]:
                first[key] = row
        order = {
            (sweep, protocol): (i, j)
            for i, (sweep, asked) in enumerate(self.campaign.sweeps.items())
            for j, protocol in enumerate(asked.protocols)
        }
        rows = sorted(first.items(), key=lambda item: (order[item[0][0], item[0][2]], item[0][1]))
        return [(sweep, tell(point), protocol, command[row["run"]]) for (sweep, point, protocol), row in rows]


_TOLD = ("plan", "points", "runs", "summary", "differences", "verdicts")


def judge_claims(campaign: Campaign, verdicts: list[Row]) -> list[Judged]:
    """Each claim with its checks."""
    return [
        Judged(name, claim, [row for row in verdicts if row["claim"] == name])
        for name, claim in campaign.claims.items()
    ]


def tell(point: str, fixed: Mapping[str, Setting] = MappingProxyType({})) -> str:
    """A point in words, with what its sweep sets at every point."""
    settings = dict(fixed) | settings_of(point)
    return ", ".join(f"{key} = {value}" for key, value in settings.items()) or "as the scenario is"


def short(value: float | None) -> str:
    """A number as a person reads it."""
    if value is None:
        return "-"
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def with_interval(value: float | None, half: float | None) -> str:
    """A mean and half its interval, to the same place."""
    if value is None or half is None:
        return short(value)
    if abs(value) >= 1000:
        return f"{value:,.0f} ± {half:,.0f}"
    size = max(abs(value), half)
    places = 3 if size < 1 else 2 if size < 100 else 1
    return f"{value:.{places}f} ± {half:.{places}f}"
