"""PAMPA as a collaborator, told by P-PUBS: who repeats, who keeps still, and who hears it in the end."""

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.flooding import Flooding
from roamcast.routing.pampa.pampa import Pampa
from roamcast.routing.pampa.parameters import PampaParameters
from roamcast.routing.router import Drop, Publication
from roamcast.routing.tpsr.messages import PampaEvent
from roamcast.routing.tpsr.parameters import PPubsParameters
from roamcast.routing.tpsr.ppubs import PPubs
from roamcast.testing import Mesh, lose

News = EventType("news", {"level": Integer()})
NEWS = News(level=5)
ALL_NEWS = Filter.everything(News)
RANGE = 250.0


def p_pubs(**parameters):
    return lambda host: PPubs(host, PPubsParameters(**parameters))


def scattered(places, router, **options):
    """Nodes at their places, joined where they are within range."""
    near = [
        (a, b) for a, b in combinations(range(len(places)), 2) if math.dist(places[a], places[b]) <= RANGE
    ]
    mesh = Mesh(len(places), router, near, **options)
    for node, (x, y) in enumerate(places):
        mesh.place(node, x, y)
    return mesh


def test_an_event_crosses_the_line_and_is_delivered_once_to_whoever_wants_it():
    mesh = Mesh.line(5, PPubs)
    mesh.subscribe(4, ALL_NEWS)
    mesh.subscribe(2, ALL_NEWS)
    mesh.publish(0, NEWS)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, NEWS), (4, NEWS)]
    assert len(mesh.sent_of(PampaEvent)) == 5


def test_the_farthest_speaks_first_and_silences_those_behind_it():
    # All hear each other: of those who hear 0, the farther away the sooner they speak.
    mesh = scattered([(0, 0), (50, 0), (100, 0), (150, 0), (200, 0)], p_pubs(copies=2))
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert [sent.node for sent in mesh.sent] == [0, 4, 3]
    assert mesh.drop_counts()[Drop.SUPPRESSED] == 2
    assert mesh.drop_counts()[Drop.DUPLICATE] == 2 * 4


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_among_those_who_all_hear_each_other_so_many_repeat_as_copies_are_allowed(copies):
    places = [(30 * n, 0) for n in range(8)]
    mesh = scattered(places, p_pubs(copies=copies))
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert len(mesh.sent) == 1 + copies


def test_the_first_copy_may_be_counted():
    places = [(30 * n, 0) for n in range(8)]
    mesh = scattered(places, p_pubs(copies=3, count_first=True))
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert len(mesh.sent) == 1 + 2


def test_at_the_target_one_speaks_first():
    mesh = scattered([(0, 0), (90, 0), (170, 0), (240, 0)], p_pubs(delay="target", copies=1))
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert [sent.node for sent in mesh.sent] == [0, 2]


def test_a_copy_that_was_not_heard_does_not_count():
    mesh = scattered([(0, 0), (100, 0), (200, 0)], p_pubs(copies=1))
    with mesh.fault(lose(from_=2, to=1)):
        mesh.publish(0, NEWS)
        mesh.run(for_=1)
    assert [sent.node for sent in mesh.sent] == [0, 2, 1]


def test_a_flood_ends_at_the_hop_limit():
    mesh = Mesh.line(5, p_pubs(hop_limit=2))
    mesh.publish(0, NEWS)
    mesh.run(for_=2)
    assert [(sent.node, sent.message.hops) for sent in mesh.sent] == [(0, 0), (1, 1), (2, 2)]
    assert Drop.HOP_LIMIT in mesh.drop_counts()


def test_a_publisher_that_has_forgotten_its_event_does_not_take_it_from_others():
    mesh = Mesh.line(2, PPubs)
    mesh.subscribe(0, ALL_NEWS)
    assert mesh.inject(0, PampaEvent(Publication(0, 1, NEWS)), sender=1) is Drop.DUPLICATE
    mesh.run(for_=1)
    assert mesh.delivered == [] and mesh.sent == []


def test_when_too_many_floods_wait_the_oldest_is_let_go_and_told():
    mesh = Mesh.line(2, p_pubs(pending_limit=1))
    mesh.add_event_type(News)
    first, second = (PampaEvent(Publication(7, n, NEWS)) for n in (1, 2))
    mesh.inject(0, first, sender=1)
    mesh.inject(0, second, sender=1)
    mesh.run(for_=1)
    let_go = [(d.message.publication_id, d.reason) for d in mesh.drops if d.reason is not Drop.DUPLICATE]
    assert let_go == [(first.publication_id, Drop.TABLE_FULL)]
    assert [sent.message.publication_id for sent in mesh.sent if sent.node == 0] == [second.publication_id]


def test_any_router_can_have_it_as_a_collaborator():
    mesh = Mesh(1, Flooding)
    repeated, let_go = [], []
    pampa = Pampa(mesh.hosts[0], PampaParameters(copies=1), repeated.append, lambda *end: let_go.append(end))
    assert not pampa.record_copy(7) and not pampa.record_copy(8)
    pampa.wait(7, math.nan, "seven")
    pampa.wait(8, math.nan, "eight")
    assert pampa.record_copy(8)
    mesh.run(for_=1)
    assert (repeated, let_go) == (["seven"], [("eight", Drop.SUPPRESSED)])
    assert pampa.record_copy(7) and not pampa.begin(7) and pampa.begin(9)


@st.composite
def crowds(draw):
    """A few nodes in a square in which not everyone hears everyone."""
    coordinate = st.floats(0, 700)
    return draw(st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=12))


@settings(deadline=None, max_examples=60)
@given(crowds(), st.sampled_from(["far-first", "target", "signal"]), st.booleans())
def test_with_unlimited_copies_it_reaches_exactly_what_flooding_reaches(places, delay, friis):
    unlimited = p_pubs(copies=10**6, delay=delay, distance="friis" if friis else "inverse")
    reached = []
    for router in (Flooding, unlimited):
        mesh = scattered(places, router)
        for node in range(1, len(places)):
            mesh.subscribe(node, ALL_NEWS)
        mesh.publish(0, NEWS)
        mesh.run(for_=5)
        assert len(mesh.deliveries) == len({d.node for d in mesh.deliveries})
        reached.append((sorted(d.node for d in mesh.deliveries), len(mesh.sent)))
    assert reached[0] == reached[1]


@settings(deadline=None, max_examples=40)
@given(crowds(), st.integers(1, 3))
def test_whoever_keeps_still_has_heard_so_many_copies(places, copies):
    mesh = scattered(places, p_pubs(copies=copies))
    mesh.publish(0, NEWS)
    mesh.run(for_=5)
    spoke = {sent.node for sent in mesh.sent}
    for drop in mesh.drops:
        if drop.reason is Drop.SUPPRESSED:
            assert len(spoke & set(mesh.neighbours(drop.node))) > copies
