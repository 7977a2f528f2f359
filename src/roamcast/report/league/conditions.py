"""The conditions of a world: size, density, speed, load, connectivity and faults, from tables."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from roamcast.report.league.standings import WorldRanking
from roamcast.report.numbers import short
from roamcast.report.result import CampaignResult


class Conditions(NamedTuple):
    """What a world is like, as means over its runs."""

    nodes: int
    neighbours: float
    "Nodes within radio range of a node."
    speed: str
    "The maximum speed of the fastest group [m/s], `trace`, or `static`."
    events: float
    "Publications per second."
    audience: float
    "Nodes that expect an event."
    reachable: float | None
    "Share of the expected deliveries to which a path led before the end of the run; None without events."
    faults: bool
    requests: float
    "Requests per second."
    obstacles: int = 0
    "Buildings or rooms that weaken signals; `neighbours` and `reachable` disregard them."

    def describe(self) -> str:
        """Return the conditions in one line."""
        parts = [f"{self.nodes} nodes", f"{short(round(self.neighbours, 1))} neighbours", self.speed]
        parts.append(f"{short(self.events)} events/s")
        if self.reachable is not None:
            parts.append(f"{short(self.audience)} nodes expect an event")
            parts.append(f"{100 * self.reachable:.0f} % reachable")
        if self.requests:
            parts.append(f"{short(self.requests)} requests/s")
        parts += [f"{self.obstacles} obstacles"] if self.obstacles else []
        return ", ".join(parts + ["faults"] * self.faults)

    def summarise(self) -> str:
        """Return movement, load, obstacles and faults in a few words."""
        load = f"{short(self.events)} events/s to {short(self.audience)} nodes each"
        asked = [f"{short(self.requests)} requests/s"] if self.requests else []
        parts = [self.speed] + ([load] if self.audience else asked)
        return ", ".join(parts + ["obstacles"] * bool(self.obstacles) + ["faults"] * self.faults)


def find_conditions(result: CampaignResult, ranking: WorldRanking) -> Conditions:
    """Return the conditions of a world; metrics that depend on the protocol are those of its first one."""
    run = next(row["run"] for row in result.tables["points"] if row["sweep"] == ranking.world)
    plan = next(row for row in result.tables["plan"] if row["run"] == run)
    scenario = json.loads(plan["scenario"])

    def mean(metric: str) -> float:
        rows = (result.values.get((*ranking.place, p, metric)) for p in result.campaign.protocols)
        return next((row["mean"] for row in rows if row is not None), 0.0)

    measured = plan["duration"] - plan["warmup"]
    publications, expected = mean("publications"), mean("expected")
    return Conditions(
        nodes=plan["nodes"],
        neighbours=mean("neighbours"),
        speed=_speed(scenario),
        events=publications / measured,
        audience=expected / publications if publications else 0.0,
        reachable=mean("reachable") / expected if expected else None,
        faults=any(_fails(each) for each in scenario["faults"].values()),
        requests=mean("requests") / measured,
        obstacles=len(scenario["radio"].get("obstacles", [])),
    )


def _speed(scenario: dict[str, Any]) -> str:
    groups = scenario["nodes"].values()
    if any(group["mobility"] == "file" for group in groups):
        return "movement by a trace"
    speeds = [group["speed"][1] for group in groups if group["mobility"] == "waypoint"]
    return f"up to {short(max(speeds))} m/s" if speeds else "static"


def _fails(fault: dict[str, Any]) -> bool:
    """Return whether a fault is a crash or a radio outage; nodes that only enter and leave do not fail."""
    return bool(fault.get("crash") or fault.get("radio"))
