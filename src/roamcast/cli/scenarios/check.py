"""The command `roamcast check`: validate scenario and campaign files without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from roamcast.api.checking import check_scenario
from roamcast.cli.shared.routers import Routers, add_routers
from roamcast.errors import UserError
from roamcast.scenario.read import read_toml
from roamcast.scenario.shipped import locate, shipped


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Scenario or campaign files, or names of shipped scenarios and campaigns."
        ),
    ],
    router: Routers = None,
) -> None:
    """Check scenario and campaign files, and the files they name, without running them."""
    add_routers(router)
    wrong = 0
    for name in files:
        try:
            file = _locate(name)
            _, data = read_toml(file)
            summary = _check_campaign(file) if "sweeps" in data else check_scenario(file)[1]
            print(f"{name}: {summary}")
        except UserError as error:
            wrong += 1
            print(f"roamcast: {error}", file=sys.stderr)
    if wrong:
        raise typer.Exit(2)


def _locate(name: str) -> Path:
    """Return the file at the path `name`, or the shipped campaign or scenario of this name."""
    kind = "campaigns" if name in shipped("campaigns") else "scenarios"
    return locate(name, kind)


_MAX_DRY_RUNS = 200
"Maximum number of points of a campaign that are tried in a dry run; the other points are only planned."


def _check_campaign(file: Path) -> str:
    from roamcast.campaign.plan import check_campaign
    from roamcast.scenario.model import Scenario
    from roamcast.sim.run import dry_run

    plan = check_campaign(file)
    points = {(run.scenario, run.router): run for run in plan.runs}
    for run in list(points.values())[:_MAX_DRY_RUNS]:
        dry_run(Scenario.model_validate_json(run.scenario), run.router, f"{file}: {run.command}")
    return f"a campaign of {len(plan.runs)} runs at {len({place.point for place in plan.places})} points"
