"""Live nodes work without the compiled kernel."""

import subprocess
import sys

PROGRAM = """
import asyncio, sys
from importlib.abc import MetaPathFinder

class NoKernel(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "roamcast._kernel":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NoKernel())
from roamcast.content.declare import declare_type
from roamcast.live import Config, Node
from roamcast.live.link.bearer import PeerBearer

FIELDS = {"level": "integer", "text": "string", "at": "datetime", "price": "decimal"}
alert = declare_type("alert", FIELDS)

async def story():
    bearers = [PeerBearer(("127.0.0.1", 0), []) for _ in range(3)]
    config = Config(types={"alert": FIELDS})
    async with (
        Node(config, [bearers[0]]) as publisher,
        Node(config, [bearers[1]]),
        Node(config, [bearers[2]]) as other,
    ):
        for a, b in ((0, 1), (1, 2)):
            bearers[a].peers.append(("127.0.0.1", bearers[b].port))
            bearers[b].peers.append(("127.0.0.1", bearers[a].port))
        publisher.advertise("/alert")
        subscription = other.subscribe("/alert[level > 3]")
        receivers = set()
        while not receivers:
            event = alert(level=5, text="x" * 4000, at="2026-01-01T00:00:00Z", price=1.5)
            receivers = await (await publisher.publish(event)).acknowledged()
            await asyncio.sleep(0.05)
        async for found in subscription:
            assert found == event
            break
        assert receivers == {other.id}

asyncio.run(asyncio.wait_for(story(), 60))
assert sys.modules.get("roamcast._kernel") is None
from roamcast.live.security.known_frames import FrameOpener, PlainFrameOpener
assert FrameOpener is PlainFrameOpener
print("delivered")
"""


def test_an_event_is_delivered_over_a_relay_and_acknowledged_without_the_kernel():
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert (completed.returncode, completed.stdout) == (0, "delivered\n"), completed.stderr
