"""The options of commands that start Spark, and of those that run a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions

Master = Annotated[
    str | None,
    typer.Option("--master", help="URL of a Spark master; by default all processors of this machine."),
]
Remote = Annotated[
    str | None,
    typer.Option("--remote", metavar="sc://HOST", help="URL of a Spark Connect server, instead of --master."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="Spark setting. May be repeated."),
]
Ui = Annotated[bool, typer.Option("--ui", help="Serve the Spark UI while the command runs.")]
EventLog = Annotated[
    str | None, typer.Option("--event-log", metavar="DIR", help="Write Spark's event log to this folder.")
]

Replace = Annotated[bool, typer.Option("--overwrite", help="Overwrite results of a different configuration.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit code 1 unless every claim is held and no run failed.")
]


def choose_session(
    master: str | None, remote: str | None, conf: list[str] | None, ui: bool, event_log: str | None
) -> SparkOptions:
    """Return the Spark options for the command-line options; raise SessionError if they conflict."""
    from pathlib import Path

    from roamcast.pipeline.spark.cluster import SparkOptions, read_settings
    from roamcast.pipeline.spark.errors import SessionError

    if master and remote:
        raise SessionError("--master and --remote: give one of them")
    if remote and not remote.startswith("sc://"):
        raise SessionError(f"--remote {remote!r}: expected a Spark Connect URL, sc://HOST:PORT")
    if remote and (ui or event_log):
        raise SessionError("--ui and --event-log cannot be used with --remote: the server decides them")
    if event_log and "://" not in event_log:
        Path(event_log).mkdir(parents=True, exist_ok=True)
        event_log = Path(event_log).absolute().as_uri()
    return SparkOptions(master, remote, read_settings(conf or ()), ui, event_log)
