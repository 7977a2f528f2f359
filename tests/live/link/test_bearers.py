"""Links over real sockets."""

import socket
from pathlib import Path

import pytest

from roamcast.live.errors import LiveError
from roamcast.live.link.bearer import BroadcastBearer, InterfaceBearer, PeerBearer
from roamcast.live.link.packets import Port
from roamcast.live.security.frame import Refusal
from tests.live.link.links import make, run_on_sockets
from tests.live.medium import until


def test_peers_on_loopback_exchange_payloads():
    async def story():
        bearers = [PeerBearer(("127.0.0.1", 0), []) for _ in range(2)]
        (a, _), (b, heard) = make(1, [bearers[0]]), make(2, [bearers[1]])
        bearers[0].peers = [("127.0.0.1", bearers[1].port)]
        a.broadcast(Port.ROUTER, b"to all")
        a.send(Port.ROUTER, bytes(10_000), 2, None)
        await until(lambda: len(heard.payloads) == 2)
        assert b.peers[1].address == ("127.0.0.1", bearers[0].port)
        await until(lambda: not a.peers[2].inflight)
        a.close()
        b.close()

    run_on_sockets(story)


def test_nodes_on_one_interface_hear_each_other_by_multicast():
    async def story():
        port = free_port()
        interface = link_local_interface()
        (a, result), (b, heard) = (make(node, [InterfaceBearer(interface, port)]) for node in (1, 2))
        a.broadcast(Port.ROUTER, b"to all")
        await until(lambda: heard.payloads)
        b.send(Port.ROUTER, b"back", 1, None)
        await until(lambda: result.payloads)
        assert result.payloads == [(2, b"back")] and heard.payloads == [(1, b"to all")]
        assert a.opener.refused[Refusal.OWN] >= 1
        a.close()
        b.close()

    run_on_sockets(story)


def test_nodes_hear_each_other_by_ipv4_broadcast():
    async def story():
        port = free_port()
        (a, result), (b, heard) = (make(node, [BroadcastBearer("127.255.255.255", port)]) for node in (1, 2))
        a.broadcast(Port.ROUTER, b"to all")
        await until(lambda: heard.payloads)
        b.send(Port.ROUTER, b"back", 1, None)
        await until(lambda: result.payloads)
        a.close()
        b.close()

    run_on_sockets(story)


def test_an_interface_or_port_that_cannot_be_used_is_named():
    async def story():
        with pytest.raises(LiveError, match="no network interface is called 'wlan77'; there are"):
            InterfaceBearer("wlan77", 4747)
        taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        taken.bind(("127.0.0.1", 0))
        with taken, pytest.raises(LiveError, match="cannot listen on 127"):
            PeerBearer(taken.getsockname(), []).start(None, None)

    run_on_sockets(story)


def link_local_interface():
    """Return an interface with an IPv6 link-local address."""
    rows = [line.split() for line in Path("/proc/net/if_inet6").read_text().splitlines()]
    found = [row[5] for row in rows if row[0].startswith("fe80")]
    if not found:
        pytest.skip("no interface has an IPv6 link-local address")
    return found[0]


def free_port():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.bind(("::", 0))
        return probe.getsockname()[1]
