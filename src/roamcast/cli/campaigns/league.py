"""The command `roamcast league`: every protocol in every world."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import MOST_SEEDS
from roamcast.cli.shared.routers import Routers, add_routers, spell_routers
from roamcast.cli.shared.spark_options import Replace, spark_command

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions


@spark_command
def command(
    *,
    worlds: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Shipped scenarios or scenario files; by default ten worlds."),
    ] = None,
    protocols: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Protocols; by default all that are installed."),
    ] = None,
    router: Routers = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds.")] = 10,
    out: Annotated[
        str, typer.Option(help="Results folder for facts, tables and report, or s3://...")
    ] = "out/league",
    markdown: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.md",
            help="Write the league as Markdown, with figures in a folder beside it; in a file with marked "
            "parts, replace only these. May be repeated.",
        ),
    ] = None,
    where: SparkOptions,
    replace: Replace = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run every protocol in every world and rank them: per world, over all worlds, and where each breaks."""
    from roamcast.api.league import make_league
    from roamcast.cli.shared.campaign_command import run_campaign
    from roamcast.cli.shared.league_result import finish
    from roamcast.report.league.markdown import check_parts

    for file in markdown or []:
        check_parts(file)
    added = add_routers(router)
    chosen = None if protocols is None else [*_split(protocols), *added]
    league = make_league(None if worlds is None else _split(worlds), chosen, seeds)
    campaign = league.campaign
    question = {
        "league": {name: str(file) for name, file in campaign.scenarios.items()},
        "protocols": sorted(campaign.protocols),
    }
    words = ["roamcast", "league", "--seeds", str(seeds), "--out", out, *spell_routers(router)]
    words += ["--worlds", worlds] if worlds is not None else []
    words += ["--protocols", protocols] if protocols is not None else []
    for (world, protocol), reason in league.unserved.items():
        print(f"roamcast: {protocol} does not run in {world}: it {reason}", file=sys.stderr)
    command = shlex.join(words + where.arguments())
    result = run_campaign(campaign, out, command, question, where=where, replace=replace)
    finish(result, league.unserved, json, markdown or [])


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
