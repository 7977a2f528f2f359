"""roamcast reproduce: run a paper's evaluation and hold its claims against our numbers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from roamcast.errors import UserError


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="As petrovic; or a campaign file.")],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds, few points: minutes, not hours.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds at each point.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Only what a figure needs.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep facts, tables and report here.")] = None,
    master: Annotated[
        str | None, typer.Option(help="A Spark master; by default all processors here.")
    ] = None,
) -> None:
    """Run a paper's campaign and print each claim with the paper's number and ours, held or not held."""
    from roamcast.cli.conducting import conduct_file, finish

    file = find_campaign(paper)
    folder = out or Path("out") / f"{file.stem}{'-quick' * quick}"
    words = ["roamcast", "reproduce", paper, "--out", str(folder)]
    words += ["--quick"] * quick
    words += ["--seeds", str(seeds)] if seeds else []
    words += [word for figure in only or [] for word in ("--only", figure)]
    words += ["--master", master] if master else []
    result = conduct_file(
        file, folder, master=master, seeds=seeds, quick=quick, only=only or [], command=shlex.join(words)
    )
    finish(result)


def find_campaign(paper: str) -> Path:
    """The campaign file of a paper: named itself, in ./campaigns, or in the source tree of this package."""
    import roamcast

    if Path(paper).suffix == ".toml":
        return Path(paper)
    folders = [Path("campaigns"), Path(roamcast.__file__).parents[2] / "campaigns"]
    for folder in folders:
        if (folder / f"{paper}.toml").is_file():
            return folder / f"{paper}.toml"
    known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
    raise UserError(f"no campaign is called {paper!r}; known: {', '.join(known) or 'none here'}")
