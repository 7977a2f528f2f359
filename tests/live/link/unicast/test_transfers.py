"""Payloads for one neighbour: what arrives, what is repeated, what is given up."""

import asyncio

import pytest

from roamcast.live.link.packets import MOST_PAYLOAD, Port
from roamcast.live.link.unicast.peer_table import ABSENT
from roamcast.live.link.unicast.transfers import (
    ATTEMPTS,
)
from roamcast.live.security.counters import FrameCounters
from tests.live.link.links import make, meet_each_other, pair, run
from tests.live.medium import Medium, until
from tests.live.virtual import run as run_in_virtual_time


@pytest.mark.parametrize("length", [10, 1500, 30_000, MOST_PAYLOAD - 1])
def test_a_unicast_arrives_once_over_a_bad_medium(length):
    async def story():
        medium = Medium(loss=0.1, duplicates=0.2, corruption=0.02, delay=0.01)
        a, result, b, heard = pair(medium)
        await meet(a, b, result, heard)
        payloads = [bytes([n]) * length for n in range(20 if length < 2000 else 3)]
        for payload in payloads:
            a.send(Port.ROUTER, payload, 2, payload)
        await until(lambda: len(heard.payloads) == len(payloads))
        assert sorted(payload for _, payload in heard.payloads) == payloads
        await until(lambda: not a.peers[2].inflight)
        assert not result.failures
        assert a.counts["retried"] > 0

    async def meet(a, b, result, heard):
        while not (result.neighbours and heard.neighbours):
            a.broadcast(Port.HELLO, b"")
            b.broadcast(Port.HELLO, b"")
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.05)
        heard.payloads.clear()

    run(story)


def test_a_slow_neighbour_is_waited_for_if_it_is_heard():
    """Acknowledgements take 80 ms: more than six short timeouts, if nothing else were heard."""

    async def story():
        medium = Medium()
        a, result, b, _ = pair(medium)
        medium.delay = 0.16
        medium.random.random = lambda: 0.5
        a.send(Port.ROUTER, b"first", 2, "first")
        for _ in range(20):
            b.broadcast(Port.ROUTER, b"still here")
            await asyncio.sleep(0.02)
        await until(lambda: not a.peers[2].inflight)
        assert not result.failures
        assert a.peers[2].round_trip.mean > 0.15
        retried = a.counts["retried"]
        a.send(Port.ROUTER, b"second", 2, "second")
        await until(lambda: not a.peers[2].inflight)
        assert a.counts["retried"] == retried and not result.failures

    run(story)


def test_the_link_gives_up_on_a_neighbour_out_of_range_and_says_so_once():
    async def story():
        medium = Medium()
        a, result, _, heard = pair(medium)
        a.send(Port.ROUTER, b"before", 2, "before")
        await until(lambda: heard.payloads)
        await until(lambda: not a.peers[2].inflight)
        medium.part(1, 2)
        medium.sent.clear()
        a.send(Port.ROUTER, b"x", 2, "short")
        a.send(Port.ROUTER, bytes(5000), 2, "long")
        await until(lambda: len(result.failures) == 2)
        assert sorted(result.failures) == [("long", 2), ("short", 2)]
        assert len(medium.sent) == 6 + (ATTEMPTS - 1)  # only the oldest packet is repeated
        assert not a.peers[2].inflight and not a.peers[2].ready

    run(story)


def test_a_neighbour_that_was_given_up_returns_once_after_a_silence():
    async def story():
        medium = Medium()
        a, result, b, _ = pair(medium)
        await meet_each_other(a, b)
        for silence, returns in ((2 * ABSENT, 1), (0.0, 1)):
            medium.part(1, 2)
            a.send(Port.ROUTER, b"x", 2, None)
            result.failures.clear()
            while not result.failures:  # only the last silence is of interest
                await asyncio.sleep(0.01)
                a.peers[2].heard = asyncio.get_running_loop().time()
            await asyncio.sleep(silence)
            medium.join(1, 2)
            for _ in range(3):
                b.broadcast(Port.ROUTER, b"here")
                await asyncio.sleep(2 * ABSENT)
            assert result.returns == [2] * returns

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
