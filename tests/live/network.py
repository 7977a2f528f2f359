"""Live nodes on loopback sockets in one process."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

from roamcast.content.declare import declare_type
from roamcast.live import Config, Node
from roamcast.live.link.bearer import PeerBearer

FIELDS = {"level": "integer", "text": {"kind": "string", "optional": True}}
ALERT = declare_type("alert", FIELDS)


def alert(level, text=None):
    return ALERT(level=level, text=text)


@asynccontextmanager
async def network(nodes, edges, **settings):
    """Start nodes, joined by `edges`; settings that are lists have one value per node."""
    async with AsyncExitStack() as stack:
        bearers = [PeerBearer(("127.0.0.1", 0), []) for _ in range(nodes)]
        started = []
        for number, bearer in enumerate(bearers):
            mine = {
                key: value[number] if isinstance(value, list) else value for key, value in settings.items()
            }
            config = Config(**{"types": {"alert": FIELDS}, "name": f"n{number}", **mine})
            started.append(await stack.enter_async_context(Node(config, [bearer])))
        for a, b in edges:
            join(bearers[a], bearers[b])
        yield started
        assert [node.host.errors for node in started] == [0] * nodes


async def collect(subscription, got):
    """Append the levels of all events."""
    async for event in subscription:
        got.append(event["level"])


def join(a, b):
    a.peers.append(("127.0.0.1", b.port))
    b.peers.append(("127.0.0.1", a.port))


def line(count):
    return [(n, n + 1) for n in range(count - 1)]


def run(story, seconds=120):
    asyncio.run(asyncio.wait_for(story(), seconds))
