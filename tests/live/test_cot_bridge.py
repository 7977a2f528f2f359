"""The example of a CoT bridge: two bridges over loopback multicast, as two ATAK networks."""

import asyncio
import importlib.util
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.live.medium import until
from tests.live.network import line, network, run

FILE = Path(__file__).parents[2] / "docs/examples/live/cot_bridge.py"
spec = importlib.util.spec_from_file_location("cot_bridge", FILE)
bridge = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bridge)

FIELDS = {"uid": "string", "type": "string", "lat": "decimal", "lon": "decimal", "xml": "string"}
COT = b'<event version="2.0" uid="m1" type="a-f-G"><point lat="52.5" lon="13.4" hae="0"/></event>'


def test_a_cot_message_is_read_with_its_position():
    fields = bridge.read_cot(COT)
    assert (fields["uid"], float(fields["lat"]), fields["xml"]) == ("m1", 52.5, COT.decode())


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError):
        bridge.read_cot(data)


@pytest.mark.parametrize(
    "data", [COT.replace(b"52.5", b"NaN"), COT.replace(b"52.5", b"91"), b"<!DOCTYPE x>" + COT]
)
def test_positions_and_entities_that_no_client_sends_are_refused(data):
    with pytest.raises(ValueError):
        bridge.read_cot(data)


def bound():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.setblocking(False)
    return made


def test_a_message_of_one_network_arrives_in_the_other_once():
    """A pair of sockets stands for the multicast group of each network."""

    async def story():
        loop = asyncio.get_running_loop()
        async with network(2, line(2), types={"cot": FIELDS}) as nodes:
            inner, clients = [bound(), bound()], [bound(), bound()]
            runs = [
                asyncio.create_task(bridge.CotBridge(node, own, client.getsockname()).run())
                for node, own, client in zip(nodes, inner, clients, strict=True)
            ]
            for client, own in zip(clients, inner, strict=True):
                client.connect(own.getsockname())
            await until(lambda: all(node.subscriptions for node in nodes))
            await loop.sock_sendall(clients[0], b"noise")
            await loop.sock_sendall(clients[0], COT)
            got = await asyncio.wait_for(loop.sock_recv(clients[1], 4096), 30)
            assert got == COT
            await loop.sock_sendall(clients[1], got)  # multicast loops back: it is not published again
            await loop.sock_sendall(clients[1], COT.replace(b"m1", b"m2"))
            assert b"m2" in await asyncio.wait_for(loop.sock_recv(clients[0], 4096), 30)
            assert [node.published for node in nodes] == [1, 1]
            for each in runs:
                each.cancel()
            await asyncio.gather(*runs, return_exceptions=True)
            for each in (*inner, *clients):
                each.close()

    run(story)
