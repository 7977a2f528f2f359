"""The check of a scenario without running it, for the command `check` and the studio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.scenario.read import load

if TYPE_CHECKING:
    from roamcast.scenario.model import Scenario


def check_scenario(file: Path, text: str | None = None) -> tuple[Scenario, str]:
    """Return the scenario in a file and a sentence about it; raise UserError with every problem found.

    `text` replaces the content of the file, which need not exist then.
    """
    from roamcast.sim.interest import subscribers
    from roamcast.sim.run import dry_run
    from roamcast.sim.workload import plan

    scenario = load(file, text=text)
    for protocol in scenario.protocols or ("flooding",):
        dry_run(scenario, protocol, str(file))
    publications = len(plan(scenario, seed=1).publications)
    subscribed = len(subscribers(scenario, seed=1))
    summary = (
        f"a scenario of {scenario.count} nodes for {scenario.duration:g} s; with seed 1, "
        f"{publications} publications and {subscribed} subscribers"
    )
    return scenario, summary
