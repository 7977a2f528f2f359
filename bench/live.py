"""CPU per frame of a live node against a drained UDP echo with ChaCha20-Poly1305, in one run.

`python -m bench.live`; times are of the processor. The datagrams of a batch are sent before the clock starts,
so that the sender's time does not count.
"""

import asyncio
import math
import os
import socket
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from time import process_time

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from rich.console import Console
from rich.table import Table

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.codec.event_reader import EventReader
from roamcast.content.declare import declare_type
from roamcast.live import Config, Node
from roamcast.live.link.bearer import PeerBearer
from roamcast.live.link.packets import Broadcast, Port, write_packet
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import OVERHEAD, Sealer, fingerprint_protocol
from roamcast.live.security.identity import Identity
from roamcast.live.security.keys import NetworkKey
from roamcast.live.security.signatures import PROOF_BYTES, Signatures, SignedPublication
from roamcast.routing.flooding import Flood, Flooding
from roamcast.wire.fast.writer import encode_fast
from roamcast.wire.publication import Publication

BATCH = 50
BATCHES = 60
FRAME = 256
IN_FLIGHT = 64
"Unacknowledged events of a publisher that sends as fast as it can."
FIELDS = {
    "level": "integer",
    "text": "string",
    "price": "decimal",
    "at": "datetime",
    "urgent": "boolean",
    "place": "string",
}
ALERT = declare_type("alert", FIELDS)


def event(number: int):
    """Return an event of six fields."""
    return ALERT(
        level=number,
        text="high water at the bridge",
        price=1.5,
        at="2026-01-01T12:00:00Z",
        urgent=True,
        place="Wien Mitte",
    )


def _socket() -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.bind(("127.0.0.1", 0))
    bound.setblocking(False)
    return bound


def echo(answer: bool) -> float:
    """Return the CPU time [us] to receive and open a frame and, if `answer`, to seal it again and send it."""
    here, there = _socket(), _socket()
    cipher = ChaCha20Poly1305(bytes(32))
    sealed = cipher.encrypt(bytes(12), bytes(FRAME - OVERHEAD), bytes(29))
    spent = 0.0
    for _ in range(BATCHES):
        for _ in range(BATCH):
            there.sendto(bytes(29) + sealed, here.getsockname())
        begin = process_time()
        for _ in range(BATCH):
            data, address = here.recvfrom(2048)
            body = cipher.decrypt(bytes(12), data[29:], data[:29])
            if answer:
                here.sendto(data[:29] + cipher.encrypt(bytes(12), body, data[:29]), address)
        spent += process_time() - begin
        _empty(there)
    here.close()
    there.close()
    return 1e6 * spent / BATCH / BATCHES


def _empty(source: socket.socket) -> int:
    count = 0
    while True:
        try:
            source.recv(2048)
        except BlockingIOError:
            return count
        count += 1


async def flooding(signed: bool = False, verify: bool = False) -> tuple[float, float]:
    """Return the CPU time [us] of a relay per fresh frame and per duplicate.

    Signed frames have 96 B more; with `verify` the relay verifies them.
    """
    neighbour = _socket()
    bearer = PeerBearer(("127.0.0.1", 0), [neighbour.getsockname()])
    key = NetworkKey.of_open_network("roamcast")
    identity = Identity.generate()
    sender = identity.node
    sealer = Sealer(key, fingerprint_protocol(Flooding.messages), sender, FrameCounters())
    signatures = Signatures(identity, key.network, sign=signed)
    config = Config(protocol="flooding", types={"alert": FIELDS}, parameters={"jitter": "0 s"}, verify=verify)

    async with Node(config, [bearer]) as node:
        home = ("127.0.0.1", bearer.port)

        async def batches(frames: list[bytes], expected: int) -> float:
            spent = 0.0
            for at in range(0, len(frames), BATCH):
                for each in frames[at : at + BATCH]:
                    neighbour.sendto(each, home)
                before = node.link.counts["frames_received"], node.link.counts["broadcast"]
                begin = process_time()
                while (
                    node.link.counts["frames_received"] < before[0] + BATCH
                    or node.link.counts["broadcast"] < before[1] + expected
                ):
                    await asyncio.sleep(0)
                spent += process_time() - begin
                _empty(neighbour)
            return 1e6 * spent / len(frames)

        def frames(first: int, copies: int) -> list[bytes]:
            found = []
            for number in range(first, first + BATCH * BATCHES):
                size = FRAME - OVERHEAD - 2
                plain = Publication(sender, number // copies, event(number // copies), size)
                publication = signatures.sign(plain)
                start = bytes((Port.ROUTER,))
                if isinstance(publication, SignedPublication):
                    start = bytes((Port.SIGNED,)) + publication.proof
                message = encode_fast(Flood(publication))
                found.append(sealer.seal(write_packet(Broadcast(start + message))))
            assert len(found[0]) == FRAME + PROOF_BYTES * signed
            return found

        fresh = await batches(frames(1, 1), BATCH)
        await batches(frames(10**7 * BATCH, BATCH * BATCHES)[:BATCH], 1)
        repeated = await batches(frames(10**7 * BATCH, BATCH * BATCHES), 0)
        assert not node.host.errors and not node.malformed
        assert not node.host.drops["bad_signature"]
    neighbour.close()
    return fresh, repeated


def _free_addresses(count: int) -> list[str]:
    found = [_socket() for _ in range(count)]
    addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in found]
    for each in found:
        each.close()
    return addresses


async def raft(rate: float, events: int) -> float:
    """Return the CPU time [us] of a RAFT-CBR relay per event, in a process of its own."""
    address = _free_addresses(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relay.toml"
        path.write_text(f'listen = "{address[1]}"\npeers = ["{address[0]}", "{address[2]}"]\n')
        relay = subprocess.Popen(
            [str(Path(sys.executable).with_name("roamcast")), "node", str(path)], stdout=subprocess.PIPE
        )
        try:
            assert relay.stdout is not None and relay.stdout.readline()
            types = {"alert": FIELDS}
            ends = [Config(listen=address[n], peers=(address[1],), types=types) for n in (0, 2)]
            async with Node(ends[0]) as publisher, Node(ends[1]) as subscriber:
                subscription = subscriber.subscribe("/alert")
                publisher.advertise("/alert")
                await asyncio.sleep(3)  # the subscription is known
                await (await publisher.publish(event(0))).received_by(1)
                for number in range(200):
                    await publisher.publish(event(number))
                    await asyncio.sleep(0.005)
                begin = _cpu(relay.pid)
                waiting = deque()
                for number in range(events):
                    waiting.append(await publisher.publish(event(number)))
                    if rate < math.inf:
                        await asyncio.sleep(1 / rate)
                    elif len(waiting) >= IN_FLIGHT:
                        await waiting.popleft().acknowledged()
                await waiting.pop().received_by(1)
                spent = _cpu(relay.pid) - begin
                assert subscriber.delivered == events + 201 and subscription.dropped == 0
        finally:
            relay.kill()
            relay.wait()
    return 1e6 * spent / events


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/schedstat").read_text().split()
    return int(fields[0]) / 1e9


async def idle(seconds: float) -> tuple[float, float, float]:
    """Return frames a second, percent of a core and resident MB of an idle RAFT-CBR node with two others."""
    address = _free_addresses(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relay.toml"
        path.write_text(f'listen = "{address[1]}"\npeers = ["{address[0]}", "{address[2]}"]\n')
        relay = subprocess.Popen(
            [str(Path(sys.executable).with_name("roamcast")), "node", str(path)], stdout=subprocess.PIPE
        )
        try:
            assert relay.stdout is not None and relay.stdout.readline()
            types = {"alert": FIELDS}
            ends = [Config(listen=address[n], peers=(address[1],), types=types) for n in (0, 2)]
            async with Node(ends[0]) as publisher, Node(ends[1]) as subscriber:
                subscriber.subscribe("/alert")
                publisher.advertise("/alert")
                await asyncio.sleep(8)
                begin = _cpu(relay.pid), publisher.link.counts["frames_received"]
                await asyncio.sleep(seconds)
                spent = _cpu(relay.pid) - begin[0]
                frames = publisher.link.counts["frames_received"] - begin[1]
            status = Path(f"/proc/{relay.pid}/status").read_text()
            resident = next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)
        finally:
            relay.kill()
            relay.wait()
    return frames / seconds, 100 * spent / seconds, resident / 1024


def decoding() -> tuple[float, float]:
    """Return the CPU time [us] to decode an event of six fields: fast, and by the reference."""
    data, reader = encode_event(event(5)), EventReader({"alert": ALERT})
    times = []
    for decode, count in ((reader.read, 50_000), (lambda data: decode_event(data, {"alert": ALERT}), 5000)):
        begin = process_time()
        for _ in range(count):
            decode(data)
        times.append(1e6 * (process_time() - begin) / count)
    return times[0], times[1]


def main() -> None:
    """Print the table."""
    quick = "--quick" in sys.argv
    table = Table("what", "us", "ratio", "goal")
    opened, echoed = echo(False), echo(True)
    fresh, repeated = asyncio.run(flooding())
    carried, _ = asyncio.run(flooding(signed=True))
    verified, again = asyncio.run(flooding(signed=True, verify=True))
    opened, echoed = (opened + echo(False)) / 2, (echoed + echo(True)) / 2
    fast, reference = decoding()
    rows = [
        ("receive and open 256 B", opened, "", ""),
        ("echo with ChaCha 256 B", echoed, "1", ""),
        ("flooding: forward a fresh frame", fresh, f"{fresh / echoed:.2f} of echo", "2"),
        ("flooding: duplicate", repeated, f"{repeated / opened:.2f} of receive and open", "1.2"),
        ("signed, forward a fresh frame", carried, f"{carried / echoed:.2f} of echo", ""),
        ("signed, verify and forward it", verified, f"{verified / echoed:.2f} of echo", ""),
        ("signed, duplicate", again, f"{again / opened:.2f} of receive and open", ""),
        ("decode an event of 6 fields", fast, f"reference {reference:.1f} us", "5 us"),
    ]
    if not quick:
        for rate, events in ((200, 1000), (math.inf, 2000)):
            spent = asyncio.run(raft(rate, events))
            name = "RAFT-CBR relay, an event"
            name += f" at {rate:g}/s" if rate < math.inf else f", {IN_FLIGHT} in flight"
            rows.append((name, spent, f"{spent / echoed:.2f} of echo", "5"))
    for what, time, ratio, goal in rows:
        table.add_row(what, f"{time:.1f}", ratio, goal)
    console = Console(width=110)
    console.print(table)
    if not quick:
        frames, share, resident = asyncio.run(idle(20))
        console.print(
            f"idle RAFT-CBR node: {frames:.2f} frames/s, {share:.2f} % of a core, {resident:.0f} MB resident"
        )
    console.print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
