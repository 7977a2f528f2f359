"""Collection of acknowledgements: by interval (5.3), by children (4.3.2, table 3), of the latest event."""

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import Ack, Addressee, XcastEvent, version_of
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Publication
from roamcast.testing import Mesh
from roamcast.wire.message import unwrap

Coupon = EventType("coupon", {"zone": Integer()})
EVENT = Publication(0, 1, Coupon(zone=3), 512)
DELAY = 0.01


def broker(collection, destinations=(2, 3, 4)):
    """Publisher 0, broker 1 with an event for its children, and subscribers 2, 3 and 4 behind it."""
    parameters = RaftCbrParameters(
        ack_collection=collection,
        ack_delay=DELAY,
        reroute=False,
        dsdv=RaftDsdvParameters(period=3.0, settling=0.0),
    )
    mesh = Mesh(5, lambda host: RaftCbr(host, parameters), [(0, 1), (1, 2), (1, 3), (1, 4)])
    mesh.add_event_type(Coupon)
    mesh.run(for_=15)
    addressees = tuple(Addressee(node, 0, version_of(0, 1)) for node in destinations)
    mesh.inject(1, XcastEvent(EVENT, (0,), addressees), sender=0)
    mesh.sent.clear()
    return mesh


def acknowledge(mesh, node):
    mesh.routers[1].arrive(Ack(0, 1, frozenset({node})), node, node)


def forwarded(mesh):
    acks = [unwrap(sent.message) for sent in mesh.sent if sent.node == 1]
    return [sorted(ack.subscribers) for ack in acks if isinstance(ack, Ack)]


def test_a_broker_forwards_at_once_when_all_its_children_have_acknowledged():
    mesh = broker("children")
    for node in (2, 3):
        acknowledge(mesh, node)
        mesh.run(for_=0.8 * DELAY)
    assert forwarded(mesh) == []
    acknowledge(mesh, 4)
    assert forwarded(mesh) == [[2, 3, 4]]


def test_a_broker_waits_no_longer_than_the_delay_since_the_last_acknowledgement():
    mesh = broker("children")
    acknowledge(mesh, 2)
    mesh.run(for_=0.8 * DELAY)
    acknowledge(mesh, 3)
    mesh.run(for_=0.8 * DELAY)
    assert forwarded(mesh) == []
    mesh.run(for_=0.4 * DELAY)
    assert forwarded(mesh) == [[2, 3]]
    acknowledge(mesh, 4)  # the last one completes the set, and is forwarded alone
    assert forwarded(mesh) == [[2, 3], [4]]


def test_by_interval_a_broker_forwards_what_arrived_within_the_delay_of_the_first():
    mesh = broker("interval")
    for node in (2, 3):
        acknowledge(mesh, node)
        mesh.run(for_=0.8 * DELAY)
    assert forwarded(mesh) == [[2, 3]]
    acknowledge(mesh, 4)
    assert forwarded(mesh) == [[2, 3]]
    mesh.run(for_=1.1 * DELAY)
    assert forwarded(mesh) == [[2, 3], [4]]


def test_of_the_latest_a_broker_forwards_at_once_what_is_complete_and_the_rest_after_the_delay():
    mesh = broker("latest", destinations=(2, 3))
    acknowledge(mesh, 2)
    assert forwarded(mesh) == []
    acknowledge(mesh, 3)
    assert forwarded(mesh) == [[2, 3]]
    mesh.run(for_=1.1 * DELAY)
    assert forwarded(mesh) == [[2, 3]]
    mesh = broker("latest")
    acknowledge(mesh, 2)
    mesh.run(for_=1.1 * DELAY)
    assert forwarded(mesh) == [[2]]


@pytest.mark.parametrize(("collection", "expected"), [("latest", [3]), ("interval", [1, 2, 3])])
def test_a_subscriber_acknowledges_only_its_latest_event_within_the_delay(collection, expected):
    mesh = broker(collection)
    for sequence in (1, 2, 3):
        mesh.routers[1].acks.add_own(0, sequence)
    assert len(mesh.routers[1].acks.gathered) == len(expected)
    mesh.run(for_=1.1 * DELAY)
    acks = [unwrap(sent.message) for sent in mesh.sent if sent.node == 1]
    assert [ack.sequence for ack in acks if isinstance(ack, Ack)] == expected
    mesh.routers[1].acks.add_own(0, 4)
    mesh.run(for_=1.1 * DELAY)
    assert unwrap(mesh.sent[-1].message) == Ack(0, 4, frozenset({1}))


def test_an_own_acknowledgement_leaves_those_of_others_for_the_earlier_event():
    mesh = broker("latest")
    acknowledge(mesh, 2)
    for sequence in (1, 2):
        mesh.routers[1].acks.add_own(0, sequence)
    mesh.run(for_=1.1 * DELAY)
    assert forwarded(mesh) == [[2], [1]]


@pytest.mark.parametrize("collection", ["children", "interval", "latest"])
def test_an_acknowledgement_of_an_event_that_is_no_longer_cached_is_forwarded(collection):
    mesh = broker(collection)
    mesh.run(for_=11)  # longer than the cache's lease
    mesh.sent.clear()
    acknowledge(mesh, 2)
    mesh.run(for_=1.1 * DELAY)
    assert forwarded(mesh) == [[2]]


def test_records_of_acknowledgements_are_bounded():
    mesh = broker("children")
    router = mesh.routers[1]
    most = router.parameters.cached_events
    for sequence in range(10, 10 + 2 * most):
        router.acks.add(0, sequence, (2,))
    assert len(router.acks.gathered) <= most
