"""One timer for many deadlines: the earliest counts, and later ones cost no timer."""

import asyncio

import pytest

from roamcast.live.link.unicast.acks import ACK_HOLD, HeldAcks
from roamcast.live.link.unicast.deadline import Deadline
from tests.live.virtual import run as run_in_virtual_time


def test_the_action_is_called_at_the_earliest_time_asked_for():
    async def story():
        called = []
        loop = asyncio.get_running_loop()
        deadline = Deadline(loop, called.append)
        for when in (3.0, 2.0, 5.0):
            deadline.ask(when)
        await asyncio.sleep(10)
        assert called == [2.0]
        deadline.ask(11.0)
        await asyncio.sleep(10)
        assert called == [2.0, 11.0]
        deadline.ask(30.0)
        deadline.close()
        deadline.ask(25.0)
        await asyncio.sleep(20)
        assert called == [2.0, 11.0]

    run_in_virtual_time(story())


def test_acknowledgements_that_a_packet_takes_along_set_no_further_timers():
    async def story():
        loop, timers, sent = asyncio.get_running_loop(), [], []
        call_at = loop.call_at
        loop.call_at = lambda when, *rest, **named: timers.append(when) or call_at(when, *rest, **named)

        def flush(now):
            acks.flush(now)

        deadline = Deadline(loop, flush)
        acks = HeldAcks(deadline, lambda node, numbers: sent.append((node, numbers, loop.time())), 4)
        for number in range(100):
            acks.add(7, number, False, loop.time())
            assert acks.take(7, 255) == [number]
        assert len(timers) == 1
        await asyncio.sleep(ACK_HOLD / 2)
        acks.add(7, 100, False, loop.time())  # the timer is there already, and fires early
        await asyncio.sleep(1)
        [(node, numbers, at)] = sent
        assert (node, numbers, at) == (7, [100], pytest.approx(1.5 * ACK_HOLD))

    run_in_virtual_time(story())
