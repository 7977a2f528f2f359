"""The command `roamcast node`: run a live node."""

from __future__ import annotations

import asyncio
import json as json_module
import logging
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from roamcast.cli.shared.live import ConfigFile, Json, run
from roamcast.live.config import read_config
from roamcast.live.control import listen
from roamcast.live.node import Node


def command(config: ConfigFile, json: Json = False) -> None:
    """Run a node until it is interrupted.

    The commands `publish`, `subscribe` and `top` reach it through its control socket.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    run(_serve(config, json))


async def _serve(file: Path, json: bool) -> int:
    config = read_config(file)
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(Node(config))
        if config.control is not None:
            await stack.enter_async_context(listen(node, config.control))
        if json:
            record = {"node": node.id, "protocol": config.protocol, "network": node.key.network.hex()}
            print(json_module.dumps(record), flush=True)
        else:
            network = (
                f"open network {config.network}" if node.key.is_open else f"network {node.key.network.hex()}"
            )
            print(f"node {node.id} runs {config.protocol} in {network}", flush=True)
        await asyncio.Event().wait()
    return 0
