"""The command `roamcast reproduce`: run a paper's evaluation and judge its claims."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import MOST_SEEDS
from roamcast.cli.shared.routers import Routers, spell_routers
from roamcast.cli.shared.spark_options import Replace, Strict, spark_command

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions


@spark_command
def command(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="Name of a shipped campaign, for example petrovic, or a campaign file."
        ),
    ],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run few seeds and points: minutes instead of hours.")
    ] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="Judge the claims under all readings of the paper.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds at each point.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="FIGURE", help="Run only what this figure needs. May be repeated."),
    ] = None,
    router: Routers = None,
    out: Annotated[
        str | None, typer.Option(help="Results folder for facts, tables and report, or s3://...")
    ] = None,
    where: SparkOptions,
    replace: Replace = False,
    strict: Strict = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run a paper's campaign and print each claim with our number and its verdict."""
    from roamcast.cli.shared.campaign_command import finish, run_campaign_file
    from roamcast.scenario.shipped import locate

    file = locate(paper, "campaigns")
    folder = out or f"out/{file.stem}{'-readings' * readings}{'-quick' * quick}"
    words = ["roamcast", "reproduce", paper, "--out", folder]
    words += ["--readings"] * readings + ["--quick"] * quick
    words += ["--seeds", str(seeds)] if seeds else []
    words += [word for figure in only or [] for word in ("--figure", figure)]
    words += spell_routers(router)
    words += where.arguments()
    result = run_campaign_file(
        file,
        folder,
        where=where,
        seeds=seeds,
        quick=quick,
        only=only or [],
        replace=replace,
        command=shlex.join(words),
        readings=readings,
        routers=router or [],
    )
    finish(result, json, strict)
