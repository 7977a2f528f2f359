"""The command `roamcast subscribe`: print events as a live node receives them."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import typer

from roamcast.cli.shared.live import ConfigFile, Json, choose, run
from roamcast.live.config import Config
from roamcast.live.control import ask, describe
from roamcast.live.node import Node


def command(
    config: ConfigFile,
    filter: Annotated[str, typer.Argument(metavar="FILTER", help="In XPath: /alert[level > 3].")],
    count: Annotated[int, typer.Option(min=0, help="Stop after this number of events; 0: never.")] = 0,
    json: Json = False,
) -> None:
    """Print events of the node that runs with CONFIG, or of a temporary node."""
    run(_subscribe(config, filter, count, json))


async def _subscribe(file: Path, filter: str, count: int, json: bool) -> int:
    def running(control: Path) -> AsyncIterator[dict[str, Any]]:
        return ask(control, {"do": "subscribe", "filter": filter})

    async def own(config: Config) -> AsyncIterator[dict[str, Any]]:
        async with Node(config) as node, node.subscribe(filter) as subscription:
            yield {"subscribed": str(subscription.filter)}
            while True:
                yield describe(await subscription.next_publication())

    found = 0
    async with aclosing(choose(file, running, own)) as answers:  # type: ignore[type-var]
        async for answer in answers:
            if "error" in answer:
                print(f"roamcast: {answer['error']}", file=sys.stderr)
                return 2
            if json:
                print(json_module.dumps(answer), flush=True)
            elif "event" in answer:
                print(json_module.dumps(answer["event"], ensure_ascii=False), flush=True)
            else:
                print(f"subscribed to {answer['subscribed']}", flush=True)
            found += "event" in answer
            if count and found >= count:
                return 0
    return 0
