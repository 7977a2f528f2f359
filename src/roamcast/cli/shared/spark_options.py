"""The options of commands that start Spark, and of those that run a campaign."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse

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
Warm = Annotated[
    bool | None,
    typer.Option(
        "--warm/--no-warm",
        help="Use the warm session and start it if none runs, or never use it; by default use a running one.",
    ),
]

Replace = Annotated[bool, typer.Option("--overwrite", help="Overwrite results of a different configuration.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit code 1 unless every claim is held and no run failed.")
]

_OPTIONS: dict[str, tuple[Any, object]] = {
    "master": (Master, None),
    "remote": (Remote, None),
    "conf": (Conf, None),
    "ui": (Ui, False),
    "event_log": (EventLog, None),
    "warm": (Warm, None),
}
"Type and default of each option that `spark_command` adds."


def spark_command(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with Spark's options in place of its parameter `where`, a `SparkOptions`."""
    del command.__annotations__["where"]  # its type is not imported before the command runs
    types = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name == "where":
            parameters += [
                inspect.Parameter(option, parameter.kind, default=default, annotation=annotation)
                for option, (annotation, default) in _OPTIONS.items()
            ]
        else:
            parameters.append(parameter.replace(annotation=types[name]))

    @wraps(command)
    def with_options(**values: Any) -> None:
        chosen = {name: values.pop(name) for name in _OPTIONS}
        command(**values, where=choose_session(**chosen))

    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def choose_session(
    master: str | None,
    remote: str | None,
    conf: list[str] | None,
    ui: bool,
    event_log: str | None,
    *,
    warm: bool | None = False,
) -> SparkOptions:
    """Return the Spark options for the command-line options; raise SessionError if they conflict."""
    from pathlib import Path

    from roamcast.pipeline.spark.cluster import SparkOptions, read_settings
    from roamcast.pipeline.spark.errors import SessionError

    own = bool(master or remote or conf or ui or event_log)
    if warm and own:
        raise SessionError("--warm: give the other options of Spark to roamcast session start")

    if master and remote:
        raise SessionError("--master and --remote: give one of them")
    if remote and not remote.startswith("sc://"):
        raise SessionError(f"--remote {remote!r}: expected a Spark Connect URL, sc://HOST:PORT")
    if remote and (ui or event_log):
        raise SessionError("--ui and --event-log cannot be used with --remote: the server decides them")
    if event_log and "://" not in event_log:
        Path(event_log).mkdir(parents=True, exist_ok=True)
        event_log = Path(event_log).absolute().as_uri()
    use = _warm_use(False if own else warm)
    return SparkOptions(master, remote, read_settings(conf or ()), ui, event_log, use)


def optional_session(where: SparkOptions) -> AbstractContextManager[SparkSession | None]:
    """Return the session that the options ask for, or none: a running warm session alone is no request."""
    from roamcast.pipeline.spark.cluster import WarmUse
    from roamcast.pipeline.spark.session import open_session

    return open_session(where) if where.arguments() or where.warm is WarmUse.START else nullcontext()


def _warm_use(warm: bool | None) -> WarmUse:
    """Return whether to use the warm session: by the option, else by ROAMCAST_WARM, else if it runs."""
    from roamcast.pipeline.spark.cluster import WarmUse
    from roamcast.pipeline.spark.errors import SessionError

    if warm is None:
        set_ = os.environ.get("ROAMCAST_WARM", "")
        if set_ not in ("", "0", "1"):
            raise SessionError(f"ROAMCAST_WARM={set_}: expected 1 (start a session), 0 (use none) or nothing")
        if not set_:
            return WarmUse.IF_RUNNING
        warm = set_ == "1"
    return WarmUse.START if warm else WarmUse.NEVER
