"""What waits for a neighbour: its order, its bounds, and what is withdrawn."""

from roamcast.live.link.packets import Port
from roamcast.live.link.unicast.peer import (
    TRANSFER_BYTES,
)
from roamcast.live.link.unicast.transfers import MOST_BACKLOG_BYTES, MOST_WAITING, WINDOW
from tests.live.link.links import make, pair, run
from tests.live.medium import Medium, until
from tests.live.virtual import run as run_in_virtual_time


def test_what_waits_is_withdrawn_in_order_and_what_was_begun_is_not():
    async def story():
        medium = Medium()
        a, result, _, _ = pair(medium)
        medium.part(1, 2)
        for n in range(WINDOW + 5):
            a.send(Port.ROUTER, b"x", 2, n)
        assert a.withdraw(2) == list(range(WINDOW, WINDOW + 5))
        assert a.withdraw(2) == [] and a.withdraw(77) == []
        await until(lambda: len(result.failures) == WINDOW)

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
        a, result, _, _ = pair(medium)
        medium.part(1, 2)
        for n in range(WINDOW + MOST_WAITING + 2):
            a.send(Port.ROUTER, b"x", 2, n)
        await until(lambda: result.drops)
        assert result.drops == [(WINDOW + MOST_WAITING, 2), (WINDOW + MOST_WAITING + 1, 2)]

    run(story)


def test_what_waits_for_many_silent_neighbours_is_bounded_in_bytes():
    async def story():
        a, result = make(1, [Medium().bearer(1)])
        sent, most = 0, 0
        for n in range(1500):  # more neighbours than are remembered
            for _ in range(12):
                a.send(Port.ROUTER, bytes(1100), 10 + n, n)
                sent += 1
            most = max(most, a.backlog.bytes)
        assert MOST_BACKLOG_BYTES // 2 < most <= MOST_BACKLOG_BYTES + TRANSFER_BYTES
        await until(lambda: len(result.drops) + len(result.failures) == sent)
        assert a.backlog.bytes == 0 and len(result.drops) > sent // 2

    run_in_virtual_time(story())


def test_what_waits_counts_nothing_once_it_has_gone():
    async def story():
        medium = Medium()
        a, result, _, heard = pair(medium)
        for n in range(50):
            a.send(Port.ROUTER, bytes(n), 2, n)
        assert a.backlog.bytes > 0
        await until(lambda: len(heard.payloads) == 50 and not a.peers[2].inflight)
        assert a.backlog.bytes == 0
        medium.part(1, 2)
        for n in range(50):
            a.send(Port.ROUTER, bytes(n), 2, n)
        a.withdraw(2)
        await until(lambda: len(result.failures) == WINDOW)
        assert a.backlog.bytes == 0

    run_in_virtual_time(story())
