"""Hostile air for both ODMRPs: forged join tables, summaries of everything and of nonsense, many channels."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary import BloomShape, Summary
from roamcast.routing.odmrp.messages import Announcement, JoinEntry, JoinRequest, JoinTable
from roamcast.routing.odmrp.odmrp import Odmrp
from roamcast.routing.odmrp.parameters import OdmrpParameters
from roamcast.routing.odmrp.pubsub.messages import (
    BrokerSubscriptions,
    ContentRequest,
    GroupJoin,
    SourceJoins,
    SummaryTable,
)
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.odmrp.pubsub.pubsub import PubSubOdmrp
from roamcast.routing.router import Drop, Publication
from roamcast.testing import Mesh
from roamcast.testing.messages import hostile_messages

Coupon = EventType("coupon", {"zone": Integer()})
Word = EventType("word", {"text": String()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE, SEVEN = Coupon(zone=3), Coupon(zone=7)
PATTERNS = (EVERYTHING, NARROW, *(Coupon.zone == zone for zone in range(-2, 5)))
PUBLICATIONS = tuple(
    Publication(publisher, sequence, event)
    for publisher in (0, 1, 3)
    for sequence in (1, 2, 40)
    for event in (THREE, SEVEN)
)
ROUTERS = [Odmrp, PubSubOdmrp]


def listening(router, seed=1):
    mesh = Mesh.line(4, router, seed=seed)
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=2)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    return mesh


@pytest.mark.parametrize("router", ROUTERS)
@settings(deadline=None, max_examples=25)
@given(st.integers(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=5, max_size=30))
def test_no_noise_breaks_the_mesh_for_good(router, seed, heard):
    mesh = listening(router)
    said = hostile_messages(
        router, Random(seed), nodes=range(5), patterns=PATTERNS, publications=PUBLICATIONS
    )
    for to, sender in heard:
        mesh.inject(to, next(said), sender)
        mesh.run(for_=0.01)
    assert all(-1 <= sent.message.publication_id < 2**63 for sent in mesh.sent)
    for each in mesh.routers:
        assert all(size.entries <= size.limit for size in each.tables().values())
    mesh.run(for_=80)  # what is forged lapses after the timeout
    mesh.deliveries.clear()
    for _ in range(60):
        mesh.publish(0, THREE)
        mesh.run(for_=0.3)
    assert {d.node for d in mesh.deliveries} == {3}
    # Who forges a packet or an event before its time takes its number: each lie costs one at most.
    assert len(mesh.deliveries) >= 60 - len(heard)


@pytest.mark.parametrize("router", ROUTERS)
def test_a_message_that_claims_to_come_from_me_is_refused(router):
    mesh = Mesh.line(2, router)
    mesh.add_event_type(Coupon)
    first = router.messages[0]
    said = hostile_messages(router, Random(1), nodes=range(2), patterns=PATTERNS, publications=PUBLICATIONS)
    own = next(message for message in said if type(message) is first)
    assert mesh.inject(1, own, sender=1) is Drop.MALFORMED


def test_a_million_channels_leave_the_tables_of_odmrp_bounded():
    small = OdmrpParameters(routes=50, groups=50, known=50)
    mesh = Mesh.line(3, lambda host: Odmrp(host, small))
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    relay = mesh.routers[1]
    for fake in range(3_000):
        relay.receive(JoinRequest(77, fake, 31, fake + 1), 0, 0.0)
        relay.receive(JoinTable(fake + 1, (JoinEntry(77, 1),)), 2, 0.0)
        relay.receive(Announcement(1000 + fake, fake, 31, 0, (NARROW,)), 0, 0.0)
        if fake < 400 and fake % 40 == 39:
            mesh.run(for_=0.06)  # what is to be said is said
    assert len(relay.replies._pending) <= 50
    mesh.run(for_=1)
    assert len(relay.group) == 50
    for name, size in relay.tables().items():
        assert size.entries <= size.limit, name
        assert size.limit == 50 or name in {"seen", "delivered", "insistence", "sources"}
    mesh.run(for_=60)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_a_source_with_more_channels_than_it_may_use_forgets_the_oldest():
    small = OdmrpParameters(groups=20, known=100)
    mesh = Mesh.line(2, lambda host: Odmrp(host, small))
    mesh.add_event_type(Coupon)
    source = mesh.routers[0]
    for fake in range(100):
        source.receive(Announcement(1000 + fake, fake, 31, 0, (Coupon.zone >= -fake,)), 1, 0.0)
    for _ in range(100):  # more packets at once than a source listens for
        mesh.publish(0, THREE)
    tables = source.tables()
    assert tables["sources"].entries <= 21  # one more until the next join request
    assert tables["insistence"].entries <= tables["insistence"].limit == 64
    assert max(s.value for s in mesh.states if s.name == "channels") <= 20


def test_a_join_table_towards_a_source_that_is_not_known_makes_no_forwarding_node():
    for router, table in (
        (Odmrp, JoinTable(5, (JoinEntry(77, 1),))),
        (
            PubSubOdmrp,
            SummaryTable(
                (SourceJoins(77, 1, (GroupJoin(2, 1, 1),)),), (BrokerSubscriptions(2, 1, (NARROW,), b""),)
            ),
        ),
    ):
        mesh = Mesh.line(3, router)
        mesh.add_event_type(Coupon)
        assert mesh.inject(1, table, sender=2) is None
        assert len(mesh.routers[1].group) == 0


def test_what_a_publisher_remembers_of_forged_members_is_bounded():
    mesh = listening(PubSubOdmrp)
    publisher = mesh.routers[0]
    subscriptions = BrokerSubscriptions(9, 1, (NARROW,), b"")
    publisher.receive(SummaryTable((SourceJoins(0, 0, (GroupJoin(9, 1, 1),)),), (subscriptions,)), 1, 0.0)
    for fake in range(500):
        result = (
            GroupJoin(1000 + fake, 1, 1),
            GroupJoin(9, fake, 1),
        )  # strangers, and one who joins everything
        publisher.receive(SummaryTable((SourceJoins(0, 0, result),)), 1, 0.0)
    assert len(publisher.groups._unknown) <= publisher.parameters.roster
    assert len(publisher.groups.members.get(9, mesh.now).joined) == 8
    assert len(publisher._acknowledged) == 255
    mesh.run(for_=1)  # what it says of them fits into a message


def test_forged_members_and_joins_leave_the_tables_of_pubsub_bounded():
    small = PubSubParameters(routes=50, groups=50, members=50, forwarded_joins=50, forwarding_filter=True)
    mesh = Mesh.line(3, lambda host: PubSubOdmrp(host, small))
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=2)
    for fake in range(2_000):
        subscriptions = BrokerSubscriptions(1000 + fake, 1, (NARROW,), b"")
        for node in (0, 1):
            table = SummaryTable(
                (SourceJoins(0, node, (GroupJoin(1000 + fake, fake % 7, 1),)),), (subscriptions,)
            )
            mesh.routers[node].receive(table, 1 - node, 0.0)
        mesh.routers[1].receive(ContentRequest(2000 + fake, fake, 31, (EVERYTHING,)), 0, 0.0)
    for router in mesh.routers:
        for name, size in router.tables().items():
            assert size.entries <= size.limit, name
    mesh.run(for_=60)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered[-1:] == [(2, THREE)]


def test_a_summary_of_everything_costs_noise_and_one_of_nonsense_is_refused():
    mesh = listening(PubSubOdmrp)
    everything = Summary.of([Filter.everything(Coupon)]).to_bytes()
    for data, answer in (
        (everything, None),
        (b"\xff" * 40, Drop.MALFORMED),
        (everything[:-1], Drop.MALFORMED),
    ):
        subscriptions = BrokerSubscriptions(9, 1, (), data)
        table = SummaryTable((SourceJoins(0, 0, (GroupJoin(9, 0, 1),)),), (subscriptions,))
        assert mesh.inject(0, table, sender=1) is answer
    mesh.deliveries.clear()
    mesh.publish(0, SEVEN)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)]
    words = Summary.of([Word.text == f"word {n}" for n in range(400)], BloomShape(8192, 4)).to_bytes()
    assert len(words) > 1024
    long = SummaryTable((SourceJoins(0, 0, (GroupJoin(9, 0, 1),)),), (BrokerSubscriptions(9, 1, (), words),))
    assert mesh.inject(0, long, sender=1) is Drop.MALFORMED
