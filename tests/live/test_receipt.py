"""`Receipt.received_by`: waits for late subscribers, and ends when none can come."""

import asyncio

import pytest

from roamcast.live import NotConfirmed
from roamcast.live.receipt import Receipt
from roamcast.routing.router import Publication
from tests.live.network import alert, network
from tests.live.network import run as run_live
from tests.live.virtual import run


def receipt(recall=600.0):
    return Receipt(Publication(1, 7, alert(3)), None, recall)


def test_a_late_subscriber_counts_while_the_event_is_recalled():
    async def story():
        kept = receipt()
        kept.settle()
        asyncio.get_running_loop().call_later(500.0, kept.note, 4, True)
        assert await kept.received_by(1) == {4}

    run(story())


def test_the_wait_ends_with_the_recall_if_nobody_may_have_been_subscribed():
    async def story():
        kept = receipt()
        kept.note(4, None)  # acknowledged by a node that may not have been subscribed
        kept.settle()
        with pytest.raises(NotConfirmed, match="was acknowledged by 0 nodes, expected 1"):
            await kept.received_by(1)
        assert asyncio.get_running_loop().time() == pytest.approx(600, abs=1)

    run(story())


def test_an_outstanding_receiver_is_waited_for_beyond_the_recall():
    async def story():
        kept = receipt()
        asyncio.get_running_loop().call_later(900.0, kept.note, 4, True)
        assert await kept.received_by(1) == {4}

    run(story())


def test_the_wait_ends_if_the_router_gives_up_without_recall():
    async def story():
        kept = receipt(recall=0.0)
        loop = asyncio.get_running_loop()
        loop.call_later(5.0, kept.note, 4, False)
        loop.call_later(5.0, kept.settle)
        with pytest.raises(NotConfirmed, match="no further subscription can get it"):
            await kept.received_by(1)

    run(story())


def test_the_wait_ends_when_the_node_stops():
    async def story():
        async with network(1, []) as (node,):
            kept = await node.publish(alert(3))
            waiting = asyncio.create_task(kept.received_by(1))
            await asyncio.sleep(0)
        with pytest.raises(NotConfirmed):
            await asyncio.wait_for(waiting, 5)

    run_live(story)
