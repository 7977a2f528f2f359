"""What befalls nodes of a mesh."""

import pytest

from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing import catalogue
from roamcast.routing.flooding import Flooding
from roamcast.testing import Fault, FaultKind, Mesh
from roamcast.testing.host import Clock

News = EventType("news", {})
EVERYTHING = Filter.everything(News)
SETTLED = 250
"Seconds after which every protocol has renewed what it renews."


def tick(mesh, node, log):
    host = mesh.hosts[node]

    def ring():
        log.append(round(mesh.now, 3))
        host.call_later(1.0, ring)

    host.call_later(1.0, ring)


def test_a_crash_ends_timers_and_late_calls_and_a_start_is_a_new_incarnation():
    mesh = Mesh.line(2, Flooding)
    fired = []
    tick(mesh, 0, fired)
    mesh.run(for_=2.5)
    old = mesh.hosts[0]
    mesh.kill(0)
    timer = old.call_later(0.1, fired.append, "late")
    old.broadcast("anything")
    old.deliver("anything")
    old.state("alive", 1)
    mesh.run(for_=5)
    assert fired == [1, 2]
    assert not timer.active
    assert mesh.sent == mesh.deliveries == mesh.states == []
    mesh.revive(0)
    assert mesh.hosts[0] is not old
    assert mesh.hosts[0].incarnation == 1
    assert mesh.hosts[0].random.random() != old.random.random()


def test_a_sleeper_keeps_its_memory_and_does_late_what_it_missed():
    mesh = Mesh.line(2, Flooding, faults=[Fault(1.5, 0, FaultKind.SLEEP), Fault(4.25, 0, FaultKind.WAKE)])
    fired = []
    for second in (3, 1, 2):
        mesh.hosts[0].call_later(second, fired.append, second)
    mesh.run(for_=4)
    assert fired == [1]
    mesh.subscribe(0, EVERYTHING)
    mesh.publish(1, News())
    mesh.run(for_=0.2)
    assert mesh.delivered == []
    mesh.run(for_=1)
    assert fired == [1, 2, 3]
    mesh.publish(1, News())
    mesh.run(for_=1)
    assert mesh.delivered == [(0, News())]
    assert mesh.hosts[0].incarnation == 0


def test_a_radio_that_is_off_neither_hears_nor_sends_while_timers_go_on():
    mesh = Mesh.line(3, Flooding, faults=[Fault(1, 1, FaultKind.RADIO_OFF), Fault(2, 1, FaultKind.RADIO_ON)])
    fired = []
    tick(mesh, 1, fired)
    mesh.subscribe(2, EVERYTHING)
    mesh.run(for_=1.2)
    mesh.publish(0, News())
    mesh.publish(1, News())
    mesh.run(for_=0.5)
    assert mesh.delivered == []
    mesh.run(for_=1)
    mesh.publish(0, News())
    mesh.run(for_=0.5)
    assert mesh.delivered == [(2, News())]
    assert fired == [1, 2, 3]


def test_who_arrives_late_starts_then_and_for_the_first_time():
    started = []

    class Eager(Flooding):
        def start(self):
            started.append((self.host.node, self.host.now(), self.host.incarnation))

    mesh = Mesh.line(2, Eager, faults=[Fault(5, 1, FaultKind.ARRIVE)])
    mesh.run(for_=10)
    assert started == [(0, 0, 0), (1, 5, 0)]


@pytest.mark.parametrize("protocol", catalogue.names())
@pytest.mark.parametrize("published_before", [1, 40])
def test_a_publisher_that_restarts_is_heard_again(protocol, published_before):
    """Its second incarnation counts its publications from one again, while others remember the first."""
    router = catalogue.find(protocol)
    mesh = Mesh.line(3, router)
    for node in range(3):
        mesh.place(node, 200.0 * node, 0.0)  # some route by it

    def begin():
        mesh.advertise(0, EVERYTHING)
        mesh.run(for_=SETTLED)  # adverts, subscriptions and routes are there

    def publish(count):
        first = mesh.publish(0, News())
        mesh.run(for_=2)  # who builds routes when there is something to send has built them
        return [first, *(mesh.publish(0, News()) for _ in range(count - 1))]

    mesh.subscribe(2, EVERYTHING)
    begin()
    before = publish(published_before)
    mesh.run(for_=30)
    assert {d.publication.id for d in mesh.deliveries} == {p.id for p in before}
    for incarnation in (1, 2):
        mesh.kill(0)
        mesh.run(for_=1)
        mesh.revive(0)
        begin()
        mesh.deliveries.clear()
        again = publish(3)
        mesh.run(for_=30)
        assert [p.sequence for p in again] == [incarnation << 24 | n for n in (1, 2, 3)]
        assert {(d.node, d.publication.id) for d in mesh.deliveries} == {(2, p.id) for p in again}


def test_clocks_begin_and_run_as_they_are_told():
    fired = []

    class Ticks(Flooding):
        def start(self):
            self.host.call_later(10.0, self.tick)

        def tick(self):
            fired.append((self.host.node, self.host.now()))

    mesh = Mesh(2, Ticks, clocks={1: Clock(start=100.0, rate=1.25)})
    mesh.run(for_=8.0)
    assert fired == [(1, 110.0)]
    mesh.run(for_=2.0)
    assert fired == [(1, 110.0), (0, 10.0)]
    mesh.kill(1)
    mesh.revive(1)
    assert mesh.hosts[1].now() == 112.5
