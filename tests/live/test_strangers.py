"""Datagrams of strangers and absurd messages of insiders: counted, bounded, and never an exception."""

import asyncio
import gc
import socket
from random import Random
from time import process_time

import pytest

from roamcast.live import Config, Node
from roamcast.live.link.bearer import PeerBearer
from roamcast.live.link.packets import Broadcast, Port, write_packet
from roamcast.live.monitoring.view import view
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import VERSION, Sealer, fingerprint_protocol
from roamcast.live.security.keys import NetworkKey
from roamcast.routing.reference import own_protocols
from roamcast.wire.errors import WireError
from roamcast.wire.fast.writer import encode_fast
from roamcast.wire.fields import GenerationContext
from roamcast.wire.message import generate
from roamcast.wire.publication import Publication
from tests.live.medium import Medium, until
from tests.live.network import FIELDS, alert, run

KEY = NetworkKey.of_open_network("roamcast")


def test_strangers_are_counted_and_leave_nothing_behind():
    async def story():
        bearer = PeerBearer(("127.0.0.1", 0), [])
        async with Node(Config(types={"alert": FIELDS}), [bearer]) as node:
            r = Random(1)
            protocol = fingerprint_protocol(node.router.messages)
            other = Sealer(NetworkKey(bytes(32)), protocol, 5, FrameCounters())
            friend = Sealer(KEY, protocol, 6, FrameCounters())
            kept = friend.seal(write_packet(Broadcast(bytes(9))))
            header = bytes((VERSION,)) + KEY.network + protocol
            sent = 0
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                for _ in range(60):
                    for data in (
                        r.randbytes(r.randrange(300)),
                        other.seal(b"wrong key"),
                        header
                        + r.randrange(2**31).to_bytes(4, "big")
                        + r.randbytes(96),  # valid-looking, without the key
                        kept[:9] + (6).to_bytes(4, "big") + kept[13:-1] + bytes(1),  # a forged frame of 6
                        kept,
                    ):
                        source.sendto(data, ("127.0.0.1", bearer.port))
                        sent += 1
                    await until(lambda sent=sent: sum(node.opener.refused.values()) >= sent - 1)
            refused = view(node)["refused"]
            assert refused["other_network"] >= 60 and refused["not_authentic"] >= 60
            assert refused["replayed"] >= 59  # and the first copy was accepted
            assert set(node.opener.floors()) == {6} == set(node.link.peers)
            assert node.link.counts["frames_received"] == 1
            friends = friend.seal(write_packet(Broadcast(bytes(9))))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                source.sendto(friends, ("127.0.0.1", bearer.port))  # read again after the pause
                await until(lambda: node.link.counts["frames_received"] == 2)

    run(story)


@pytest.mark.parametrize("protocol", own_protocols())
def test_absurd_messages_of_an_insider_raise_nothing_and_take_little_time(protocol):
    async def story():
        r = Random(protocol)
        config = Config(protocol=protocol, types={"alert": FIELDS}, position=(0.0, 0.0))
        async with Node(config, [Medium().bearer(0)]) as node:
            node.subscribe("/alert")
            node.advertise("/alert")
            type = node.types.by_name["alert"]
            context = GenerationContext(
                r,
                nodes=(node.id, 1, 2, 3, 2**31 - 1),
                patterns=[type.level > n for n in range(20)],
                publications=[
                    Publication(1, 5, alert(1), 0),
                    Publication(node.id, 5, alert(1), 0),
                    Publication(2, 2**32 - 1, alert(2, "x" * 40_000), 0),
                ],
                messages=node.router.messages,
            )
            longest = 0.0
            gc.collect()
            gc.freeze()  # a collection over the objects of other tests took 0.1 s
            for _ in range(400):
                try:
                    data = bytearray(encode_fast(generate(r.choice(node.router.messages), context)))
                except WireError:  # more than a message may have
                    continue
                if r.random() < 0.3:
                    data[r.randrange(len(data))] ^= 1 << r.randrange(8)
                start = process_time()
                node.received(Port.ROUTER, bytes(data), r.choice((1, 2, 3)))
                longest = max(longest, process_time() - start)
                await asyncio.sleep(0)
            gc.unfreeze()
            assert node.host.errors == 0
            assert longest < 0.1  # 10 ms on a quiet machine: bench.live_strangers

    run(story)
