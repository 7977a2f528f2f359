"""Access of a command to a live node: the one that runs with a configuration, or a temporary one."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from roamcast.live.config import Config, read_config
from roamcast.live.control import answers

ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="Configuration of the node, a TOML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


def run(main: Coroutine[Any, Any, int]) -> None:
    """Run a command until it ends, or cancel it after SIGINT or SIGTERM."""

    async def ended() -> int:
        task = asyncio.ensure_future(main)
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            return 130

    code = asyncio.run(ended())
    if code:
        raise typer.Exit(code)


async def choose(
    file: Path,
    running: Callable[[Path], AsyncIterator[dict[str, Any]]],
    own: Callable[[Config], AsyncIterator[dict[str, Any]]],
) -> AsyncIterator[dict[str, Any]]:
    """Yield the answers of the node that runs with this configuration, or of a temporary node."""
    config = read_config(file)
    if config.control is not None and config.control.exists() and await answers(config.control):
        answered = running(config.control)
    else:
        answered = own(config)
    async for answer in answered:
        yield answer
