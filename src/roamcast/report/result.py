"""The result of a campaign for reports: its tables, read once, and its claims with verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import settings_of
from roamcast.campaign.claims import Claim
from roamcast.campaign.section import Setting
from roamcast.campaign.tables import HELD, NOT_HELD, NOT_JUDGED, UNDECIDED
from roamcast.metrics.declarations import METRICS
from roamcast.report.comparing.curves import ComparisonCurves, common_delay_rows, read_curves
from roamcast.report.comparing.goals import DELAY_COMMON
from roamcast.report.numbers import FEW, Row, format_estimate, short
from roamcast.results.results_folder import ResultsFolder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its checks, their values and the verdict."""

    name: str
    claim: Claim
    checks: list[Row]
    so_far: bool = False
    "Whether further runs may change the verdict."

    @property
    def verdict(self) -> str:
        """Return `held`, `not held`, `undecided` (an interval contains its bound) or `not judged`.

        Every check must hold for the claim to hold; one that does not hold refutes it.
        """
        found = {check["verdict"] for check in self.checks}
        worst = (word for word in (NOT_HELD, NOT_JUDGED, UNDECIDED) if word in found)
        return next(worst, HELD if self.checks else NOT_JUDGED)

    @property
    def inside(self) -> bool | None:
        """Return whether the values lie within the bounds; None if some are unknown."""
        known = [check["inside"] for check in self.checks]
        return None if not known or None in known else all(known)

    @property
    def doubt_text(self) -> str:
        """Return the reason why a verdict is not final, in parentheses; empty if it is."""
        if self.verdict == NOT_JUDGED:
            return ""
        return "(few seeds)" if any(check["count"] < FEW for check in self.checks) else ""

    @property
    def verdict_text(self) -> str:
        """Return the verdict with its reservations."""
        return f"{self.verdict} so far" if self.so_far else self.verdict

    @property
    def value_text(self) -> str:
        """Return the value with its interval; the range if there are several."""
        known = [check for check in self.checks if check["ours"] is not None]
        if not known:
            return "-"
        if len(known) == 1:
            return format_estimate(known[0], "ours")
        ordered = sorted(known, key=lambda check: check["ours"])
        ends = [format_estimate(check, "ours") for check in (ordered[0], ordered[-1])]
        return f"{ends[0]} to {ends[1]} ({len(known)} checks)"

    @property
    def bounds_text(self) -> str:
        """Return the required bounds in words."""
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
    def failed_checks(self) -> list[str]:
        """Return the checks that did not hold, in words."""
        found = [check for check in self.checks if check["verdict"] == NOT_HELD]
        return [f"{check['tells']}: {format_estimate(check, 'ours')}" for check in found]


class CampaignResult:
    """The content of a campaign's folder; `so_far` is the number of measured runs if some are missing."""

    def __init__(self, store: ResultsFolder, so_far: int | None = None) -> None:
        self.store = store
        self.so_far = so_far
        store.check_layout()
        self.campaign, self.notes = store.read_campaign()
        self.stale = store.stale()
        "Tables made from other inputs than those of the campaign; their content is not shown."
        self.tables: dict[str, list[Row]] = {
            name: [] if name in self.stale else store.read_table(name).to_pylist() for name in _TOLD
        }
        self.curves: ComparisonCurves | None = read_curves(self)
        "Curves of a comparison, if they were computed."

    def to_pandas(self, table: str = "summary") -> pd.DataFrame:
        """Return a table of the campaign (docs/tables.md); by default means and intervals of metrics."""
        found: pd.DataFrame = self.store.read_table(table).to_pandas()
        return found

    def plot(self, figure: str | None = None) -> Figure:
        """Return a figure of the campaign by name, by default its first; of a comparison its metrics."""
        from roamcast.report.drawings.figures import draw_figure
        from roamcast.report.drawings.strips import draw_comparison

        if figure is None and not self.campaign.figures:
            return draw_comparison(self)
        return draw_figure(self, figure or next(iter(self.campaign.figures)))

    def __repr__(self) -> str:
        runs = ", ".join(f"{count} {status}" for status, count in sorted(self.counts().items()))
        return f"<CampaignResult {self.campaign.title!r} in {self.store.folder}: runs {runs or 'none'}>"

    def _repr_html_(self) -> str:
        from roamcast.report.page.comparison import make_tables
        from roamcast.report.page.verdicts import make_claims, sum_up

        head = f"<h3>{escape(self.campaign.title)}</h3>"
        if self.stale:
            return f"{head}<p>{escape(warn(self))}</p>"
        if self.campaign.claims:
            return f"{head}<p>{escape(sum_up(self.claims))}</p>{make_claims(self, self.claims)}"
        return head + make_tables(self)

    @property
    def claims(self) -> list[JudgedClaim]:
        """Return the judged claims in the order of the file; none if the verdicts are of other claims."""
        if "verdicts" in self.stale:
            return []
        judged = judge_claims(self.campaign, self.tables["verdicts"])
        return [replace(each, so_far=self.so_far is not None) for each in judged]

    @property
    def marker(self) -> str:
        """Return the heading of results of a part of the runs; empty if all runs are measured."""
        return "" if self.so_far is None else f"{self.so_far} of {len(self.tables['plan'])} runs so far"

    @cached_property
    def values(self) -> dict[tuple[str, str, str, str], Row]:
        """Return the summary by sweep, point, protocol and metric, with the delay of common deliveries."""
        known = {
            (row["sweep"], row["point"], row["protocol"], row["metric"]): row
            for row in self.tables["summary"]
        }
        return known | dict(common_delay_rows(self.curves)) if self.curves is not None else known

    @cached_property
    def differences(self) -> dict[tuple[str, str, str, str, str], Row]:
        """Return the paired differences by sweep, point, metric, protocol and subtracted protocol."""
        return {
            (row["sweep"], row["point"], row["metric"], row["protocol"], row["other"]): row
            for row in self.tables["differences"]
        }

    @cached_property
    def _by_seed(self) -> dict[tuple[str, str, str], list[tuple[int, Row]]]:
        """Return seed and metrics of each run by sweep, point and protocol, in order of seed."""
        measured = {row["run"]: row for row in self.tables["metrics"]}
        found: dict[tuple[str, str, str], list[tuple[int, Row]]] = {}
        for row in sorted(self.tables["points"], key=lambda row: int(row["seed"])):
            if row["run"] in measured:
                key = (row["sweep"], row["point"], row["protocol"])
                found.setdefault(key, []).append((row["seed"], measured[row["run"]]))
        return found

    def by_seed(self, sweep: str, point: str, protocol: str, metric: str) -> dict[int, float]:
        """Return the values of `metric` at one point by seed."""
        if metric == DELAY_COMMON.name:
            place = self.curves.at((sweep, point)) if self.curves is not None else None
            runs = place.of(protocol) if place is not None else []
            return {run.seed: run.delay for run in runs if run.delay is not None}
        rows = self._by_seed.get((sweep, point, protocol), [])
        return {seed: row[metric] for seed, row in rows if row[metric] is not None}

    def counts(self) -> dict[str, int]:
        """Return the number of runs by status."""
        found: dict[str, int] = {}
        for row in self.tables["runs"]:
            found[row["status"]] = found.get(row["status"], 0) + 1
        return found

    def failures(self) -> list[tuple[str, str]]:
        """Return the run and error of each failure."""
        return [(row["run"], row["error"]) for row in self.tables["runs"] if row["status"] == "failed"]

    def commands(self) -> list[tuple[str, str, str, str]]:
        """Return for each point: sweep, settings, protocol, and the command that repeats its first seed."""
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
        return [
            (sweep, describe_point(point), protocol, command[row["run"]])
            for (sweep, point, protocol), row in rows
        ]


_TOLD = ("plan", "points", "runs", "metrics", "summary", "differences", "verdicts")


def judge_claims(campaign: Campaign, verdicts: list[Row]) -> list[JudgedClaim]:
    """Return each claim with its checks."""
    return [
        JudgedClaim(name, claim, [row for row in verdicts if row["claim"] == name])
        for name, claim in campaign.claims.items()
    ]


def describe_point(point: str, fixed: Mapping[str, Setting] = MappingProxyType({})) -> str:
    """Return a point in words, with the settings that its sweep has at every point."""
    settings = dict(fixed) | settings_of(point)
    return ", ".join(f"{key} = {value}" for key, value in settings.items()) or "as the scenario is"


def warn(result: CampaignResult) -> str:
    """Return a warning if the tables of a result are stale, with the command that updates them."""
    again = result.notes.get("command") or "roamcast campaign run"
    return (
        "The campaign was changed or interrupted: tables are missing, or were made from something else than "
        f"what is asked now, so no verdict and no number of theirs is shown. Go on with: {again}; or measure "
        f"what is done with: roamcast campaign report {result.store.folder} --measure"
    )
