"""A comparison of protocols in one scenario, as a campaign of one sweep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from roamcast.campaign.campaign import Campaign, GoalName
from roamcast.errors import UserError
from roamcast.routing.catalogue import find, working
from roamcast.units import parse_time

if TYPE_CHECKING:
    from roamcast.scenario.model import Scenario


def make_comparison(
    name: str,
    file: Path,
    protocols: Iterable[str],
    seeds: int,
    settings: Mapping[str, Any],
    *,
    goal: str = "delivery",
    deadline: float | None = None,
) -> Campaign:
    """Return the campaign that compares `protocols` in the scenario `file`, titled with `name`.

    `goal` decides which protocol is best; deliveries later than `deadline` [s] count as lost.
    """
    if goal not in get_args(GoalName):
        raise UserError(f"goal {goal!r}: expected {', '.join(get_args(GoalName))}")
    chosen = list(protocols)
    if len(set(chosen)) != len(chosen) or not all(chosen):
        raise UserError(f"protocols {','.join(chosen)!r}: name each protocol once, as in cbr,flooding")
    for each in chosen:
        find(each)
    return Campaign.model_validate(
        {
            "title": f"Comparison of protocols in {name}",
            "scenario": file,
            "seeds": seeds,
            "protocols": {each: {} for each in chosen},
            "goal": goal,
            "measure": {"deadline": deadline},
            "sweeps": {"scenario": {"protocols": chosen, "set": dict(settings)}},
        }
    )


def read_deadline(text: str) -> float:
    """Return a deadline such as "2 s" in seconds; raise UserError unless it is a time above 0."""
    seconds = parse_time(text)
    if not 0 < seconds < math.inf:
        raise UserError(f"deadline {text!r}: expected a time above 0, as in '2 s'")
    return seconds


def choose_able(scenario: Scenario) -> tuple[list[str], list[str]]:
    """Return the protocols that can run in a scenario, and one sentence per reason for the others."""
    able, broken = working()
    left_out = [f"warning: left out: {reason}" for reason in broken.values()]
    lost = [] if scenario.location else [name for name in able if find(name).needs_location]
    if lost:
        reason = f"they need positions, and {scenario.name} does not set location = true"
        left_out.append(f"left out {', '.join(lost)}: {reason}")
    return [name for name in able if name not in lost], left_out
