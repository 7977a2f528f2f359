"""The command `roamcast session`: keep a Spark session warm for the next commands."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.shared.limits import FAILED
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Ui, choose_session

if TYPE_CHECKING:
    from roamcast.pipeline.warm.runtime import SessionRecord

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("start")
def start(
    *,
    idle: Annotated[str, typer.Option(help="Time without use after which the session ends.")] = "30 min",
    master: Master = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    json: Json = False,
) -> None:
    """Start a Spark Connect server on this machine, if none runs.

    The server is prepared for commands. A server that runs another version of the code is replaced, unless a
    command is using it.
    """
    from roamcast.pipeline.warm import client
    from roamcast.pipeline.warm.preparing import prepare
    from roamcast.units import parse_time

    options = choose_session(master, None, conf, ui, event_log)
    record = client.start(options, max(parse_time(idle), 1.0))
    prepare()
    _show(record, json)


@app.command("stop")
def stop(json: Json = False) -> None:
    """Stop the session; commands that use it end with an error."""
    from roamcast.pipeline.warm import client

    found = client.stop()
    if json:
        print(json_.dumps({"stopped": None if found is None else found.pid}))
    else:
        print("no session was running" if found is None else f"stopped process {found.pid}")


@app.command("status")
def status(json: Json = False) -> None:
    """Show the running session; exit code 3 if there is none. With --json also its URL for notebooks."""
    from roamcast.pipeline.warm import client

    found = client.find()
    if found is not None:
        _show(found, json)
        return
    print("null" if json else "no session is running; start one with: roamcast session start")
    raise typer.Exit(FAILED)


def _show(record: SessionRecord, json: bool) -> None:
    from roamcast.pipeline.warm.client import in_use
    from roamcast.pipeline.warm.identity import session_identity

    same = record.identity == session_identity()
    if json:
        record_json: dict[str, Any] = {"pid": record.pid, "url": record.url, "master": record.master}
        record_json |= {"version": record.version, "same_code": same, "idle": record.idle, "in_use": in_use()}
        print(json_.dumps(record_json))
        return
    print(
        f"process {record.pid}, {record.master}, Roamcast {record.version}, "
        f"ends after {record.idle:g} s without use"
    )
    if not same:
        print("it has other code or another environment than this command, which will not use it")
