"""RAFT-CBR on processes that are killed, over a medium that loses, repeats, reorders and damages datagrams.

An event that was reported as acknowledged is delivered; every event is delivered at most once, and in order
within each life of the publisher.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from roamcast.live.control import ask
from tests.live.medium import until
from tests.live.network import run

ROAMCAST = str(Path(sys.executable).with_name("roamcast"))
TYPE = '\n[types.alert]\nlevel = "integer"\n'
MOST_WAITING = 40
"Publications that are waited for at a time."
CLOCK = """
import os, time
real = time.time
def stepped():
    with open(os.environ["CLOCK"]) as file:
        return real() + float(file.read())
time.time = stepped
"""
"Loaded by each process before anything else: the clock of the day is set by a file."


class UdpMedium:
    """A socket for each ordered pair: what `a` sends to its socket for `b` goes on to `b`, with faults."""

    def __init__(self, edges, seed, loss, duplicates, corruption, delay):
        self.random = Random(seed)
        self.loss, self.duplicates, self.corruption, self.delay = loss, duplicates, corruption, delay
        self.cut = set()
        self.carried = 0
        self.sockets = {(a, b): _bound() for edge in edges for a, b in (edge, edge[::-1])}
        self.homes = {}
        for pair, each in self.sockets.items():
            asyncio.get_running_loop().add_reader(each, self._read, pair, each)

    def peers(self, node):
        return [each.getsockname() for (a, _), each in self.sockets.items() if a == node]

    def _read(self, pair, source):
        while True:
            try:
                data, _ = source.recvfrom(2048)
            except OSError:
                return
            self._carry(pair, bytearray(data))

    def _carry(self, pair, data):
        a, b = pair
        if pair in self.cut or self.random.random() < self.loss:
            return
        self.carried += 1
        if self.random.random() < self.corruption:
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        for _ in range(2 if self.random.random() < self.duplicates else 1):
            wait = self.random.random() * self.delay
            asyncio.get_running_loop().call_later(wait, self._land, (b, a), bytes(data), self.homes[b])

    def _land(self, back, data, home):
        try:
            self.sockets[back].sendto(data, home)
        except OSError:
            self.carried -= 1

    def close(self):
        for each in self.sockets.values():
            asyncio.get_running_loop().remove_reader(each)
            each.close()


def _bound():
    each = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    each.bind(("127.0.0.1", 0))
    each.setblocking(False)
    return each


PAIRS = {
    pair
    for a in range(12)
    for b in (a + 1, a + 4)
    if b < 12 and (b != a + 1 or b % 4)
    for pair in ((a, b), (b, a))
}
"Ordered pairs of neighbours in a grid of four columns and three rows."


class Network:
    """Processes of `roamcast node` over a medium."""

    def __init__(self, folder, count, edges, **faults):
        self.folder, self.processes = folder, {}
        (folder / "sitecustomize.py").write_text(CLOCK)
        self.set_clock(0)
        self.medium = UdpMedium(edges, **faults)
        for node in range(count):
            with _bound() as probe:
                self.medium.homes[node] = probe.getsockname()
        for node, home in self.medium.homes.items():
            peers = [f"{host}:{port}" for host, port in self.medium.peers(node)]
            lines = [
                f'listen = "{home[0]}:{home[1]}"',
                f"peers = {json.dumps(peers)}",
                f'state = "s{node}"',
                f'control = "c{node}"',
                TYPE if node in (0, count - 1) else "",
            ]
            (folder / f"{node}.toml").write_text("\n".join(lines))

    def set_clock(self, offset):
        """Step the clock of all processes by `offset` seconds from that of this machine."""
        draft = self.folder / "clock.new"
        draft.write_text(str(offset))
        draft.replace(self.folder / "clock")

    async def start(self, node):
        environment = {"PYTHONPATH": str(self.folder), "CLOCK": str(self.folder / "clock")}
        self.processes[node] = process = await asyncio.create_subprocess_exec(
            *(ROAMCAST, "node", str(self.folder / f"{node}.toml")),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **environment},
        )
        assert (await process.stdout.readline()).startswith(b"node ")

    async def kill(self, node):
        self.processes[node].send_signal(signal.SIGKILL)
        await self.processes[node].wait()

    def ask(self, node, **request):
        return ask(self.folder / f"c{node}", request)

    async def stop(self):
        for node, process in self.processes.items():
            if process.returncode is None:
                await self.kill(node)
        self.medium.close()


async def keep_promise(folder, columns, rows, kills, events, faults, steps=(), least=0):
    """Publish 20 events/s on node 0 while nodes are killed and restarted; judge what the last node gets.

    `steps`: what else happens when an event is published, as functions of the network. The story ends when
    `least` events are acknowledged and all that survive are delivered.
    """
    count = columns * rows
    edges = [(n, n + 1) for n in range(count) if (n + 1) % columns]
    edges += [(n, n + columns) for n in range(count - columns)]
    network = Network(folder, count, edges, **faults)
    got, acknowledged, published, waiting, subscribed = [], [], [], set(), asyncio.Event()

    async def read():
        async for answer in network.ask(count - 1, do="subscribe", filter="/alert"):
            if "subscribed" in answer:
                subscribed.set()
            else:
                got.append(answer["event"]["alert"]["level"])

    async def publish(level):
        wait = 120 if len(waiting) < MOST_WAITING else 0  # a node has a limited number of clients
        waiting.update([level] if wait else ())
        try:
            request = {"event": {"alert": {"level": level}}, "receivers": 1, "wait": wait}
            async for answer in network.ask(0, do="publish", **request):
                if "published" in answer:
                    published.append(level)
                elif "error" not in answer:
                    acknowledged.append(level)
        finally:
            waiting.discard(level)

    try:
        await asyncio.gather(*(network.start(node) for node in range(count)))
        reader = asyncio.create_task(read())
        await subscribed.wait()  # an event before it may be acknowledged as not wanted
        tasks = []
        for level in range(events):
            if level in steps:
                steps[level](network)
            victim = kills.get(level)
            if victim is not None:
                await network.kill(victim)
                tasks.append(asyncio.create_task(network.start(victim)))
                if victim == 0:
                    await tasks[-1]
            tasks.append(asyncio.create_task(publish(level)))
            await asyncio.sleep(0.05)
        lives = [-1, *(level - 1 for level, victim in sorted(kills.items()) if victim == 0), events - 1]
        survivors = [level for level in published if level > lives[-2]]
        await until(
            lambda: {*survivors, *acknowledged} <= set(got) and len(acknowledged) >= least, seconds=100
        )
        for task in tasks:
            task.cancel()
        reader.cancel()
    finally:
        await network.stop()
    assert len(set(got)) == len(got), "delivered twice"
    for first, last in pairwise(lives):
        part = [level for level in got if first < level <= last]
        assert part == sorted(part), "out of order"
    assert set(acknowledged) <= set(got), "acknowledged and not delivered"
    return got, acknowledged, survivors


def test_relays_and_publisher_are_killed_and_nothing_acknowledged_is_lost(tmp_path):
    async def story():
        faults = {"seed": 1, "loss": 0.1, "duplicates": 0.1, "corruption": 0.02, "delay": 0.005}
        _, acknowledged, survivors = await keep_promise(
            tmp_path, 2, 2, {15: 1, 30: 0, 45: 2}, events=60, faults=faults, least=20
        )
        assert len(survivors) == 30 and len(acknowledged) >= 20

    run(story, 200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_twelve_processes_with_three_relays_and_the_publisher_killed(tmp_path, seed):
    async def story():
        faults = {"seed": seed, "loss": 0.2, "duplicates": 0.1, "corruption": 0.05, "delay": 0.02}
        kills = {60: 5, 110: 6, 160: 1, 220: 0}
        halves = {pair for pair in PAIRS if (pair[0] % 4 < 2) != (pair[1] % 4 < 2)}
        steps = {
            40: lambda network: network.set_clock(3600),
            200: lambda network: network.set_clock(-3600),  # before the publisher restarts
            250: lambda network: network.medium.cut.update(halves),
            650: lambda network: network.medium.cut.clear(),  # after 20 s
        }
        got, acknowledged, survivors = await keep_promise(
            tmp_path, 4, 3, kills, events=700, faults=faults, steps=steps
        )
        assert len(survivors) == 480 and acknowledged
        print(f"seed {seed}: {len(got)} delivered, {len(acknowledged)} acknowledged, of 700")

    run(story, 400)
