"""The small mechanisms of RAFT-CBR by themselves, each against a naive twin."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.broker.cache import subtract
from roamcast.routing.cbr.raft.messages import (
    Addressee,
    Nack,
    SequenceGap,
    XcastEvent,
    first_version,
    version_of,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.cbr.raft.xcast import join_chain
from roamcast.routing.router import Drop, Publication
from roamcast.testing import Mesh
from roamcast.wire.message import unwrap

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
EVENTS = 12
PARAMETERS = RaftCbrParameters(
    reroute=False,
    custody=False,
    window=EVENTS,
    ping_wait=1000.0,
    dsdv=RaftDsdvParameters(period=3.0, settling=0.0, queue_timeout=0.0),
)

spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(spans, max_size=5), spans)
def test_what_remains_of_holes_is_what_was_not_filled(holes, filled):
    left = subtract(holes, *filled)
    before = {n for a, b in holes for n in range(a, b + 1)}
    assert {n for a, b in left for n in range(a, b + 1)} == before - set(range(filled[0], filled[1] + 1))
    assert all(a <= b for a, b in left)


@given(st.lists(st.integers(0, 5), max_size=8).map(tuple), st.integers(0, 5))
def test_a_chain_ends_with_me_and_names_me_once(chain, me):
    joined = join_chain(chain, me)
    assert joined[-1] == me and joined.count(me) == 1
    assert joined[:-1] == chain[: len(joined) - 1]


def missing(drawn):
    """Holes in rising order that do not touch, as a subscriber lists them."""
    ends = sorted(set(drawn))
    return tuple(SequenceGap(first, last) for first, last in zip(ends[::2], ends[1::2], strict=False))


holes = st.lists(st.integers(1, EVENTS), min_size=2, max_size=8).map(missing).filter(bool)


def three_with(published):
    """Nodes 0, 1 and 2 in a line; node 2 has got none of the events that node 0 has sent it."""
    mesh = Mesh.line(3, lambda host: RaftCbr(host, PARAMETERS))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    mesh.subscribe(2, EVERYTHING)
    mesh.run(for_=5)
    mesh.cut(1, 2)
    for _ in range(published):
        mesh.publish(0, Coupon(zone=1))
    mesh.run(for_=2)
    mesh.join(1, 2)
    mesh.sent.clear()
    return mesh


def sent_again(mesh, node):
    return {
        s.message.publication_id
        for s in mesh.sent
        if s.node == node and isinstance(unwrap(s.message), XcastEvent)
    }


@settings(max_examples=25)
@given(holes)
def test_a_publisher_retransmits_all_that_a_request_names_and_nothing_else(wanted):
    mesh = three_with(EVENTS)
    mesh.routers[0].arrive(Nack(0, 2, (), first_version(0), wanted, 1), 2, 1)
    mesh.run(for_=0.001)
    assert sent_again(mesh, 0) == {n for first, last in wanted for n in range(first, last + 1)}


@settings(max_examples=25)
@given(holes)
def test_a_broker_serves_all_that_a_request_names_and_asks_for_nothing_that_it_has_served(wanted):
    mesh = three_with(EVENTS)
    mesh.routers[1].arrive(Nack(0, 2, (0,), first_version(0), wanted, 1), 2, 2)
    mesh.run(for_=0.001)
    named = [n for first, last in wanted for n in range(first, last + 1)]
    assert sent_again(mesh, 1) == set(named)
    assert not [each for each in mesh.sent if isinstance(unwrap(each.message), Nack)]


incarnations = st.integers(0, 3)


@given(incarnations, incarnations, st.integers(1, 2), st.none() | incarnations)
def test_an_event_of_another_incarnation_is_not_delivered(crashes, of, version, first_of):
    mesh = Mesh.line(2, lambda host: RaftCbr(host, PARAMETERS))
    for _ in range(crashes):
        mesh.kill(1)
        mesh.revive(1)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    for zone in range(2):  # two versions
        mesh.subscribe(1, Coupon.zone == zone)
        mesh.run(for_=2)
    mesh.publish(0, Coupon(zone=0))
    mesh.run(for_=1)
    assert len(mesh.deliveries) == 1
    before = 1 if first_of is None else first_version(first_of)
    place = Addressee(1, before, version_of(of, version))
    copy = XcastEvent(Publication(0, 2, Coupon(zone=1)), (0,), (place,))
    reason = mesh.inject(1, copy, sender=0)
    assert mesh.routers[1].incarnation == crashes
    mine = of == crashes and first_of in (None, crashes)
    assert reason is (None if mine else Drop.EXPIRED)
    assert len(mesh.deliveries) == 1 + mine
