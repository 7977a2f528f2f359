"""A relay leaves and another takes its place: the subscriber's silence with RAFT-CBR, flooding and Zenoh.

`python -m bench.live_relay_swap [SWAPS] [--zenoh PYTHON]`, as root on Linux; PYTHON is an interpreter with
`eclipse-zenoh`. Each system has four network namespaces, 0-1-3 or 0-2-3, whose TAP devices this process
connects: frames between nodes out of range vanish, as on a radio. All systems run side by side and change
their relay at the same moments.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

from rich.console import Console
from rich.table import Table

RATE = 20.0
"Events a second."
PERIOD = 20.0
"Seconds between swaps, and up to one more: longer than Zenoh needs as installed."
ROLES = ("publisher", "relay", "relay", "subscriber")
EDGES = (frozenset({(0, 1), (1, 3)}), frozenset({(0, 2), (2, 3)}))
"Pairs in range before and after a swap."
DEVICE = "radio0"
TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADER = 0x0002 | 0x1000
FIELDS = {"number": "integer", "text": "string"}
TUNED = {
    "transport": {
        "link": {"tx": {"lease": 500, "keep_alive": 4}},
        "unicast": {"open_timeout": 500, "accept_timeout": 500},
    },
    "connect": {"retry": {"period_init_ms": 100, "period_max_ms": 100, "period_increase_factor": 1}},
}


class Radio:
    """Four nodes of one system: namespaces, their TAP devices, and which of them are in range."""

    def __init__(self, name: str) -> None:
        self.names = [f"{name}-{node}" for node in range(4)]
        self.taps = [_make_namespace(each, node) for node, each in enumerate(self.names)]
        self._addresses: dict[bytes, int] = {}
        self.edges = EDGES[0]

    def start(self) -> None:
        """Carry frames between nodes in range."""
        for node, tap in enumerate(self.taps):
            asyncio.get_running_loop().add_reader(tap, self._carry, node)

    def _carry(self, node: int) -> None:
        frame = os.read(self.taps[node], 2048)
        self._addresses[frame[6:12]] = node
        only = None if frame[0] & 1 else self._addresses.get(frame[:6])
        for other, tap in enumerate(self.taps):
            if (min(node, other), max(node, other)) in self.edges and only in {None, other}:
                os.write(tap, frame)

    def close(self) -> None:
        """Remove namespaces and devices."""
        for name, tap in zip(self.names, self.taps, strict=True):
            asyncio.get_running_loop().remove_reader(tap)
            os.close(tap)
            _ip("netns", "del", name)


def _ip(*arguments: str, inside: str = "") -> None:
    subprocess.run(["ip", *(["-n", inside] if inside else []), *arguments], check=True)


def _make_namespace(name: str, node: int) -> int:
    """Return the descriptor of a TAP device that is the only device of a new namespace."""
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    created = fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"", TAP_WITHOUT_HEADER))
    device = created[:16].rstrip(b"\0").decode()
    _ip("netns", "add", name)
    _ip("link", "set", device, "netns", name)
    _ip("link", "set", device, "name", DEVICE, inside=name)
    for setting in ("accept_dad", "dad_transmits"):
        path = f"/proc/sys/net/ipv6/conf/{DEVICE}/{setting}"
        subprocess.run(["ip", "netns", "exec", name, "sh", "-c", f"echo 0 > {path}"], check=True)
    _ip("addr", "add", f"10.77.0.{node + 1}/24", "dev", DEVICE, inside=name)
    _ip("link", "set", "lo", "up", inside=name)
    _ip("link", "set", DEVICE, "up", inside=name)
    return tap


def command(system: str, node: int, zenoh: str) -> list[str]:
    """Return the command that runs a node."""
    if not system.startswith("zenoh"):
        return [sys.executable, "-m", "bench.live_relay_swap", "--node", system, ROLES[node]]
    config: dict[str, object] = {"mode": "router", "listen": {"endpoints": ["tcp/0.0.0.0:7447"]}}
    config["connect"] = {}
    if system == "zenoh-tuned":
        config |= json.loads(json.dumps(TUNED))
    if node in {0, 3}:
        connect = config["connect"]
        assert isinstance(connect, dict)
        connect["endpoints"] = ["tcp/10.77.0.2:7447", "tcp/10.77.0.3:7447"]
    return [zenoh, "bench/zenoh_node.py", ROLES[node], json.dumps(config), str(RATE)]


async def live_node(protocol: str, role: str) -> None:
    """Run a live node until the process is killed."""
    from roamcast.content.declare import declare_type
    from roamcast.live import Config, Node

    event = declare_type("event", FIELDS)
    async with Node(Config(protocol=protocol, interfaces=(DEVICE,), types={"event": FIELDS})) as node:
        if role == "relay":
            await asyncio.Event().wait()
        if role == "subscriber":
            async for found in node.subscribe("/event"):
                print(found["number"], time.monotonic(), flush=True)
        node.advertise("/event")
        await asyncio.sleep(3)
        number, start = 0, time.monotonic()
        while True:
            print(number, time.monotonic(), flush=True)
            await node.publish(event(number=number, text="x" * 180))
            number += 1
            await asyncio.sleep(max(start + number / RATE - time.monotonic(), 0))


async def measure(swaps: int, systems: list[str], zenoh: str) -> None:
    """Run all systems side by side and print the table."""
    random = Random("1/swaps")
    moments: list[float] = []
    radios = {system: Radio(f"swap-{system}") for system in systems}
    processes: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for system, radio in radios.items():
                radio.start()
                for node, name in enumerate(radio.names):
                    with (Path(folder) / name).open("wb") as out:
                        inside = ["ip", "netns", "exec", name, *command(system, node, zenoh)]
                        processes.append(subprocess.Popen(inside, stdout=out))
            await asyncio.sleep(20)
            for swap in range(swaps):
                await asyncio.sleep(random.random())
                moments.append(time.monotonic())
                for radio in radios.values():
                    radio.edges = EDGES[(swap + 1) % 2]
                await asyncio.sleep(PERIOD)
        finally:
            for process in processes:
                process.kill()
                process.wait()
            for radio in radios.values():
                radio.close()
        table = Table("system", "silence median", "most", "events", "lost", "twice", "in order")
        for system, radio in radios.items():
            sent, got = (_lines(Path(folder) / radio.names[node]) for node in (0, 3))
            table.add_row(system, *_row(sent, got, moments))
            print(system, *(f"{each:.2f}" for each in silences(got, moments)))
    Console(width=110).print(table)
    print(f"{swaps} swaps, load {os.getloadavg()[0]:.1f}")


def _lines(path: Path) -> list[tuple[int, float]]:
    """Return the numbers and times of the events that a node has written."""
    return [(int(number), float(at)) for number, at in map(str.split, path.read_text().splitlines())]


def silences(got: list[tuple[int, float]], moments: list[float]) -> list[float]:
    """Return the longest time without a delivery around each swap, from a second after it at the latest."""
    times = [at for _, at in got]
    return [max((b - a for a, b in pairwise(times) if b > m and a < m + 1), default=0.0) for m in moments]


def _row(sent: list[tuple[int, float]], got: list[tuple[int, float]], moments: list[float]) -> list[str]:
    """Return the cells of a system: events from the first one received to a second before the end."""
    numbers = [number for number, _ in got]
    counted = {number for number, at in sent if number >= numbers[0] and at < moments[-1] + PERIOD - 1}
    found = silences(got, moments)
    twice = len(numbers) - len(set(numbers))
    ordered = all(a < b for a, b in pairwise(numbers))
    lost = len(counted.difference(numbers))
    cells = (f"{median(found):.2f} s", f"{max(found):.2f} s", len(counted), lost, twice, ordered)
    return [str(each) for each in cells]


def main() -> None:
    """Measure, or run one node."""
    if sys.argv[1:2] == ["--node"]:
        asyncio.run(live_node(sys.argv[2], sys.argv[3]))
        return
    arguments, zenoh = sys.argv[1:], ""
    if "--zenoh" in arguments:
        at = arguments.index("--zenoh")
        zenoh = arguments[at + 1]
        del arguments[at : at + 2]
    systems = ["raft-cbr", "flooding", *(["zenoh", "zenoh-tuned"] if zenoh else [])]
    asyncio.run(measure(int(arguments[0]) if arguments else 20, systems, zenoh))


if __name__ == "__main__":
    main()
