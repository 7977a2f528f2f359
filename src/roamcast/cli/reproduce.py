"""roamcast reproduce: run a paper's evaluation and hold its claims against our numbers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="As petrovic; or a campaign file.")],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds, few points: minutes, not hours.")
    ] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="Judge under every reading of what the paper leaves open.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds at each point.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Only what a figure needs.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep facts, tables and report here.")] = None,
    master: Annotated[
        str | None, typer.Option(help="A Spark master; by default all processors here.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Tell the result as one JSON object.")] = False,
) -> None:
    """Run a paper's campaign and print each claim with the paper's number and ours, held or not held."""
    from roamcast.cli.conducting import conduct_file, finish
    from roamcast.scenario.shipped import locate

    file = locate(paper, "campaigns")
    folder = out or Path("out") / f"{file.stem}{'-readings' * readings}{'-quick' * quick}"
    words = ["roamcast", "reproduce", paper, "--out", str(folder)]
    words += ["--readings"] * readings + ["--quick"] * quick
    words += ["--seeds", str(seeds)] if seeds else []
    words += [word for figure in only or [] for word in ("--only", figure)]
    words += ["--master", master] if master else []
    result = conduct_file(
        file,
        folder,
        master=master,
        seeds=seeds,
        quick=quick,
        only=only or [],
        command=shlex.join(words),
        readings=readings,
    )
    finish(result, json)
