"""The command `roamcast publish`: publish one event on a live node."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import typer

from roamcast.cli.shared.live import ConfigFile, Json, choose, run
from roamcast.live.config import Config
from roamcast.live.control import ask
from roamcast.live.control import publish as publish_event
from roamcast.live.errors import LiveError
from roamcast.live.node import Node


def command(
    config: ConfigFile,
    event: Annotated[str, typer.Argument(metavar="EVENT", help='In JSON: {"alert": {"level": 5}}.')],
    receivers: Annotated[int, typer.Option(min=0, help="Number of acknowledging nodes to wait for.")] = 1,
    wait: Annotated[
        float, typer.Option(min=0, max=86400, help="Maximum time to wait for them [s]; 0: do not wait.")
    ] = 30.0,
    json: Json = False,
) -> None:
    """Publish an event on the node that runs with CONFIG, or on a temporary node.

    The exit code is 1 if it was not acknowledged in time.
    """
    try:
        content = json_module.loads(event)
    except ValueError as error:
        raise LiveError(f"the event is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise LiveError('an event in JSON is an object with one key, its type: {"alert": {"level": 5}}')
    run(_publish(config, content, receivers, wait, json))


async def _publish(file: Path, event: dict[str, Any], receivers: int, wait: float, json: bool) -> int:
    def running(control: Path) -> AsyncIterator[dict[str, Any]]:
        return ask(control, {"do": "publish", "event": event, "receivers": receivers, "wait": wait})

    async def own(config: Config) -> AsyncIterator[dict[str, Any]]:
        async with Node(config) as node:
            async for answer in publish_event(node, event, wait, receivers):
                yield answer

    code = 0
    async for answer in choose(file, running, own):
        if json:
            print(json_module.dumps(answer), flush=True)
        if "error" in answer:
            code = 1 if "acknowledged" in answer else 2
            if not json:
                print(f"roamcast: {answer['error']}", file=sys.stderr)
        elif not json and "published" in answer:
            print(f"published {answer['published']}", flush=True)
        elif not json:
            print(f"acknowledged by {', '.join(map(str, answer['acknowledged'])) or 'no node'}", flush=True)
    return code
