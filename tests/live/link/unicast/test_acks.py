"""Acknowledgements: which wait, which packets carry them, and what they measure."""

import asyncio

from roamcast.live.link.packets import Port
from roamcast.live.link.unicast.acks import ACK_HOLD
from roamcast.live.link.unicast.peer import (
    CONGESTED_BACKOFF,
    FIRST_TIMEOUT,
    LEAST_TIMEOUT,
    MOST_TIMEOUT,
    SLOWEST_TIMEOUT,
    RoundTrip,
)
from roamcast.live.link.unicast.transfers import (
    PROMPT_ACKS,
)
from tests.live.link.links import meet_each_other, pair
from tests.live.medium import Medium, until
from tests.live.virtual import run as run_in_virtual_time


def test_an_answer_carries_the_acknowledgement():
    async def story():
        medium = Medium()
        a, result, b, heard = pair(medium)
        await meet_each_other(a, b)
        heard.take_message = lambda message, sender: b.send(Port.ROUTER, b"re: " + message, sender, None)
        result.payloads.clear()
        before = b.counts["frames_sent"]
        for n in range(10):
            a.send(Port.ROUTER, b"%d" % n, 2, n)
            await until(lambda n=n: len(result.payloads) == n + 1)
            assert not a.peers[2].inflight
        assert b.counts["frames_sent"] == before + 10  # no frame for acknowledgements alone
        await until(lambda: not b.peers[1].inflight)
        assert not result.failures and not heard.failures
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
