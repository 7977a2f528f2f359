"""The compiled forwarding of packets does what the Python version does: same packets, answers and calls."""

import gc
import weakref

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from roamcast import _kernel
from roamcast.content.schema import EventType
from roamcast.routing.router import Drop, Message, Position, Publication, Velocity
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.copies import Copy
from roamcast.routing.unicast.gpsr.messages import FARTHEST, Beacon, GeoPacket, PerimeterState, PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.routing.unicast.gpsr.plain_forwarding import PlainForwarding
from roamcast.scenario.model import Scenario
from roamcast.sim.kernel import build

News = EventType("news", {})
NODE, AROUND = 0, 8
"The node that forwards, and the number of nodes that it hears of."


class Owner:
    """What a forwarding hands back, as a list; some edges were taken before."""

    reasons = Drop

    def __init__(self):
        self.calls = []

    def retry_held(self):
        self.calls.append("retry")

    def beacon_of_followed(self):
        self.calls.append("followed")

    def arrive(self, *what):
        self.calls.append(("arrive", what))
        return Drop.UNWANTED

    def arrive_here(self, packet):
        self.calls.append(("here", packet))

    def expire(self, packet):
        self.calls.append(("expire", packet))

    def give_up(self, packet):
        self.calls.append(("give up", packet))

    def walks_again(self, *edge):
        self.calls.append(("again?", edge))
        return edge[3] % 3 == 0


class Sink:
    """The router of every other node: a list of what it receives."""

    def __init__(self):
        self.heard = []

    def receive(self, message, sender, signal):
        self.heard.append((message, sender))


class Bench:
    """A node at the origin of a world in which all hear each other, and the forwarding of one kind on it."""

    def __init__(self, kind, rules):
        nodes = {"count": AROUND, "mobility": "static", "at": [(float(n), 0.0) for n in range(AROUND)]}
        area = {"width": 100, "height": 100}
        bench = {"name": "bench", "area": area, "duration": 1000, "nodes": {"all": nodes}}
        self.world = build(Scenario.model_validate(bench), 1)
        self.world.start()
        self.host = _kernel.Host(self.world, NODE)
        self.host.grant_location(Position, Velocity)
        self.sinks = [Sink() for _ in range(AROUND)]
        for node, sink in enumerate(self.sinks):
            self.world.attach(node, sink)
        self.owner, self.near, self.held = Owner(), Places(5.0, 6), []
        self.beacons = Leases(5.0, 6)
        perimeter, relative, restarts = rules
        limits = (FARTHEST, perimeter, relative, 1.0, restarts, 16)
        types = (GeoPacket, PointCm, PerimeterState)
        self.forwarding = kind(self.owner, self.host, self.near, self.held, *types, *limits)
        self.forwarding.keep_beacons(self.beacons)
        self.forwarding.followed = 3
        self.answers = []

    def play(self, step):
        what, argument, sender, later = step
        now = self.world.now()
        if what == "receive":
            self.answers.append(self.forwarding.receive(argument, sender, 1e-9))
        elif what == "send":
            self.forwarding.send(argument)
        elif what == "hold":
            self.held.append(argument)
        else:
            self.near.discard(sender)
            self.forwarding.invalidate()
        self.world.run_until(now + later)
        state = self.near.nodes(now), len(self.forwarding), self.forwarding.here(), self.forwarding.spoke
        heard = [sink.heard for sink in self.sinks]
        return state, self.answers, self.owner.calls, heard, self.beacons.items(now)


coordinates = st.integers(-400, 400)
points = st.builds(PointCm, coordinates, coordinates)
nodes = st.integers(0, AROUND - 1)
faces = st.builds(PerimeterState, points, points, nodes, nodes)
packets = st.builds(
    GeoPacket,
    origin=nodes,
    destination=nodes | st.just(50),
    goal=points,
    radius=st.sampled_from([0, 0, 1]),
    serial=st.integers(0, 3),
    hops=st.integers(1, 4),
    here=points,
    face=st.tuples() | st.tuples(faces),
    payload=st.builds(Copy, st.builds(Publication, nodes, st.integers(1, 3), st.just(News()))),
)
steps = st.one_of(
    st.tuples(st.just("receive"), st.builds(Beacon, points), nodes, st.sampled_from([0.0, 0.2, 2.0])),
    st.tuples(st.just("receive"), packets, nodes, st.sampled_from([0.0, 0.2, 2.0])),
    st.tuples(st.just("send"), packets, nodes, st.just(0.2)),
    st.tuples(st.sampled_from(["hold", "lose"]), st.none(), nodes, st.just(0.0)),
)


@given(
    st.lists(points, max_size=AROUND - 1),
    st.lists(steps, min_size=5, max_size=30),
    st.sampled_from([(True, False, False), (True, False, True), (True, True, True), (False, False, False)]),
)
def test_the_compiled_forwarding_agrees_with_that_in_python(around, played, rules):
    played = [("receive", Beacon(place), n + 1, 0.0) for n, place in enumerate(around)] + played
    one, other = Bench(_kernel.Forwarding, rules), Bench(PlainForwarding, rules)
    for step in played:
        assert one.play(step) == other.play(step)
    for sink in one.sinks:
        for message, _ in sink.heard:
            event("a face" if message.face else "greedy")
    for call in one.owner.calls:
        event(call if isinstance(call, str) else call[0])


def test_a_packet_that_is_passed_on_counts_as_many_bytes_as_one_that_is_sent():
    class Relay(Sink):
        def __init__(self, forwarding):
            super().__init__()
            self.receive = forwarding.receive

    sent = []
    for kind in (_kernel.Forwarding, PlainForwarding):
        bench = Bench(kind, (True, False, False))
        bench.near.renew(2, PointCm(20, 0), 0.0)
        bench.world.attach(NODE, Relay(bench.forwarding))
        payload: Message = Copy(Publication(5, 1, News(), size=300))
        packet = GeoPacket(5, 6, PointCm(60, 0), 0, 1, 9, PointCm(0, 1), (), payload)
        _kernel.Host(bench.world, 5).send(packet, NODE)
        bench.world.run_until(1.0)
        rows = bench.world.transmissions()
        sent.append({name: column.tolist() for name, column in rows.items()})
    assert sent[0] == sent[1]
    assert len(sent[0]["kind"]) == 2


def test_the_compiled_forwarding_refuses_other_hosts_than_the_kernels():
    types = (GeoPacket, PointCm, PerimeterState)
    rules = (FARTHEST, True, False, 1.0, False, 16)
    with pytest.raises(TypeError, match="host of the kernel"):
        _kernel.Forwarding(Owner(), Owner(), Places(5.0, 6), [], *types, *rules)


def test_a_router_and_its_compiled_forwarding_are_collected_together():
    bench = Bench(_kernel.Forwarding, (True, False, False))
    bench.owner.forwarding = bench.forwarding
    gone = weakref.ref(bench.owner)
    bench.world.close()
    del bench
    gc.collect()
    assert gone() is None
