"""Unicast over the DCF: acknowledged, retried, announced by RTS, and given up, with a call of the router."""

from itertools import pairwise

import pytest

from roamcast import _kernel

from .twin import MAC, RADIO


class Letter:
    category = 0
    publication_id = -1

    def __init__(self, number=0, size=512):
        self.number = number
        self.size = size


class Clerk:
    def __init__(self, host):
        self.host = host
        self.got, self.overheard, self.failed = [], [], []

    def receive(self, message, sender, signal):
        self.got.append((message.number, sender))

    def overhear(self, message, sender, to, signal):
        self.overheard.append((message.number, sender, to))

    def link_failed(self, message, to):
        self.failed.append((message.number, to, self.host.now()))


def office(places, seed=1, promiscuous=(), **mac):
    world = _kernel.World(RADIO, MAC | mac, seed)
    for x in places:
        world.add_static(x, 0)
    world.start()
    clerks = [Clerk(_kernel.Host(world, node)) for node in range(len(places))]
    for node, clerk in enumerate(clerks):
        world.attach(node, clerk, node in promiscuous)
    return world, clerks


def test_a_letter_takes_an_rts_a_cts_the_data_and_an_ack():
    world, (a, b) = office([0, 200])
    a.host.send(Letter(7), 1)
    world.run_until(1)
    assert b.got == [(7, 0)]
    frames = world.counters()
    assert (frames["rts"], frames["cts"], frames["data"], frames["ack"]) == (1, 1, 1, 1)


def test_a_small_letter_below_the_threshold_goes_without_rts():
    world, (a, b) = office([0, 200], rts_threshold=1000)
    a.host.send(Letter(7), 1)
    world.run_until(1)
    assert b.got == [(7, 0)]
    assert world.counters()["rts"] == 0


def test_the_threshold_counts_all_headers_as_ns2_does():
    for threshold, announced in ((512 + 20 + 58, 1), (512 + 20 + 59, 0)):
        world, (a, b) = office([0, 200], rts_threshold=threshold)
        a.host.send(Letter(7), 1)
        world.run_until(1)
        assert b.got == [(7, 0)]
        assert world.counters()["rts"] == announced


def test_a_neighbour_out_of_range_is_given_up_after_seven_announcements():
    world, (a, b) = office([0, 300])
    a.host.send(Letter(7), 1)
    world.run_until(1)
    assert b.got == []
    assert [(number, to) for number, to, _ in a.failed] == [(7, 1)]
    assert world.counters()["rts"] == 7
    sent = world.transmissions()
    assert (sent["failed"].tolist(), sent["attempts"].tolist()) == ([1], [0])


def test_letters_arrive_in_order_and_once_though_a_hidden_station_disturbs():
    world, (a, b, c) = office([0, 240, 480])
    for number in range(40):
        a.host.send(Letter(number), 1)
        c.host.send(Letter(100 + number), 1)
    world.run_until(10)
    assert [n for n, sender in b.got if sender == 0] == list(range(40))
    assert [n for n, sender in b.got if sender == 2] == list(range(100, 140))


def test_only_the_addressee_gets_a_letter_and_only_the_curious_overhear_it():
    world, (a, b, c, d) = office([0, 100, 50, 60], promiscuous=(2,))
    a.host.send(Letter(1), 1)
    world.run_until(1)
    assert b.got == [(1, 0)]
    assert c.got == d.got == d.overheard == []
    assert c.overheard == [(1, 0, 1)]


def test_a_full_queue_drops_its_tail_and_routing_goes_first():
    class Route(Letter):
        category = 2

    world, (a, b) = office([0, 100])
    for number in range(60):
        a.host.send(Letter(number), 1)
    a.host.send(Route(1000), 1)
    world.run_until(5)
    numbers = [number for number, _ in b.got]
    assert numbers[:3] == [0, 1000, 1]  # the first was on its way already
    assert len(numbers) == 50  # one in service and forty-nine waiting, as in ns-2
    assert world.counters()["queue_full"] == 11


def test_with_a_queue_per_class_a_full_one_drops_the_newcomer():
    class Route(Letter):
        category = 2

    world, (a, b) = office([0, 100], queue_per_class=True, queue=3)
    for number in range(6):
        a.host.send(Letter(number), 1)
    for number in range(6):
        a.host.send(Route(1000 + number), 1)
    world.run_until(5)
    # One in service and three of each class waiting, as in ns-2's CMUPriQueue.
    assert [number for number, _ in b.got] == [0, 1000, 1001, 1002, 1, 2, 3]
    assert world.counters()["queue_full"] == 5


@pytest.mark.parametrize(("newest_first", "order"), [(False, [0, 10, 11, 12, 1]), (True, [0, 12, 11, 10, 1])])
def test_of_those_that_go_first_the_earliest_does_or_the_latest(newest_first, order):
    class Route(Letter):
        category = 2

    world, (a, b) = office([0, 100], newest_first=newest_first)
    for message in (Letter(0), Letter(1), Route(10), Route(11), Route(12)):
        a.host.send(message, 1)
    world.run_until(1)
    assert [number for number, _ in b.got] == order


@pytest.mark.parametrize(("threshold", "packets"), [(10_000, 320.5), (0, 263.4)])
def test_a_saturated_pair_passes_what_the_arithmetic_says(threshold, packets):
    world, (a, b) = office([0, 100], rts_threshold=threshold)

    def refill():
        a.host.send(Letter(), 1)
        a.host.call_later(0.002, refill)

    refill()
    world.run_until(1)
    before = len(b.got)
    world.run_until(61)
    assert (len(b.got) - before) / 60 == pytest.approx(packets, rel=0.01)


def test_a_failing_router_stops_the_run_with_its_own_error():
    world, (a, b) = office([0, 100])

    def fail(*_):
        raise LookupError("lost my table")

    b.receive = fail
    world.attach(1, b)
    a.host.broadcast(Letter())
    with pytest.raises(LookupError, match="lost my table"):
        world.run_until(1)
    world.close()


def test_a_cancelled_timer_does_not_fire_and_its_slot_is_not_inherited():
    world, (a, _) = office([0, 100])
    fired = []
    first = a.host.call_later(1.0, fired.append, "first")
    second = a.host.call_later(2.0, fired.append, "second")
    first.cancel()
    assert (first.active, second.active) == (False, True)
    third = a.host.call_later(1.5, fired.append, "third")
    first.cancel()
    world.run_until(3)
    assert fired == ["third", "second"]
    assert not third.active


def test_a_timer_for_a_moment_is_not_early_by_more_than_floats_can_tell():
    world, (a, _) = office([0, 100])
    early = []
    moments = [0.1 + k / 3e4 + k * 1e-10 for k in range(3000)]

    def wait_for(moment):
        def check():
            if a.host.now() < moment:
                early.append(moment - a.host.now())
                a.host.call_later(moment - a.host.now(), check)

        a.host.call_later(moment - a.host.now(), check)

    for moment in moments:
        wait_for(moment)
    world.run_until(1)
    assert max(early, default=0.0) < 1e-12  # and the run came to its end: no moment is approached for ever


def test_a_station_does_not_count_its_backoff_while_it_sends_an_answer():
    world, (a, b) = office([0, 30], rts_threshold=1000)
    for number in range(40):
        a.host.send(Letter(number), 1)
        b.host.send(Letter(number), 0)
    world.run_until(1)
    sent = world.transmissions()
    rows = sorted(zip(sent["time"].tolist(), sent["attempts"].tolist(), strict=True))
    exchange = 2456e-6 + 10e-6 + 304e-6 + 50e-6  # data, SIFS, ACK, DIFS
    waits = [
        (later - earlier - exchange) / 20e-6
        for (earlier, _), (later, attempts) in pairwise(rows)
        if attempts == 1 and later > earlier + exchange / 2
    ]
    alone = [wait for wait in waits if wait < 31]
    assert len(alone) > 40
    assert all(wait > -0.05 and abs(wait - round(wait)) < 0.05 for wait in alone)
