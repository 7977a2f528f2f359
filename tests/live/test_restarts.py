"""A relay, or the publisher, is killed and restarted at once: how long the subscriber hears nothing.

`python -m tests.live.test_restarts 5` prints the silence of so many restarts of each.
"""

import asyncio
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from roamcast.live import Config, Node
from tests.live.gateway.brokers import free_port
from tests.live.network import FIELDS, run

ROAMCAST = str(Path(sys.executable).with_name("roamcast"))
RATE = 20
PUBLISHER = f"""
import asyncio, sys
from pathlib import Path
from roamcast.live import Node, read_config
from roamcast.content.declare import declare_type

async def main():
    config = read_config(Path(sys.argv[1]))
    alert = declare_type("alert", config.types["alert"])
    async with Node(config) as node:
        print("node", flush=True)
        level = 0
        while True:
            await node.publish(alert(level=level))
            level += 1
            await asyncio.sleep(1 / {RATE})

asyncio.run(main())
"""


def write(folder, name, port, peers):
    listed = ", ".join(f'"127.0.0.1:{each}"' for each in peers)
    lines = [f'listen = "127.0.0.1:{port}"', f"peers = [{listed}]", f'state = "{name}"', "[types.alert]"]
    lines += ['level = "integer"', 'text = { kind = "string", optional = true }']
    (folder / f"{name}.toml").write_text("\n".join(lines))


async def silence(folder, which):
    """Return the longest silence around a restart [s], and the levels heard."""
    ports = [free_port() for _ in range(3)]
    write(folder, "publisher", ports[0], [ports[1]])
    write(folder, "relay", ports[1], [ports[0], ports[2]])
    commands = {
        "publisher": (sys.executable, "-c", PUBLISHER, str(folder / "publisher.toml")),
        "relay": (ROAMCAST, "node", str(folder / "relay.toml")),
    }
    running = {}

    async def start(name):
        running[name] = await asyncio.create_subprocess_exec(
            *commands[name], stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        await running[name].stdout.readline()

    config = Config.model_validate(
        {"listen": f"127.0.0.1:{ports[2]}", "peers": [f"127.0.0.1:{ports[1]}"], "types": {"alert": FIELDS}}
    )
    times, levels = [], []

    async def read(subscription):
        async for event in subscription:
            times.append(time.monotonic())
            levels.append(event["level"])

    try:
        async with Node(config) as node:
            reader = asyncio.create_task(read(node.subscribe("/alert")))
            for name in commands:
                await start(name)
            while len(times) < 2 * RATE:
                await asyncio.sleep(0.05)
            killed = time.monotonic()
            running[which].send_signal(signal.SIGKILL)
            await running[which].wait()
            await start(which)
            restarted = time.monotonic()
            while not times or times[-1] < restarted + 2:
                await asyncio.sleep(0.05)
            reader.cancel()
    finally:
        for process in running.values():
            if process.returncode is None:
                process.kill()
                await process.wait()
    after = [each for each in times if each > killed - 0.2]
    gaps = [later - earlier for earlier, later in pairwise(after)]
    return max(gaps), restarted - killed, levels


@pytest.mark.slow
@pytest.mark.parametrize(("which", "most"), [("relay", 1.0), ("publisher", 3.0)])
def test_the_silence_after_a_restart_is_short(tmp_path, which, most):
    """Less what the process itself takes to start, which a busy machine stretches."""

    async def story():
        longest, starting, levels = await silence(tmp_path, which)
        assert longest - starting < most
        if which == "relay":
            assert levels == list(range(levels[0], levels[0] + len(levels)))

    run(story)


if __name__ == "__main__":
    for name in ("relay", "publisher"):
        for _ in range(int(sys.argv[1])):
            with TemporaryDirectory() as place:
                longest, starting, _ = asyncio.run(silence(Path(place), name))
                print(f"{name}: silence {longest:.2f} s, of which {starting:.2f} s until the process runs")
