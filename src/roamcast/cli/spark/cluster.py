"""The command `roamcast cluster`: check whether a Spark cluster can run campaigns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from roamcast.cli.shared.limits import FAILED
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Remote, Ui, choose_session

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def cluster() -> None:
    """Check whether a Spark cluster can run campaigns."""


@app.command("check")
def check(
    *,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Campaign folder that all executors must reach."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what each executor has, and what it lacks.

    The table has the host, the versions, the kernel and the memory.
    """
    from roamcast.pipeline.spark.check import examine
    from roamcast.pipeline.spark.session import open_session

    where = choose_session(master, remote, conf, ui, event_log)

    def report(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    with open_session(where) as spark:
        found = examine(spark, None if out is None else out.absolute(), report)
    if json:
        import json as format

        print(format.dumps(found.record(), indent=1))
    else:
        for each in found.executors:
            print(
                f"{each.host} ({each.address}): Python {each.python}, Roamcast {each.roamcast or 'none'}, "
                f"kernel {'missing' if each.kernel else 'present'}, "
                f"{each.free / 1e9:.1f} of {each.memory / 1e9:.1f} GB free"
            )
        lacks = found.lacks()
        print("\n".join(f"missing: {line}" for line in lacks) or "nothing is missing")
    if found.lacks():
        raise typer.Exit(FAILED)
