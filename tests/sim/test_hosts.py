"""What a router may ask of its host in the radio world, and what becomes of hosts whose node has crashed."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast import _kernel
from roamcast.routing.router import Position, Velocity
from roamcast.sim.host import generators

from .test_unicast import Letter, office
from .twin import MAC, RADIO, RANGE, received_power


@given(st.floats(0, RANGE), st.sampled_from(["two-ray", "friis"]))
def test_distance_is_the_inverse_of_the_propagation(distance, propagation):
    world = _kernel.World(RADIO | {"propagation": propagation}, MAC, 1)
    world.add_static(0, 0)
    world.add_static(distance, 0)
    world.start()
    ((_, _, power),) = world.receivers(0)
    if propagation == "two-ray":
        assert power == pytest.approx(received_power(distance), rel=1e-9)
    estimate = _kernel.Host(world, 1).distance(power)
    wave = 3e8 / RADIO["frequency"]
    assert estimate == pytest.approx(max(distance, wave / (4 * math.pi)), rel=1e-6, abs=1e-6)


def test_no_distance_is_told_of_an_unknown_signal_and_none_beyond_the_range():
    host = office([0])[1][0].host
    assert math.isnan(host.distance(math.nan))
    assert host.distance(1e-30) == host.distance(0.0) == RANGE
    assert 0 < host.distance(1e9) < 0.1


def test_what_waits_for_a_neighbour_is_handed_back_in_order_and_nothing_else():
    world, (a, b, c) = office([0, 100, 200])
    for number in range(6):
        a.host.send(Letter(number), 1 + number % 2)
    a.host.broadcast(Letter(9))
    world.run_until(0.0001)  # the first is being served by now
    a.host.send(Letter(7), 1)  # and this one is on its way to the link
    assert [letter.number for letter in a.host.withdraw(1)] == [2, 4, 7]
    assert a.host.withdraw(1) == a.host.withdraw(77) == a.host.withdraw(-1) == []
    world.run_until(1)
    assert [number for number, _ in b.got] == [0, 9]
    assert [number for number, _ in c.got] == [1, 3, 5, 9]


def test_routing_messages_still_go_first_after_a_withdrawal():
    class Route(Letter):
        category = 2

    world, (a, b, c) = office([0, 100, 200])
    for number in range(3):
        a.host.send(Letter(number), 2)
        a.host.send(Route(100 + number), 1 + number % 2)
    world.run_until(0.0001)
    assert [letter.number for letter in a.host.withdraw(1)] == [100, 102]
    a.host.send(Route(200), 2)
    world.run_until(1)
    assert [number for number, _ in c.got] == [0, 101, 200, 1, 2]
    assert b.got == []


def walker():
    """A world with a node that walks 50 m from 1 s on, and its host."""
    world = _kernel.World(RADIO, MAC, 1)
    world.add_ordered(0, 0, [1.0, 5.0], [30, 30], [40, 0], [10, 0])
    world.start()
    return world, _kernel.Host(world, 0)


def test_velocity_is_that_of_the_leg_under_way():
    world, host = walker()
    host.grant_location(Position, Velocity)
    paces = []
    for moment in (0.5, 2.0, 7.0):
        world.run_until(moment)
        paces.append(host.velocity())
    assert paces[0] == paces[2] == (0, 0)
    assert paces[1] == pytest.approx((6, 8))


def test_a_host_tells_where_it_is_only_where_that_is_granted():
    world, host = walker()
    with pytest.raises(TypeError, match="tuple"):
        host.grant_location(Position, dict)
    for ask in (host.position, host.velocity):
        with pytest.raises(PermissionError, match="location = false"):
            ask()
    host.grant_location(Position, Velocity)
    world.run_until(2)
    assert host.position() == pytest.approx((6, 8))
    assert (type(host.position()), type(host.velocity())) == (Position, Velocity)


def test_states_are_columns_with_a_number_for_each_name():
    world, (a, b) = office([0, 100])
    a.host.state("relay", 1)
    world.run_until(2)
    b.host.state("hops", 3.5)
    b.host.state("relay", False)
    world.state(0, "up", 0)
    columns = world.states()
    names = [world.state_names()[code] for code in columns["name"]]
    rows = list(zip(columns["time"], columns["node"], names, columns["value"], strict=True))
    assert rows == [(0, 0, "relay", 1), (2, 1, "hops", 3.5), (2, 1, "relay", 0), (2, 0, "up", 0)]
    for wrong in ((7, 1), ("name", "one"), ("name",)):
        with pytest.raises(TypeError):
            a.host.state(*wrong)


def test_an_application_hears_of_each_delivery_at_its_node_until_it_stops_listening():
    class Paper:
        id = 5

    world, (a, b) = office([0, 100])
    heard = []
    world.listen(0, heard.append)
    a.host.deliver(paper := Paper())
    b.host.deliver(paper)
    world.listen(0, None)
    a.host.deliver(paper)
    assert heard == [paper]
    assert world.deliveries()["node"].tolist() == [0, 1, 0]


def test_an_error_of_an_application_is_raised_where_the_router_delivers():
    class Paper:
        id = 5

    world, (a, _) = office([0, 100])
    world.listen(0, lambda paper: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        a.host.deliver(Paper())


def test_a_crashed_host_has_no_timers_and_its_late_calls_do_nothing():
    world, (a, b) = office([0, 100])
    fired = []
    first = a.host.call_later(1, fired.append, "a")
    b.host.call_later(1, fired.append, "b")
    world.detach(0)
    a.host.end()
    assert not first.active
    late = a.host.call_later(0.5, fired.append, "late")
    a.host.broadcast(Letter(1))
    a.host.send(Letter(2), 1)
    a.host.deliver("whatever")
    a.host.drop("whatever", 1)
    a.host.state("whatever", 1)
    assert a.host.withdraw(1) == []
    b.host.broadcast(Letter(3))
    world.run_until(2)
    assert fired == ["b"]
    assert not late.active
    late.cancel()
    assert a.got == b.got == []
    assert len(world.states()["time"]) == len(world.deliveries()["time"]) == sum(world.drop_counts()) == 0
    successor = _kernel.Host(world, 0, 1)
    successor.call_later(0.5, fired.append, "successor")
    world.run_until(3)
    assert successor.incarnation == 1
    assert fired == ["b", "successor"]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 60)), max_size=12),
    st.integers(0, 60),
    st.integers(0, 60),
    st.booleans(),
)
def test_timers_of_a_sleeper_fire_when_it_wakes_in_their_order(timers, sleep, nap, crashes):
    world, (a, b) = office([0, 100])
    hosts = {"a": a.host, "b": b.host}
    fired = []
    for number, (whose, moment) in enumerate(timers):
        hosts[whose].call_later(
            moment, lambda *what: fired.append((round(world.now()), *what)), whose, number
        )
    world.run_until(sleep + 0.5)
    a.host.suspend()
    world.run_until(sleep + nap + 0.5)
    if crashes:
        a.host.end()
    else:
        a.host.resume()
    world.run_until(200)
    expected = []
    for number, (whose, moment) in enumerate(timers):
        asleep = whose == "a" and moment > sleep
        if asleep and crashes:
            continue
        late = asleep and moment <= sleep + nap
        expected.append((sleep + nap + 0.5 if late else moment, moment, number, whose))
    ordered = sorted(expected)
    assert [(number, whose) for _, _, number, whose in ordered] == [(n, w) for _, w, n in fired]


def test_the_worlds_own_clock_needs_no_node():
    world, (a, _) = office([0, 100])
    fired = []
    world.call_at(2.0, fired.append, "two")
    world.call_at(1.0, fired.append, "one")
    cancelled = world.call_at(1.5, fired.append, "never")
    a.host.end()
    cancelled.cancel()
    world.run_until(1.2)
    world.call_at(0.5, fired.append, "overdue")
    world.run_until(3)
    assert fired == ["one", "overdue", "two"]
    with pytest.raises(ValueError, match="finite"):
        world.call_at(math.nan, fired.append)


def test_a_generator_is_made_when_it_is_first_read_and_kept():
    world, _ = office([0, 100])
    host = _kernel.Host(world, 1, 3)
    with pytest.raises(AttributeError):
        _ = host.random
    made = []
    host.draw_from(lambda node, incarnation: made.append((node, incarnation)) or Random(5))
    assert made == []
    assert host.random is host.random and made == [(1, 3)]


def test_asking_for_the_movement_does_not_move_anybody():
    world = _kernel.World(RADIO, MAC, 7)
    world.add_waypoint(0, 0, 500, 500, 1, 20, 1, stationary=True)
    first, again = (world.movement(100.0) for _ in range(2))
    assert len(first["time"]) > 1
    for name, column in first.items():
        assert column.tolist() == again[name].tolist()


@given(st.integers(0, 2**64), st.integers(0, 2**31), st.integers(0, 255))
def test_a_node_draws_the_numbers_of_a_generator_seeded_by_its_name(seed, node, incarnation):
    again = f"/{incarnation}" if incarnation else ""
    usual, own = Random(f"{seed}/router/{node}{again}"), generators(seed)(node, incarnation)
    assert not vars(own), "a dictionary of each node's generator would take 300 bytes"
    for _ in range(3):
        assert own.random() == usual.random()
        assert own.gauss(0, 1) == usual.gauss(0, 1)
        assert own.sample(range(100), 5) == usual.sample(range(100), 5)


def test_a_shortcut_receives_the_messages_of_its_class_and_receive_the_others():
    class Note(Letter):
        pass

    world, (a, b) = office([0, 100])
    noted = []
    b.shortcuts = {Note: lambda message, sender, signal: noted.append((message.number, sender, signal))}
    world.attach(1, b)
    for letter in (Note(1), Letter(2), Note(3)):
        a.host.send(letter, 1)
    world.run_until(1)
    assert [number for number, _ in b.got] == [2]
    assert [(number, sender) for number, sender, _ in noted] == [(1, 0), (3, 0)]
    assert noted[0][2] == pytest.approx(received_power(100), rel=1e-9)
    world.detach(1)
    a.host.send(Note(4), 1)
    world.run_until(2)
    assert len(noted) == 2


def test_what_a_shortcut_refuses_is_a_drop_of_its_node():
    world, (a, b) = office([0, 100])
    b.shortcuts = {Letter: lambda message, sender, signal: 6}
    world.attach(1, b)
    a.host.send(Letter(1), 1)
    world.run_until(1)
    drops = world.router_drops()
    assert (drops["node"].tolist(), world.drop_counts()[6]) == ([1], 1)
