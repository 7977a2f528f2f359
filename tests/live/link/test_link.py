"""The link: what arrives, what is repeated, what is given up; over a medium with faults and over sockets."""

import asyncio
import socket
from pathlib import Path

import pytest

from roamcast.live.errors import LiveError
from roamcast.live.link.bearer import BroadcastBearer, InterfaceBearer, PeerBearer
from roamcast.live.link.link import Link
from roamcast.live.link.packets import MOST_PAYLOAD, Port
from roamcast.live.link.unicast.acks import ACK_HOLD
from roamcast.live.link.unicast.peer import (
    CONGESTED_BACKOFF,
    FIRST_TIMEOUT,
    LEAST_TIMEOUT,
    MOST_TIMEOUT,
    SLOWEST_TIMEOUT,
    TRANSFER_BYTES,
    RoundTrip,
)
from roamcast.live.link.unicast.peer_table import ABSENT
from roamcast.live.link.unicast.transfers import (
    ATTEMPTS,
    MOST_BACKLOG_BYTES,
    MOST_WAITING,
    PROMPT_ACKS,
    WINDOW,
)
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import Opener, Refusal, Sealer
from roamcast.live.security.keys import NetworkKey
from tests.live import virtual
from tests.live.medium import Medium, until
from tests.live.virtual import run as run_in_virtual_time

KEY = NetworkKey.of_open_network("test")
PROTOCOL = b"test"


class User:
    def __init__(self):
        self.payloads, self.failures, self.drops, self.neighbours, self.clashes = [], [], [], [], 0
        self.returns = []

    def take_message(self, message, sender):
        self.payloads.append((sender, message))

    def received(self, port, payload, sender):
        self.payloads.append((sender, payload))

    def failed(self, token, to):
        self.failures.append((token, to))

    def overflowed(self, token, to):
        self.drops.append((token, to))

    def met(self, node):
        self.neighbours.append(node)

    def returned(self, node):
        self.returns.append(node)

    def clashed(self):
        self.clashes += 1


def make(node, bearers, budget=None, counters=None, start=0):
    user = User()
    opener = Opener(KEY, PROTOCOL, node)
    link = Link(
        Sealer(KEY, PROTOCOL, node, counters or FrameCounters()), opener, bearers, user, budget, start=start
    )
    link.opener = opener
    link.start()
    return link, user


def pair(medium, **options):
    medium.join(1, 2)
    return (*make(1, [medium.bearer(1)], **options), *make(2, [medium.bearer(2)]))


def run(story):
    """Run a story over `Medium`, in virtual time: a busy machine changes nothing."""
    virtual.run(story())


def run_on_sockets(story):
    asyncio.run(asyncio.wait_for(story(), 120))


def test_a_broadcast_reaches_those_in_range_once():
    async def story():
        medium = Medium()
        medium.join(1, 2)
        a, _ = make(1, [medium.bearer(1)])
        _, near = make(2, [medium.bearer(2)])
        _, far = make(3, [medium.bearer(3)])
        a.broadcast(Port.ROUTER, b"hello")
        await until(lambda: near.payloads)
        assert near.payloads == [(1, b"hello")] and near.neighbours == [1] and not far.payloads

    run(story)


@pytest.mark.parametrize("length", [10, 1500, 30_000, MOST_PAYLOAD - 1])
def test_a_unicast_arrives_once_over_a_bad_medium(length):
    async def story():
        medium = Medium(loss=0.1, duplicates=0.2, corruption=0.02, delay=0.01)
        a, told, b, heard = pair(medium)
        await meet(a, b, told, heard)
        payloads = [bytes([n]) * length for n in range(20 if length < 2000 else 3)]
        for payload in payloads:
            a.send(Port.ROUTER, payload, 2, payload)
        await until(lambda: len(heard.payloads) == len(payloads))
        assert sorted(payload for _, payload in heard.payloads) == payloads
        await until(lambda: not a.peers[2].inflight)
        assert not told.failures
        assert a.counts["retried"] > 0

    async def meet(a, b, told, heard):
        while not (told.neighbours and heard.neighbours):
            a.broadcast(Port.HELLO, b"")
            b.broadcast(Port.HELLO, b"")
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.05)
        heard.payloads.clear()

    run(story)


def test_an_answer_carries_the_acknowledgement():
    async def story():
        medium = Medium()
        a, told, b, heard = pair(medium)
        await meet_each_other(a, b)
        heard.take_message = lambda message, sender: b.send(Port.ROUTER, b"re: " + message, sender, None)
        told.payloads.clear()
        before = b.counts["frames_sent"]
        for n in range(10):
            a.send(Port.ROUTER, b"%d" % n, 2, n)
            await until(lambda n=n: len(told.payloads) == n + 1)
            assert not a.peers[2].inflight
        assert b.counts["frames_sent"] == before + 10  # no frame for acknowledgements alone
        await until(lambda: not b.peers[1].inflight)
        assert not told.failures and not heard.failures
        assert a.counts["retried"] + b.counts["retried"] == 0

    run_in_virtual_time(story())


def test_an_acknowledgement_without_an_answer_waits_a_moment_and_many_do_not():
    async def story():
        loop = asyncio.get_running_loop()
        medium = Medium()
        a, _, b, _ = pair(medium)
        await meet_each_other(a, b)
        start = loop.time()
        a.send(Port.ROUTER, b"one", 2, None)
        await until(lambda: not a.peers[2].inflight)
        assert ACK_HOLD <= loop.time() - start <= ACK_HOLD + 0.01
        start, sent = loop.time(), b.counts["frames_sent"]
        for n in range(PROMPT_ACKS):
            a.send(Port.ROUTER, b"%d" % n, 2, None)
        await until(lambda: not a.peers[2].inflight)
        assert loop.time() - start < ACK_HOLD
        assert b.counts["frames_sent"] == sent + 1

    run_in_virtual_time(story())


def test_a_repeated_packet_is_acknowledged_at_once():
    async def story():
        loop = asyncio.get_running_loop()
        medium = Medium()
        a, _, b, heard = pair(medium)
        await meet_each_other(a, b)
        heard.payloads.clear()
        medium.part(1, 2)
        a.send(Port.ROUTER, b"one", 2, None)
        await asyncio.sleep(0.01)
        medium.join(1, 2)
        await until(lambda: heard.payloads)
        start = loop.time()
        await until(lambda: not a.peers[2].inflight)
        assert loop.time() - start < ACK_HOLD
        assert a.counts["retried"] == 1

    run_in_virtual_time(story())


async def meet_each_other(a, b):
    """Let two nodes learn each other's address and round trip."""
    a.send(Port.HELLO, b"", 2, None)
    b.send(Port.HELLO, b"", 1, None)
    await asyncio.sleep(0.1)


def test_a_long_broadcast_is_repaired_by_its_neighbours():
    async def story():
        medium = Medium(loss=0.2, seed=3)
        a, _, b, heard = pair(medium)
        for n in range(5):
            a.broadcast(Port.ROUTER, bytes([n]) * 20_000)
        await until(lambda: len(heard.payloads) == 5)
        assert sorted(heard.payloads) == [(1, bytes([n]) * 20_000) for n in range(5)]
        assert b.counts["repairs_asked"] and a.counts["repairs_sent"]
        assert b.reassembly.bytes == 0

    run(story)


def test_a_slow_neighbour_is_waited_for_if_it_is_heard():
    """Acknowledgements take 80 ms: more than six short timeouts, if nothing else were heard."""

    async def story():
        medium = Medium()
        a, told, b, _ = pair(medium)
        medium.delay = 0.16
        medium.random.random = lambda: 0.5
        a.send(Port.ROUTER, b"first", 2, "first")
        for _ in range(20):
            b.broadcast(Port.ROUTER, b"still here")
            await asyncio.sleep(0.02)
        await until(lambda: not a.peers[2].inflight)
        assert not told.failures
        assert a.peers[2].round_trip.mean > 0.15
        retried = a.counts["retried"]
        a.send(Port.ROUTER, b"second", 2, "second")
        await until(lambda: not a.peers[2].inflight)
        assert a.counts["retried"] == retried and not told.failures

    run(story)


def test_an_acknowledgement_of_a_repeated_packet_measures_its_own_transmission():
    trip = RoundTrip()
    assert trip.timeout(1) == trip.timeout(6) == FIRST_TIMEOUT
    assert trip.timeout(3, alive=True) == FIRST_TIMEOUT * CONGESTED_BACKOFF**2
    assert trip.timeout(9, alive=True) == SLOWEST_TIMEOUT
    for _ in range(50):
        trip.measure(0.1)
    assert 0.1 <= trip.timeout(1) <= trip.timeout(6) < 0.11
    fast = RoundTrip()
    for _ in range(50):
        fast.measure(0.001)
    assert fast.timeout(1) == LEAST_TIMEOUT > ACK_HOLD and fast.timeout(6) == MOST_TIMEOUT
    trip.measure(10.0)
    assert trip.timeout(6) == SLOWEST_TIMEOUT


def test_the_link_gives_up_on_a_neighbour_out_of_range_and_says_so_once():
    async def story():
        medium = Medium()
        a, told, _, heard = pair(medium)
        a.send(Port.ROUTER, b"before", 2, "before")
        await until(lambda: heard.payloads)
        await until(lambda: not a.peers[2].inflight)
        medium.part(1, 2)
        medium.sent.clear()
        a.send(Port.ROUTER, b"x", 2, "short")
        a.send(Port.ROUTER, bytes(5000), 2, "long")
        await until(lambda: len(told.failures) == 2)
        assert sorted(told.failures) == [("long", 2), ("short", 2)]
        assert len(medium.sent) == 6 + (ATTEMPTS - 1)  # only the oldest packet is repeated
        assert not a.peers[2].inflight and not a.peers[2].ready

    run(story)


def test_a_neighbour_that_was_given_up_returns_once_after_a_silence():
    async def story():
        medium = Medium()
        a, told, b, _ = pair(medium)
        await meet_each_other(a, b)
        for silence, returns in ((2 * ABSENT, 1), (0.0, 1)):
            medium.part(1, 2)
            a.send(Port.ROUTER, b"x", 2, None)
            told.failures.clear()
            while not told.failures:  # only the last silence is of interest
                await asyncio.sleep(0.01)
                a.peers[2].heard = asyncio.get_running_loop().time()
            await asyncio.sleep(silence)
            medium.join(1, 2)
            for _ in range(3):
                b.broadcast(Port.ROUTER, b"here")
                await asyncio.sleep(2 * ABSENT)
            assert told.returns == [2] * returns

    run_in_virtual_time(story())


def test_what_waits_is_withdrawn_in_order_and_what_was_begun_is_not():
    async def story():
        medium = Medium()
        a, told, _, _ = pair(medium)
        medium.part(1, 2)
        for n in range(WINDOW + 5):
            a.send(Port.ROUTER, b"x", 2, n)
        assert a.withdraw(2) == list(range(WINDOW, WINDOW + 5))
        assert a.withdraw(2) == [] and a.withdraw(77) == []
        await until(lambda: len(told.failures) == WINDOW)

    run(story)


def test_urgent_payloads_go_before_the_others():
    async def story():
        medium = Medium()
        a, _, _, heard = pair(medium)
        for n in range(WINDOW + 3):
            a.send(Port.ROUTER, b"event %d" % n, 2, n)
        a.send(Port.ROUTER, b"route", 2, "route", urgent=True)
        await until(lambda: len(heard.payloads) == WINDOW + 4)
        got = [payload for _, payload in heard.payloads]
        assert got.index(b"route") == WINDOW

    run(story)


def test_a_full_queue_drops_the_newcomer_and_says_so():
    async def story():
        medium = Medium()
        a, told, _, _ = pair(medium)
        medium.part(1, 2)
        for n in range(WINDOW + MOST_WAITING + 2):
            a.send(Port.ROUTER, b"x", 2, n)
        await until(lambda: told.drops)
        assert told.drops == [(WINDOW + MOST_WAITING, 2), (WINDOW + MOST_WAITING + 1, 2)]

    run(story)


def test_what_waits_for_many_silent_neighbours_is_bounded_in_bytes():
    async def story():
        a, told = make(1, [Medium().bearer(1)])
        sent, most = 0, 0
        for n in range(1500):  # more neighbours than are remembered
            for _ in range(12):
                a.send(Port.ROUTER, bytes(1100), 10 + n, n)
                sent += 1
            most = max(most, a.backlog.bytes)
        assert MOST_BACKLOG_BYTES // 2 < most <= MOST_BACKLOG_BYTES + TRANSFER_BYTES
        await until(lambda: len(told.drops) + len(told.failures) == sent)
        assert a.backlog.bytes == 0 and len(told.drops) > sent // 2

    run_in_virtual_time(story())


def test_what_waits_counts_nothing_once_it_has_gone():
    async def story():
        medium = Medium()
        a, told, _, heard = pair(medium)
        for n in range(50):
            a.send(Port.ROUTER, bytes(n), 2, n)
        assert a.backlog.bytes > 0
        await until(lambda: len(heard.payloads) == 50 and not a.peers[2].inflight)
        assert a.backlog.bytes == 0
        medium.part(1, 2)
        for n in range(50):
            a.send(Port.ROUTER, bytes(n), 2, n)
        a.withdraw(2)
        await until(lambda: len(told.failures) == WINDOW)
        assert a.backlog.bytes == 0

    run_in_virtual_time(story())


def test_a_restarted_sender_is_heard_at_once(tmp_path):
    async def story():
        medium = Medium()
        medium.join(1, 2)
        _, heard = make(2, [medium.bearer(2)])
        for restarts in range(3):
            start = 2**16 - 2 + restarts  # also where the starts are counted from 0 again
            counters = FrameCounters(tmp_path / "counters")
            a, _ = make(1, [medium.bearer(1)], counters=counters, start=start)
            a.send(Port.ROUTER, b"again", 2, None)
            a.broadcast(Port.ROUTER, b"again")
            await until(lambda expected=2 * restarts + 2: len(heard.payloads) == expected)
            a.close()

    run(story)


def test_a_budget_limits_bytes_a_second_and_loses_nothing():
    async def story():
        loop = asyncio.get_running_loop()
        medium = Medium()
        a, _, _, heard = pair(medium, budget=100_000)
        start = loop.time()
        for _ in range(50):
            a.broadcast(Port.ROUTER, bytes(1000))
        await until(lambda: len(heard.payloads) == 50)
        assert loop.time() - start > 0.4  # 52 kB at 100 kB/s, less the burst of 0.05 s

    run(story)


def test_another_node_with_the_own_id_is_reported():
    async def story():
        medium = Medium()
        medium.join("a", "b")
        a, told = make(1, [medium.bearer("a")])
        b, heard = make(1, [medium.bearer("b")])
        a.broadcast(Port.HELLO, b"x")
        b.broadcast(Port.HELLO, b"x")
        await until(lambda: told.clashes and heard.clashes)
        assert not heard.payloads

    run(story)


def test_a_payload_over_the_limit_is_refused_before_it_is_sent():
    async def story():
        a, _ = make(1, [Medium().bearer(1)])
        for send in (lambda p: a.broadcast(Port.ROUTER, p), lambda p: a.send(Port.ROUTER, p, 2, None)):
            with pytest.raises(ValueError, match="are the most"):
                send(bytes(MOST_PAYLOAD))

    run(story)


# Sockets.


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
        (a, told), (b, heard) = (make(node, [InterfaceBearer(interface, port)]) for node in (1, 2))
        a.broadcast(Port.ROUTER, b"to all")
        await until(lambda: heard.payloads)
        b.send(Port.ROUTER, b"back", 1, None)
        await until(lambda: told.payloads)
        assert told.payloads == [(2, b"back")] and heard.payloads == [(1, b"to all")]
        assert a.opener.refused[Refusal.OWN] >= 1
        a.close()
        b.close()

    run_on_sockets(story)


def test_nodes_hear_each_other_by_ipv4_broadcast():
    async def story():
        port = free_port()
        (a, told), (b, heard) = (make(node, [BroadcastBearer("127.255.255.255", port)]) for node in (1, 2))
        a.broadcast(Port.ROUTER, b"to all")
        await until(lambda: heard.payloads)
        b.send(Port.ROUTER, b"back", 1, None)
        await until(lambda: told.payloads)
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
