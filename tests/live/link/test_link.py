"""The link: broadcasts, fragments, the airtime budget and the own id."""

import asyncio

import pytest

from roamcast.live.link.packets import MOST_PAYLOAD, Port
from tests.live.link.links import make, pair, run
from tests.live.medium import Medium, until


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
        a, result = make(1, [medium.bearer("a")])
        b, heard = make(1, [medium.bearer("b")])
        a.broadcast(Port.HELLO, b"x")
        b.broadcast(Port.HELLO, b"x")
        await until(lambda: result.clashes and heard.clashes)
        assert not heard.payloads

    run(story)


def test_a_payload_over_the_limit_is_refused_before_it_is_sent():
    async def story():
        a, _ = make(1, [Medium().bearer(1)])
        for send in (lambda p: a.broadcast(Port.ROUTER, p), lambda p: a.send(Port.ROUTER, p, 2, None)):
            with pytest.raises(ValueError, match="are the most"):
                send(bytes(MOST_PAYLOAD))

    run(story)
