"""What datagrams of strangers cost a live node, and how long absurd messages with the key take.

`python -m bench.live_strangers`; a RAFT-CBR node in a process of its own, times of the processor.
"""

import asyncio
import gc
import logging
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import perf_counter, process_time, sleep

from bench.live import FIELDS, _cpu, _free_addresses, event
from roamcast.live import Config, Node
from roamcast.live.link.bearer import Bearer
from roamcast.live.link.packets import Broadcast, Port, write_packet
from roamcast.live.monitoring.view import view
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import VERSION, Sealer, fingerprint_protocol
from roamcast.live.security.keys import NetworkKey
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.wire.errors import WireError
from roamcast.wire.fast.writer import encode_fast
from roamcast.wire.fields import GenerationContext
from roamcast.wire.message import generate
from roamcast.wire.publication import Publication

SECONDS = 8.0
KEY = NetworkKey.of_open_network("roamcast")
PROTOCOL = fingerprint_protocol(RaftCbr.messages)


def without_key(size: int) -> Iterator[bytes]:
    """Yield frames with the header of this network, of new senders and epochs, that nobody sealed."""
    r = Random(1)
    while True:
        head = bytes((VERSION,)) + KEY.network + PROTOCOL + r.randbytes(20)
        yield head + r.randbytes(size - len(head))


def random_bytes(size: int) -> Iterator[bytes]:
    """Yield random datagrams."""
    r = Random(2)
    while True:
        yield r.randbytes(size)


def replayed(size: int) -> Iterator[bytes]:
    """Yield one authentic frame again and again."""
    frame = Sealer(KEY, PROTOCOL, 77, FrameCounters()).seal(write_packet(Broadcast(bytes(size - 47))))
    while True:
        yield frame


async def share(datagrams: Iterator[bytes], bits: float) -> float:
    """Return the percentage of a core that datagrams at a rate cost a node, beyond what it spends idle."""
    [address] = _free_addresses(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "node.toml"
        path.write_text(f'listen = "{address}"\npeers = []\n')
        node = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("roamcast")),
            "node",
            str(path),
            stdout=asyncio.subprocess.PIPE,
        )
        assert node.stdout is not None and await node.stdout.readline()
        try:
            begin = _cpu(node.pid)
            sleep(3)
            idle = (_cpu(node.pid) - begin) / 3
            host, port = address.split(":")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                begin, start, sent = _cpu(node.pid), perf_counter(), 0
                while perf_counter() < start + SECONDS:
                    data = next(datagrams)
                    source.sendto(data, (host, int(port)))
                    sent += 8 * len(data)
                    sleep(max(start + sent / bits - perf_counter(), 0))
                spent = (_cpu(node.pid) - begin) / SECONDS
        finally:
            node.kill()
            await node.wait()
    return 100 * (spent - idle)


class _Silent(Bearer):
    """A bearer that sends nothing."""

    def start(self, arrive: Callable[..., None], drained: Callable[[], None]) -> None:
        """Keep what is called with each datagram."""
        self.arrive, self.drained = arrive, drained

    def broadcast(self, data: bytes) -> None:
        """Send nothing."""

    def send(self, data: bytes, address: tuple[object, ...]) -> None:
        """Send nothing."""


def _resident() -> float:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


async def million() -> tuple[float, float, dict[str, int]]:
    """Give a node a million datagrams; return us each, growth of memory [MB] and what it counted."""
    bearer = _Silent()
    async with Node(Config(types={"alert": FIELDS}), [bearer]) as node:
        sources = [random_bytes(200), without_key(200), replayed(200)]
        for each in sources:
            for _ in range(2000):
                bearer.arrive(next(each), ("x",))
        before, spent = _resident(), 0.0
        for _ in range(1000):
            batch = [next(sources[number % 3]) for number in range(1000)]
            begin = process_time()
            for data in batch:
                bearer.arrive(data, ("x",))
            spent += process_time() - begin
        grown = _resident() - before
        counted = view(node)["refused"]
    return spent, grown, counted


async def absurd(count: int) -> tuple[list[tuple[float, str]], int]:
    """Give a node generated messages with the key; return the longest times [ms] and the router's errors."""
    logging.disable(logging.CRITICAL)
    bearer = _Silent()
    r = Random(3)
    types = {"alert": FIELDS}
    async with Node(Config(types=types), [bearer]) as node:
        node.subscribe("/alert")
        node.advertise("/alert")
        alert = node.types.by_name["alert"]
        big = alert(level=1, text="x" * 48_000, price=0.0, at="2026-01-01T00:00:00Z", urgent=False, place="")
        context = GenerationContext(
            r,
            nodes=(node.id, 1, 2, 3, 2**31 - 1),
            patterns=[alert.level > n for n in range(50)],
            publications=[
                Publication(1, 5, event(1), 0),
                Publication(node.id, 5, event(1), 0),
                Publication(2, 2**32 - 1, big, 0),
            ],
            messages=RaftCbr.messages,
        )
        times = []
        for number in range(count):
            kind = r.choice(RaftCbr.messages)
            try:
                data = bytearray(encode_fast(generate(kind, context)))
            except WireError:  # more than a message may have
                continue
            if number % 3 == 0:
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            begin = process_time()
            node.received(Port.ROUTER, bytes(data), r.choice((1, 2, 3)))
            times.append((1000 * (process_time() - begin), f"{kind.__name__}, {len(data)} B"))
            if number % 100 == 0:
                await asyncio.sleep(0.001)
        errors = node.host.errors
    return sorted(times, reverse=True)[:5], errors


def main() -> None:
    """Print the figures; with `--quick` without those that need processes."""
    kinds = [("without key", without_key), ("random", random_bytes), ("replayed", replayed)]
    for name, make in [] if "--quick" in sys.argv else kinds:
        for size in (256, 64):
            found = asyncio.run(share(make(size), 1e6))
            print(f"1 Mb/s {name}, {size} B: {found:.2f} % of a core", flush=True)
    spent, grown, counted = asyncio.run(million())
    print(f"a million datagrams: {spent:.2f} us each, memory grew by {grown:.2f} MB; counted {counted}")
    longest, errors = asyncio.run(absurd(6000))
    print(f"absurd messages with the key: {errors} exceptions; the longest took")
    for time, what in longest:
        print(f"  {time:.2f} ms: {what}")


if __name__ == "__main__":
    main()
