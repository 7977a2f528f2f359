"""Radios that are switched off and on: against the slow twin, and frame by frame."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast import _kernel

from .test_kernel_laws import Listener, Note
from .test_unicast import Letter, office
from .twin import MAC, RADIO, Off, Sent, outcomes

AIRTIME = 4_720_000_000
"Nanoseconds of a note on the air."

places = st.lists(st.tuples(st.floats(0, 900), st.floats(0, 900)), min_size=2, max_size=8)
talks = st.lists(st.tuples(st.integers(0, 7), st.floats(0, 0.03)), min_size=1, max_size=20)
switchings = st.lists(
    st.tuples(st.integers(0, 7), st.floats(0, 0.05), st.floats(0.0005, 0.02)), min_size=1, max_size=8
)


@settings(max_examples=300, deadline=None)
@given(places, talks, switchings, st.integers(0, 2**32))
def test_switched_radios_hear_what_the_twin_hears(points, talk, switching, seed):
    world = _kernel.World(RADIO, MAC, seed)
    for x, y in points:
        world.add_static(x, y)
    world.start()
    nodes = len(points)
    hosts = [_kernel.Host(world, node) for node in range(nodes)]
    listeners = [Listener(host) for host in hosts]
    for node, listener in enumerate(listeners):
        world.attach(node, listener)
    for node, time in talk:
        world.call_at(time, hosts[node % nodes].broadcast, Note())
    off, since = [], {}

    def switch(node, on):
        if on is world.radio_on(node):
            return
        world.set_radio(node, on)
        now = round(world.now() * 1e12)
        if on:
            off.append(Off(since.pop(node), now, node))
        else:
            since[node] = now

    for node, time, length in switching:
        world.call_at(time, switch, node % nodes, False)
        world.call_at(time + length, switch, node % nodes, True)
    world.run_until(2)
    assert not since
    rows = world.transmissions()
    sent = sorted(
        Sent(round(t * 1e12), AIRTIME, int(n)) for t, n in zip(rows["time"], rows["node"], strict=True)
    )
    expected = outcomes(sent, lambda node, _: points[node], nodes, off=off)
    counts = Counter(o.outcome for o in expected)
    counters = world.counters()
    for outcome in ("received", "collided", "captured", "weak", "deaf", "radio_off"):
        assert counters[outcome] == counts[outcome], outcome
    assert counters["sensed"] == len(expected)
    # Nothing disappears: what was broadcast was on the air, or is told as unsent; both if it was cut.
    cut = sum(rows["failed"].tolist())
    assert len(talk) == len(sent) - cut + counters["unsent"]
    # What was understood reached the router, unless its radio was switched off on the last few microseconds.
    heard = Counter((h[1], node) for node, listener in enumerate(listeners) for h in listener.heard)
    understood = Counter((o.sender, o.node) for o in expected if o.outcome == "received")
    assert all(heard[pair] <= understood[pair] for pair in heard)
    swallowed = sum(understood.values()) - sum(heard.values())
    last_steps = [
        o
        for o in expected
        if o.outcome == "received"
        and any(0 <= q.start - (o.arrives + AIRTIME) <= 25_000_000 for q in off if q.node == o.node)
    ]
    assert swallowed == len(last_steps)
    world.close()


def lost(world):
    rows = world.lost_frames()
    return sorted(zip(rows["node"].tolist(), rows["peer"].tolist(), rows["cause"].tolist(), strict=True))


class Event(Letter):
    @property
    def publication_id(self):
        return 7


FRAME_OFF, UNSENT = 5, 18


def test_a_frame_cut_in_the_middle_is_lost_at_its_receivers_and_told_once_by_its_sender():
    world, (a, b) = office([0, 100])
    world.record_losses(True)
    a.host.broadcast(Event(1))
    a.host.broadcast(Event(2))
    world.run_until(0.003)
    assert world.counters()["data"] == 1
    world.set_radio(0, False)
    world.run_until(1)
    assert b.got == []
    assert lost(world) == [(0, -1, UNSENT), (0, -1, UNSENT), (1, 0, FRAME_OFF)]
    (row,) = zip(*(world.transmissions()[name] for name in ("failed", "attempts")), strict=True)
    assert row == (True, 1)
    assert world.transmissions()["airtime"][0] < 0.003


def test_a_receiver_switched_off_in_the_middle_hears_nothing_and_misses_no_row():
    world, (a, b) = office([0, 100])
    world.record_losses(True)
    a.host.broadcast(Event(1))
    world.run_until(0.003)
    world.set_radio(1, False)
    world.run_until(1)
    assert b.got == []
    assert lost(world) == []
    assert world.counters()["radio_off"] == 1
    world.set_radio(1, True)
    a.host.broadcast(Event(2))
    world.run_until(2)
    assert b.got == [(2, 0)]


def test_a_letter_to_a_radio_that_is_off_is_given_up_and_one_from_it_fails_at_once():
    world, (a, b) = office([0, 100])
    world.set_radio(1, False)
    a.host.send(Letter(1), 1)
    b.host.send(Letter(2), 0)
    world.run_until(0.001)
    assert [(number, to) for number, to, _ in b.failed] == [(2, 0)]
    assert a.failed == []
    world.run_until(1)
    assert [(number, to) for number, to, _ in a.failed] == [(1, 1)]


def test_a_link_that_was_in_the_middle_of_everything_begins_anew():
    """A relay is switched at every moment of an exchange in which it sends, answers and waits."""
    for microseconds in range(30, 12_000, 97):
        world, (a, b, c) = office([0, 200, 400])
        for number in range(3):
            a.host.send(Letter(number), 1)
            b.host.send(Letter(10 + number), 2)
            c.host.broadcast(Letter(20 + number))
        world.call_at(microseconds * 1e-6, world.set_radio, 1, False)
        world.call_at(microseconds * 1e-6 + 0.001, world.set_radio, 1, True)
        world.call_at(2.0, b.host.send, Letter(30), 0)
        world.call_at(2.0, c.host.send, Letter(31), 1)
        world.run_until(3)
        given_up = [number for number, _, _ in b.failed]
        got = [number for number, _ in c.got]
        assert sorted({*given_up, *(n for n in got if n < 20)}) == [10, 11, 12], microseconds
        assert [number for number, _ in a.got if number == 30] == [30]
        assert [number for number, _ in b.got if number == 31] == [31]


def test_a_message_withdrawn_from_router_to_link_by_the_switch_is_not_sent_later():
    world, (a, b) = office([0, 100])
    a.host.broadcast(Letter(1))
    world.set_radio(0, False)
    world.set_radio(0, True)
    a.host.broadcast(Letter(2))
    world.run_until(1)
    assert b.got == [(2, 0)]
    assert world.counters()["unsent"] == 1


def test_a_frame_understood_but_not_yet_handed_up_is_lost_with_the_radio():
    world, (a, b) = office([0, 100])
    a.host.broadcast(Event(1))
    world.run_until(1)
    understood = world.transmissions()["time"][0] + (AIRTIME + 333_334) * 1e-12
    for after, got in ((10e-6, []), (30e-6, [(1, 0)])):  # the way up takes 25 microseconds
        world, (a, b) = office([0, 100])
        world.record_losses(True)
        a.host.broadcast(Event(1))
        world.call_at(understood + after, world.set_radio, 1, False)
        world.run_until(1)
        assert world.counters()["received"] == 1
        assert b.got == got
        assert lost(world) == ([] if got else [(1, 0, FRAME_OFF)])


def test_a_radio_that_was_off_knows_of_no_reservation():
    """What it heard reserved for nine milliseconds it does not wait for after the switch."""
    for seed in range(5):
        began = {}
        for switched in (False, True):
            world, (a, b, _) = office([0, 100, 240], seed=seed)
            world.set_radio(2, False)  # so the RTS is not answered, and the medium stays idle
            a.host.send(Letter(1, size=2000), 2)
            world.run_until(0.0015)
            assert world.counters()["rts"] >= 1
            if switched:
                world.set_radio(1, False)
                world.set_radio(1, True)
            b.host.broadcast(Letter(2))
            world.set_radio(0, False)
            world.run_until(1)
            rows = world.transmissions()
            began[switched] = next(t for t, n in zip(rows["time"], rows["node"], strict=True) if n == 1)
        assert began[True] < 0.003
        assert began[False] > 0.008
