"""roamcast reproduce: run a paper's evaluation and hold its claims against our numbers."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from roamcast.cli.shared.limits import MOST_SEEDS
from roamcast.cli.shared.sparking import Conf, EventLog, Master, Remote, Replace, Strict, Ui, choose


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="As petrovic; or a campaign file.")],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds, few points: minutes, not hours.")
    ] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="Judge under every reading of what the paper leaves open.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, max=MOST_SEEDS, help="Seeds at each point.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Only what a figure needs.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Keep facts, tables and report here: a folder or s3://...")
    ] = None,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    replace: Replace = False,
    strict: Strict = False,
    json: Annotated[bool, typer.Option("--json", help="Tell the result as one JSON object.")] = False,
) -> None:
    """Run a paper's campaign and print each claim with the paper's number and ours, held or not held."""
    from roamcast.cli.shared.conducting import conduct_file, finish
    from roamcast.scenario.shipped import locate

    file = locate(paper, "campaigns")
    folder = out or f"out/{file.stem}{'-readings' * readings}{'-quick' * quick}"
    words = ["roamcast", "reproduce", paper, "--out", folder]
    words += ["--readings"] * readings + ["--quick"] * quick
    words += ["--seeds", str(seeds)] if seeds else []
    words += [word for figure in only or [] for word in ("--only", figure)]
    where = choose(master, remote, conf, ui, event_log)
    words += where.words()
    result = conduct_file(
        file,
        folder,
        where=where,
        seeds=seeds,
        quick=quick,
        only=only or [],
        replace=replace,
        command=shlex.join(words),
        readings=readings,
    )
    finish(result, json, strict)
