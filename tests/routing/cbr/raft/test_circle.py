"""RAFT-CBR's sequence numbers are counted in a circle: nothing is lost or reordered where they begin anew."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import CIRCLE, HIGHEST, Nack, SequenceGap, extend, wire_number
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.cbr.raft.subscriber.publisher_stream import wire_gaps
from roamcast.routing.profiles import LIVE, with_profile
from roamcast.routing.router import Publication
from roamcast.testing import LinkModel, Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
LIVE_PARAMETERS = RaftCbr.parameters_type.model_validate(with_profile(RaftCbr, {"profile": LIVE}))


def following(number):
    """The number after `number`: neither 0 nor the highest is used."""
    return number % (HIGHEST - 1) + 1


def network(seed, wanted=EVERYTHING):
    mesh = Mesh.line(
        4,
        partial(RaftCbr, parameters=LIVE_PARAMETERS),
        seed=seed,
        links=LinkModel(loss=0.2, tries=2),
    )
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=5)
    for node in (1, 3):
        mesh.subscribe(node, wanted)
    mesh.run(for_=10)
    return mesh


def zones(mesh, node):
    return [each.publication.event["zone"] for each in mesh.deliveries if each.node == node]


@given(st.integers(CIRCLE, 2**60), st.integers(-(2**31) + 1, 2**31 - 1))
def test_an_extended_number_is_found_from_its_low_bits(near, step):
    assert extend(wire_number(near + step), near) == near + step


@given(st.integers(CIRCLE, 2**40), st.lists(st.integers(1, 2**20), min_size=2, max_size=9))
def test_gaps_over_the_end_of_the_circle_can_be_written_and_cover_all_numbers(start, steps):
    gaps = []
    for step in steps:
        gaps.append(SequenceGap(start, start + step))
        start += step + 2
    written = wire_gaps(gaps)
    assert all(gap.inconsistency() is None and gap.last < HIGHEST for gap in written)
    assert Nack(0, 1, (), -1, tuple(written), 1).inconsistency() is None
    for first, last in gaps:
        for number in (first, last, (first + last) // 2):
            wire = wire_number(number)
            assert wire == HIGHEST or any(low <= wire <= high for low, high in written)


@pytest.mark.parametrize("seed", range(6))
def test_all_events_arrive_in_order_around_the_end_of_the_circle(seed):
    mesh = network(seed)
    number = CIRCLE - 30
    for zone in range(80):
        if zone == 25:
            mesh.cut(2, 3)  # some events wait, and are sent again, over the end
        elif zone == 45:
            mesh.join(2, 3)
        mesh.routers[0].publish(Publication(0, number, Coupon(zone=zone)))
        number = following(number)
        mesh.run(for_=0.1)
    assert number < 60
    mesh.run(for_=60)
    assert zones(mesh, 1) == zones(mesh, 3) == list(range(80))
    assert not mesh.routers[0].publishing.events


@pytest.mark.parametrize("seed", range(2))
def test_a_new_subscription_reaches_back_over_the_end_of_the_circle(seed):
    mesh = network(seed, Coupon.zone >= 1000)
    mesh.cut(2, 3)
    mesh.run(for_=1)
    mesh.subscribe(3, EVERYTHING)  # which the publisher does not know yet: it adds events later
    number = CIRCLE - 10
    for zone in range(20):
        mesh.routers[0].publish(Publication(0, number, Coupon(zone=zone)))
        number = following(number)
        mesh.run(for_=0.1)
    mesh.join(2, 3)
    mesh.run(for_=60)
    assert zones(mesh, 3) == list(range(20))


def test_a_publisher_that_restarts_more_often_than_there_are_incarnations_is_heard():
    mesh = network(1)
    published = []
    for life in range(262):
        for part in range(2):
            mesh.publish(0, Coupon(zone=2 * life + part))
            published.append(2 * life + part)
            mesh.run(for_=0.3)
        mesh.run(for_=6)
        mesh.kill(0)
        mesh.revive(0)
        mesh.advertise(0, EVERYTHING)
        mesh.run(for_=8)
    found = zones(mesh, 1)
    assert found == sorted(set(found))
    late = [zone for zone in published if zone >= 2 * 250]
    assert set(late) <= set(found)
    assert len(found) >= 0.95 * len(published)


def test_a_subscriber_that_restarts_more_often_than_there_are_incarnations_is_served():
    mesh = network(2)
    for life in range(262):
        mesh.kill(1)
        mesh.revive(1)
        mesh.subscribe(1, EVERYTHING)
        mesh.run(for_=8)
        mesh.publish(0, Coupon(zone=life))
        mesh.run(for_=2)
    assert zones(mesh, 1) == list(range(262))
