"""CLONE: requests are answered from the community, providers found by place, and who moves is found again."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "routing" / "clone"))

from fields import Content, communities, construct, lay, scatter, street, topic

from roamcast.routing.clone.clone import Clone
from roamcast.routing.clone.grid import GridCbr
from roamcast.routing.clone.messages import (
    BranchEvent,
    CommunityEvent,
    CommunityWish,
    Delegation,
    Nearby,
    ProviderAdvert,
    ProviderEvent,
    ProviderWish,
)
from roamcast.routing.clone.parameters import CloneParameters, GridParameters
from roamcast.routing.router import Drop
from roamcast.testing.links import lose

QUICK = {"advertise": 10.0, "advert_lease": 40.0}


def provide(mesh, node, numbers=(1,)):
    """Have a node offer some topics, and let that and communities settle."""
    mesh.advertise(node, (Content.topic >= min(numbers)) & (Content.topic <= max(numbers)))
    mesh.run(for_=6)
    construct(mesh)
    mesh.run(for_=5)


def answer(mesh, node, number):
    """Ask, and tell what came at once and from whom."""
    before = len(mesh.deliveries)
    mesh.request(node, topic(number))
    mesh.run(for_=0.3)
    return [d.publication for d in mesh.deliveries[before:] if d.node == node]


@pytest.mark.parametrize("enhanced", [False, True])
def test_a_request_waits_for_the_next_publication_and_the_second_is_answered_from_the_cache(enhanced):
    mesh = lay(street(7), enhanced=enhanced, **QUICK)
    provide(mesh, 0)
    assert answer(mesh, 6, 1) == []
    published = mesh.publish(0, Content(topic=1))
    mesh.run(for_=0.1)
    assert [(d.node, d.publication) for d in mesh.deliveries] == [(6, published)]
    mesh.routers[6].cancel_request(topic(1))
    mesh.sent.clear()
    assert answer(mesh, 6, 1) == [published]
    assert not mesh.sent_of(ProviderEvent)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["clone", "basic", "grid"]))
def test_on_a_still_field_every_request_for_what_exists_is_answered(seed, name):
    places = scatter(seed, nodes=12)
    router = GridCbr if name == "grid" else Clone
    chosen = GridParameters(**QUICK) if name == "grid" else CloneParameters(enhanced=name == "clone", **QUICK)
    mesh = lay(places, router, chosen)
    provide(mesh, 0, (1, 3))
    provide(mesh, 5, (4, 6))
    asked = [(node, 1 + (node * 7 + seed) % 6) for node in range(12)]
    asked = [(node, number) for node, number in asked if node != (0 if number <= 3 else 5)]
    for node, number in asked:
        mesh.request(node, topic(number))
    for _ in range(3):
        mesh.run(for_=8)
        for number in range(1, 7):
            mesh.publish(0 if number <= 3 else 5, Content(topic=number))
    mesh.run(for_=15)
    got = {(d.node, d.publication.event) for d in mesh.deliveries}
    assert {(node, Content(topic=number)) for node, number in asked} <= got


@pytest.mark.parametrize("router", [Clone, GridCbr])
def test_who_offers_what_it_asks_for_gets_it_from_another_though_its_own_is_newer(router):
    mesh = lay(street(4), router, router.parameters_type(**QUICK))
    provide(mesh, 1)
    provide(mesh, 3)
    [principal] = set(communities(mesh))
    assert principal not in (1, 3)
    mesh.request(3, topic(1))
    mesh.run(for_=1)
    mesh.publish(3, Content(topic=1))
    mesh.run(for_=15)
    assert {d.node for d in mesh.deliveries} == set()
    published = mesh.publish(1, Content(topic=1))
    mesh.publish(3, Content(topic=1))
    mesh.run(for_=15)
    assert [(d.node, d.publication) for d in mesh.deliveries] == [(3, published)]


def test_a_principal_that_knows_no_provider_says_so():
    mesh = lay(street(2), **QUICK)
    mesh.run(for_=6)
    construct(mesh)
    mesh.request(1, topic(9))
    mesh.run(for_=1)
    [principal] = set(communities(mesh))
    result = [(drop.node, drop.reason) for drop in mesh.drops if isinstance(drop.message, CommunityWish)]
    assert result == [(principal, Drop.NO_ROUTE)]


def test_equal_requests_are_one_to_the_provider():
    mesh = lay(street(8, apart=120.0), enhanced=False, **QUICK)
    provide(mesh, 7)
    mesh.sent.clear()
    principal = communities(mesh)[1]
    members = [node for node, each in enumerate(communities(mesh)) if each == principal]
    assert len(members) >= 3
    for node in members:
        mesh.request(node, topic(1))
    mesh.run(for_=1)
    assert {s.message.principal for s in mesh.sent_of(ProviderWish)} == {principal}
    assert len([s for s in mesh.sent_of(ProviderWish) if s.node == principal]) == 1
    mesh.publish(7, Content(topic=1))
    mesh.run(for_=2)
    assert {d.node for d in mesh.deliveries} >= set(members)


def test_a_cached_answer_is_the_newest_copy_that_the_principal_had():
    mesh = lay(street(5), **QUICK)
    provide(mesh, 0)
    answer(mesh, 4, 1)
    published = []
    for _ in range(3):
        published.append(mesh.publish(0, Content(topic=1)))
        mesh.run(for_=1)
    mesh.routers[4].cancel_request(topic(1))
    assert answer(mesh, 4, 1) == [published[-1]]


def test_a_provider_displaced_by_two_hops_is_still_found():
    #  Figure 2: the provider 4 has left the range of 3, which is near to where it advertised; 5 is two hops
    #  from there, over 6, and 6 still hears it.
    places = [*street(5), (500.0, 190.0), (680.0, 150.0)]
    mesh = lay(places, enhanced=False, advertise=200.0, advert_lease=500.0)
    provide(mesh, 4)
    mesh.place(4, 800.0, 280.0)
    mesh.cut(4, 3)
    with mesh.fault(lose(ProviderAdvert)):
        mesh.run(for_=20)
    mesh.sent.clear()
    mesh.request(0, topic(1))
    mesh.run(for_=3)
    assert [(s.node, s.to) for s in mesh.sent if isinstance(s.message, Nearby)] == [(3, -1), (5, 6), (6, 4)]
    published = mesh.publish(4, Content(topic=1))
    mesh.run(for_=3)
    assert (0, published) in [(d.node, d.publication) for d in mesh.deliveries]


def test_a_delegate_near_by_serves_who_asks_late():
    #  The provider 0 is far from both communities; 8 has a copy and is near to 9.
    mesh = lay(street(12, apart=180.0), ttl=1, **QUICK)
    mesh.advertise(0, topic(1))
    mesh.run(for_=8)
    for router in mesh.routers:
        router.community.become_principal(1)
    answer(mesh, 8, 1)
    published = mesh.publish(0, Content(topic=1))
    mesh.run(for_=2)
    mesh.sent.clear()
    for router in mesh.routers:
        router.community.become_principal(1)
    assert answer(mesh, 10, 1) == [published]
    assert mesh.sent_of(Delegation)
    assert {s.node for s in mesh.sent_of(ProviderEvent)} <= {8, 9, 10}


def test_without_enhancements_who_asks_late_waits():
    mesh = lay(street(6), enhanced=False, **QUICK)
    provide(mesh, 0)
    mesh.publish(0, Content(topic=1))
    mesh.run(for_=2)
    assert answer(mesh, 5, 1) == []


def test_a_tree_carries_one_copy_where_separate_streams_carry_several():
    copies = {}
    for publishing in ("separate", "tree"):
        places = [*street(6, apart=180.0), (1000.0, 150.0), (1000.0, -150.0)]
        mesh = lay(places, publishing=publishing, ttl=1, **QUICK)
        mesh.advertise(0, topic(1))
        mesh.run(for_=8)
        for router in mesh.routers:
            router.community.become_principal(1)
        for node in (6, 7):
            mesh.request(node, topic(1))
        mesh.run(for_=2)
        mesh.sent.clear()
        mesh.publish(0, Content(topic=1))
        mesh.run(for_=2)
        assert {6, 7} <= {d.node for d in mesh.deliveries}
        copies[publishing] = len(mesh.sent_of(ProviderEvent)) + len(mesh.sent_of(BranchEvent))
    assert copies["tree"] < copies["separate"]


def test_a_subscription_that_stands_brings_everything():
    mesh = lay(street(5), **QUICK)
    provide(mesh, 0)
    mesh.subscribe(4, topic(1))
    mesh.run(for_=3)
    published = []
    for _ in range(4):
        published.append(mesh.publish(0, Content(topic=1)))
        mesh.run(for_=20)
    assert [d.publication for d in mesh.deliveries] == published


def test_a_wish_lost_on_the_way_is_asked_again():
    mesh = lay(street(5), **QUICK)
    provide(mesh, 0)
    with mesh.fault(lose(ProviderWish), lose(CommunityWish)):
        mesh.request(4, topic(1))
        mesh.run(for_=1)
    mesh.run(for_=25)
    published = mesh.publish(0, Content(topic=1))
    mesh.run(for_=2)
    assert [d.publication for d in mesh.deliveries] == [published]


def test_what_nobody_wants_is_told():
    mesh = lay(street(2), **QUICK)
    provide(mesh, 0)
    mesh.publish(0, Content(topic=1))
    assert mesh.drops[-1].reason is Drop.UNWANTED


def test_a_grid_belongs_to_the_head_nearest_to_its_middle_and_to_another_when_that_leaves():
    #  Squares of 500 m: 0, 1, 2 in the first, 3 and 4 in the second.
    mesh = lay([(100, 250), (260, 250), (400, 250), (560, 250), (740, 250)], GridCbr, GridParameters(**QUICK))
    mesh.run(for_=6)
    construct(mesh)
    assert communities(mesh) == [1, 1, 1, 4, 4]
    mesh.place(1, 600, 330)
    mesh.cut(0, 1)
    for neighbours in ((0, 2), (1, 3), (1, 4)):
        mesh.join(*neighbours)
    mesh.run(for_=60)
    assert communities(mesh)[1] == 4
    assert communities(mesh)[0] == communities(mesh)[2] in (0, 2)


def test_grid_heads_serve_their_square():
    mesh = lay(street(8), GridCbr, GridParameters(**QUICK))
    provide(mesh, 0)
    for node in (5, 6, 7):
        mesh.request(node, topic(1))
    mesh.run(for_=1)
    mesh.publish(0, Content(topic=1))
    mesh.run(for_=2)
    assert {d.node for d in mesh.deliveries} == {5, 6, 7}
    assert mesh.sent_of(CommunityEvent)


def test_parameters_that_contradict_each_other_are_refused():
    for wrong in ({"subscription_lease": 15.0}, {"service_lease": 50.0}, {"gpsr": {"implicit": True}}):
        with pytest.raises(ValueError, match=r"must be longer than two|gpsr.implicit"):
            CloneParameters(**wrong)
    with pytest.raises(ValueError, match="voting"):
        GridParameters(voting=1.5)
    assert issubclass(Clone.parameters_type, CloneParameters)


@pytest.mark.parametrize(("gathering", "passed"), [(0.0, 4), (1.0, 2)])
def test_equal_wishes_on_their_way_are_one_until_an_answer_has_come(gathering, passed):
    mesh = lay(street(4), subscription_aggregation=gathering, **QUICK)
    provide(mesh, 0)
    principal = communities(mesh)[3]
    assert principal == communities(mesh)[2] != 2
    relay = mesh.routers[2]
    relay.community.next_hop = lambda: 1
    for _ in range(2):
        mesh.sent.clear()
        for asking in (3, 3):
            mesh.inject(2, CommunityWish(topic(1), False, 1), asking)
        relay.forward_event(mesh.publish(0, Content(topic=1)), 1)
        for asking in (3, 3):
            mesh.inject(2, CommunityWish(topic(1), False, 1), asking)
        onward = [sent for sent in mesh.sent_of(CommunityWish) if sent.node == 2 and sent.to == 1]
        assert len(onward) == passed
        mesh.run(for_=1.5)
