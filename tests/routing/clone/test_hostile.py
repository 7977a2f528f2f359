"""Hostile air over the two tiers: nothing that anyone says crashes a node or fills its tables."""

from random import Random

import pytest
from fields import Content, communities, construct, lay, street, topic
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.clone.clone import Clone
from roamcast.routing.clone.grid import GridCbr
from roamcast.routing.clone.messages import (
    CommunityWish,
    Delegation,
    Nearby,
    ProviderAdvert,
    ProviderEvent,
    ProviderWish,
)
from roamcast.routing.clone.parameters import CloneParameters, GridParameters
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.testing.messages import hostile_messages

PATTERNS = tuple(topic(number) for number in (1, 2, 3))
PUBLICATIONS = tuple(Publication(who, number, Content(topic=1)) for who in (0, 1, 3) for number in (1, 2, 40))
QUICK = {"advertise": 5.0, "advert_lease": 12.0, "renew": 4.0, "subscription_lease": 10.0, "resubscribe": 8.0}
QUICK |= {"service_lease": 20.0}


@st.composite
def noise(draw, router):
    said = hostile_messages(
        router, Random(draw(st.integers())), nodes=range(5), patterns=PATTERNS, publications=PUBLICATIONS
    )
    return [
        (to, sender, next(said))
        for to, sender in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30))
    ]


@pytest.mark.parametrize("router", [Clone, GridCbr])
@settings(deadline=None, max_examples=3)
@given(data=st.data())
def test_no_noise_breaks_the_two_tiers(router, data):
    parameters = (CloneParameters if router is Clone else GridParameters)(**QUICK)
    mesh = lay(street(4), router, parameters)
    mesh.advertise(0, topic(1))
    mesh.run(for_=10)
    mesh.subscribe(3, topic(1))
    for to, sender, message in data.draw(noise(router)):
        mesh.inject(to, message, sender)
        mesh.run(for_=0.05)
        assert all(table.entries <= table.limit for table in mesh.routers[to].tables().values())
    assert all(-1 <= sent.message.publication_id < 2**63 for sent in mesh.sent)
    # Forged leases lapse, and forged communities end with the next construction.
    mesh.run(for_=150)
    mesh.deliveries.clear()
    published = Publication(0, 7_000_000, Content(topic=1))
    mesh.routers[0].publish(published)
    mesh.run(for_=5)
    assert [(d.node, d.publication.id) for d in mesh.deliveries] == [(3, published.id)]


def test_a_million_wishes_and_offers_leave_tables_bounded():
    small = CloneParameters(subscriptions=20, adverts=20, served_principals=20, cached_events=20, **QUICK)
    mesh = lay(street(3), parameters=small)
    mesh.advertise(0, topic(1))
    mesh.run(for_=6)
    here = PointCm(0, 0)
    for liar in range(60):
        wanted = topic(1 + liar % 20)
        mesh.inject(1, CommunityWish(wanted, True, 1), sender=1000 + liar)
        mesh.inject(1, ProviderAdvert(2000 + liar, wanted, here, liar, 0, 0), sender=0)
        mesh.inject(0, Nearby(0, 3, ProviderWish(0, topic(1), 3000 + liar, here)), sender=1)
        mesh.inject(1, Nearby(1, 3, ProviderEvent(Publication(9, liar, Content(topic=2)), 1)), sender=0)
    for router in mesh.routers:
        assert all(table.entries <= table.limit for table in router.tables().values())
    mesh.run(for_=60)
    construct(mesh)
    assert set(communities(mesh)) <= {0, 1, 2}


def test_what_is_for_another_or_nobody_is_refused():
    mesh = lay(street(3), parameters=CloneParameters(**QUICK))
    mesh.run(for_=5)
    here = PointCm(0, 0)
    assert mesh.inject(1, Nearby(1, 3, ProviderWish(2, topic(1), 0, here)), sender=0) is Drop.MALFORMED
    assert mesh.inject(1, Nearby(1, 3, ProviderWish(1, topic(1), 0, here)), sender=0) is Drop.UNWANTED
    assert mesh.inject(1, Nearby(1, 3, Delegation(77, 1, 0, here)), sender=0) is Drop.EXPIRED
    assert mesh.inject(1, Nearby(9, 3, ProviderWish(9, topic(1), 0, here)), sender=0) is Drop.NOT_MINE
    assert mesh.inject(1, Nearby(9, 1, ProviderWish(9, topic(1), 0, here)), sender=0) is Drop.HOP_LIMIT
