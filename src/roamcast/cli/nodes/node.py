"""The command `roamcast node`: run a live node."""

from __future__ import annotations

import asyncio
import json as json_module
import logging
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

from roamcast.cli.shared.live import ConfigFile, Json, run
from roamcast.live.config import read_config
from roamcast.live.control import listen
from roamcast.live.errors import LiveError
from roamcast.live.node import Node
from roamcast.live.recording.session import record
from roamcast.live.recording.stream import FactsStream


def command(config: ConfigFile, json: Json = False) -> None:
    """Run a node until it is interrupted.

    The commands `publish`, `subscribe` and `top` reach it through its control socket.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    run(_serve(config, json))


async def _serve(file: Path, json: bool) -> int:
    config = read_config(file)
    async with AsyncExitStack() as stack:
        stream = None if config.facts is None else _stream(config.facts)
        node = await stack.enter_async_context(Node(config, observer=stream))
        if stream is not None:
            await stack.enter_async_context(record(node, stream))
        if config.mqtt is not None:
            from roamcast.live.gateway.gateway import MqttGateway

            await stack.enter_async_context(MqttGateway(node, config.mqtt))
        if config.metrics is not None:
            await stack.enter_async_context(_serve_metrics(node, config.metrics))
        if config.control is not None:
            await stack.enter_async_context(listen(node, config.control))
        if json:
            started = {"node": node.id, "protocol": config.protocol, "network": node.key.network.hex()}
            print(json_module.dumps(started), flush=True)
        else:
            network = (
                f"open network {config.network}" if node.key.is_open else f"network {node.key.network.hex()}"
            )
            print(f"node {node.id} runs {config.protocol} in {network}", flush=True)
        await asyncio.Event().wait()
    return 0


def _stream(folder: Path) -> FactsStream:
    try:
        return FactsStream(folder)
    except ModuleNotFoundError as error:
        raise LiveError(f"facts need {error.name}: pip install 'roamcast[lab]'") from None


def _serve_metrics(node: Node, address: str) -> AbstractAsyncContextManager[int]:
    try:
        from roamcast.live.monitoring.prometheus import serve_metrics
    except ModuleNotFoundError:
        raise LiveError("metrics need prometheus-client: pip install 'roamcast[prometheus]'") from None
    return serve_metrics(node, address)
