"""All that the league says, computed once for the terminal, the page, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roamcast.report.league.aspects import COSTS
from roamcast.report.league.conditions import Conditions, find_conditions
from roamcast.report.league.standings import (
    LossCauses,
    Overall,
    Pair,
    WorldRanking,
    rank_overall,
    rank_worlds,
)
from roamcast.report.numbers import FEW, Row, join_names, percent, short
from roamcast.report.result import CampaignResult

_OF_VALUE = ("count", "mean", "lower", "upper", "least", "most")


@dataclass(frozen=True)
class LeagueReport:
    """The rankings of a league, with causes of losses and the pairs that did not run."""

    result: CampaignResult
    rankings: list[WorldRanking]
    overall: list[Overall]
    conditions: dict[str, Conditions]
    unserved: Mapping[Pair, str]
    causes: Mapping[Pair, LossCauses]

    @property
    def front(self) -> list[str]:
        """The protocols that no other dominates."""
        return [each.protocol for each in self.overall if not each.dominated_by]

    @property
    def basis(self) -> str:
        """Runs, seeds, processor time and code version in one sentence."""
        runs = self.result.tables["runs"]
        done = sum(row["status"] == "done" for row in runs)
        cpu = sum(row["cpu"] or 0.0 for row in runs)
        code = ", ".join(sorted({row["version"] for row in self.result.tables["plan"]}))
        seeds = len(self.result.campaign.seed_list)
        failed = f", {len(runs) - done} failed or missing" if done < len(runs) else ""
        return (
            f"{done:,} runs{failed}: {len(self.overall)} protocols in {len(self.rankings)} worlds with "
            f"{seeds} seed{'s' * (seeds > 1)} each; {cpu / 60:.0f} minutes of processor time; code {code}."
        )

    def headline(self) -> str:
        """Return who is on the front, who delivers most, and how many protocols break somewhere."""
        if not self.overall:
            return "No run is measured."
        most = max(self.overall, key=lambda each: each.service["mean"])
        broken = [each for each in self.overall if each.broken]
        text = (
            f"{most.protocol} delivers the most over all worlds: {percent(most.service)}. "
            f"No protocol dominates {join_names(self.front)}. "
        )
        if not broken:
            return text + "No protocol breaks in any world."
        return f"{text}{len(broken)} of {len(self.overall)} protocols break in at least one world."

    def describe_world(self, ranking: WorldRanking) -> str:
        """Return who is best in a world."""
        first = ranking.standings[0]
        what = "satisfies the most requests" if ranking.service == "satisfied_rate" else "delivers the most"
        leaders = ranking.leaders
        if first.service["count"] < FEW:
            seeds = first.service["count"]
            return f"{first.protocol} {what}, {percent(first.service)}; {seeds} seeds decide nothing."
        if leaders == [first.protocol]:
            return f"{first.protocol} {what}: {percent(first.service)}."
        if not leaders:
            return "No protocol serves this world."
        return f"{join_names(leaders, 'or')} {what}; the difference is not significant."

    def record(self) -> dict[str, Any]:
        """Return the league as plain data for JSON."""
        return {
            "title": self.result.campaign.title,
            "seeds": self.result.campaign.seed_list,
            "runs": self.result.counts(),
            "failures": [{"run": run, "error": error} for run, error in self.result.failures()],
            "folder": str(self.result.store.folder),
            "headline": self.headline(),
            "front": self.front,
            "protocols": [
                {
                    "protocol": each.protocol,
                    "worlds": each.worlds,
                    "delivery": _plain(each.service),
                    "relative_costs": {name: _plain(row) for name, row in each.costs.items()},
                    "best_in": each.best,
                    "breaks_in": each.broken,
                    "dominated_by": each.dominated_by,
                }
                for each in self.overall
            ],
            "worlds": [self._world(each) for each in self.rankings],
            "unserved": [
                {"world": world, "protocol": protocol, "reason": reason}
                for (world, protocol), reason in self.unserved.items()
            ],
        }

    def _world(self, ranking: WorldRanking) -> dict[str, Any]:
        standings = []
        for each in ranking.standings:
            counted = self.causes.get((ranking.world, each.protocol))
            standings.append(
                {
                    "protocol": each.protocol,
                    "delivery": _plain(each.service),
                    **{name: _plain(row) for name, row in each.costs.items()},
                    "mark": each.mark,
                    "breaks": each.breaks,
                    "causes": dict(counted.causes) if counted is not None else None,
                }
            )
        conditions = self.conditions[ranking.world]._asdict()
        return {
            "world": ranking.world,
            "metric": ranking.service,
            "conditions": conditions,
            "standings": standings,
        }


def make_report(
    result: CampaignResult, unserved: Mapping[Pair, str], causes: Mapping[Pair, LossCauses]
) -> LeagueReport:
    """Return the report of a league whose runs are measured."""
    rankings = rank_worlds(result)
    conditions = {each.world: find_conditions(result, each) for each in rankings}
    overall = rank_overall(result, rankings)
    return LeagueReport(result, rankings, overall, conditions, unserved, causes)


def _plain(row: Row) -> dict[str, Any]:
    return {key: row.get(key) for key in _OF_VALUE}


def show_ratio(row: Row | None) -> str:
    """Return a relative cost as a person reads it."""
    return "-" if row is None else f"{short(row['mean'])}x"


COST_TITLES = {name: aspect.title for name, aspect in COSTS.items()}
