"""Recording of a node that runs by itself: segments every few seconds, table sizes every minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roamcast.live.node import Node
from roamcast.live.recording.stream import FactsStream, NodeDescription

SAMPLE = 60.0
"Seconds between two samples of the sizes of tables."


def describe(node: Node, start: float) -> NodeDescription:
    """Return the description of a node that started at `start` [s]."""
    return NodeDescription(
        node=node.id,
        name=node.config.name,
        incarnation=node.incarnation,
        protocol=node.config.protocol,
        parameters=node.router.parameters.model_dump(mode="json"),
        types=node.config.types,
        start=start,
    )


@asynccontextmanager
async def record(node: Node, stream: FactsStream) -> AsyncIterator[None]:
    """Write the facts of a node whose observer is `stream`."""
    stream.describe(describe(node, time.time()))
    stream.start()
    node.reports["facts"] = stream.report
    sampling = asyncio.create_task(_sample(node, stream))
    try:
        yield
    finally:
        sampling.cancel()
        await stream.close()


async def _sample(node: Node, stream: FactsStream) -> None:
    while True:
        await asyncio.sleep(SAMPLE)
        stream.table_sizes(node.router.tables())
