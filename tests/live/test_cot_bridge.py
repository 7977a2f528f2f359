"""The example of a CoT bridge: two bridges over loopback multicast, as two ATAK networks."""

import asyncio
import importlib.util
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


class Group:
    """A multicast group of one network: what the bridge sends to it, and what clients send to the bridge."""

    def __init__(self):
        self.bridge, self.clients = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for each in (self.bridge, self.clients):
            each.setblocking(False)


def test_a_message_of_one_network_arrives_in_the_other_once(monkeypatch):
    async def story():
        loop = asyncio.get_running_loop()
        async with network(2, line(2), types={"cot": FIELDS}) as nodes:
            groups = [Group(), Group()]
            send = lambda group, data, _: loop.sock_sendall(group, data)  # noqa: E731
            monkeypatch.setattr(loop, "sock_sendto", send, raising=False)
            runs = [
                asyncio.create_task(bridge.CotBridge(node, group.bridge).run())
                for node, group in zip(nodes, groups, strict=True)
            ]
            await asyncio.sleep(0)
            await loop.sock_sendall(groups[0].clients, b"noise")
            await loop.sock_sendall(groups[0].clients, COT)
            got = await asyncio.wait_for(loop.sock_recv(groups[1].clients, 4096), 30)
            assert got == COT
            await loop.sock_sendall(groups[1].clients, got)  # multicast loops back: it is not published again
            await asyncio.sleep(0.3)
            assert [node.published for node in nodes] == [1, 0]
            for each in runs:
                each.cancel()
            await asyncio.gather(*runs, return_exceptions=True)

    run(story)
