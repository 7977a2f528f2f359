"""Stories of Pub/Sub ODMRP: who is asked about what, who joins, and which groups events go to."""

from itertools import pairwise, product

import pytest
from pubsub_mesh import (
    ANY,
    AS_PUBLISHED,
    SEVEN,
    THREE,
    Coupon,
    carriers,
    forwarding,
    line,
    router,
)

from roamcast.routing.odmrp.pubsub.messages import (
    ClientEvent,
    ClientWish,
    ContentRequest,
    EventRequest,
    GroupEvent,
    SummaryTable,
)
from roamcast.routing.router import Drop
from roamcast.testing import Mesh, lose


def test_an_advertisement_lays_the_routes_and_the_first_event_finds_them():
    mesh = line(6, (4, Coupon.zone == 3))
    assert sorted(carriers(mesh, ContentRequest)) == [0, 1, 2, 3, 4, 5]
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert carriers(mesh) == [0, 1, 2, 3]
    assert not mesh.sent_of(EventRequest)
    assert mesh.delivered == [(4, THREE)]


def test_the_forwarding_group_of_a_line_is_its_inner_nodes_and_nothing_else():
    mesh = line(6, (4, Coupon.zone == 3))
    assert forwarding(mesh) == [1, 2, 3]


def test_a_relay_forwards_for_the_publishers_for_which_it_is_the_next_hop_alone():
    # 0 - 2 - 4 (member) - 3 - 1; all three in the middle hear each other.
    mesh = Mesh(5, router(), [(0, 2), (1, 3), (2, 3), (2, 4), (3, 4)])
    mesh.subscribe(4, ANY)
    for publisher in (0, 1):
        mesh.advertise(publisher, ANY)
    mesh.run(for_=8)
    assert any(len(s.message.sources) == 2 for s in mesh.sent_of(SummaryTable) if s.node == 4)
    flags = [{source for source, _ in mesh.routers[node].group._flags._entries} for node in (2, 3, 4)]
    assert flags == [{0}, {1}, set()]


def test_an_event_that_nobody_wants_is_sent_by_nobody():
    mesh = line(4, (3, Coupon.zone == 3))
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert not carriers(mesh)
    assert mesh.drop_counts()[Drop.UNWANTED] == 1


def test_as_published_the_event_asks_and_only_who_may_want_it_answers():
    mesh = line(5, (2, Coupon.zone == 3), (4, Coupon.zone == 7), **AS_PUBLISHED)
    assert not mesh.sent
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert sorted(carriers(mesh, EventRequest)) == [0, 1, 2, 3, 4]
    assert {s.node for s in mesh.sent_of(SummaryTable)} == {2, 1, 0}
    mesh.publish(0, THREE)  # within the refresh interval: by the forwarding group
    mesh.publish(0, SEVEN)  # of which nobody was asked: the papers send it to nobody
    mesh.run(for_=1)
    assert carriers(mesh) == [0, 1]
    assert mesh.delivered == [(2, THREE)] * 2
    mesh.run(for_=5)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert mesh.delivered[2:] == [(4, SEVEN)]


def test_what_nobody_was_asked_about_travels_in_a_join_request_of_its_own():
    mesh = line(5, (2, Coupon.zone == 3), (4, Coupon.zone == 7), query_content="event")
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE), (4, SEVEN), (4, SEVEN)]
    assert carriers(mesh) == [0, 1, 2, 3]


def test_a_batch_asks_about_the_latest_events_together():
    mesh = line(4, (3, Coupon.zone == 7), query_content="batch", unqueried_events="known")
    for _ in range(2):
        mesh.publish(0, THREE)
        mesh.publish(0, SEVEN)
        mesh.run(for_=5.5)
    # The second join request carries 3 and asks about 7 as well, so node 3 has joined by then.
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    mesh.publish(0, SEVEN)
    mesh.run(for_=0.5)
    assert mesh.delivered[-1] == (3, SEVEN)


def test_a_join_table_tells_subscriptions_once_and_names_the_group_after_that():
    mesh = line(3, (2, Coupon.zone == 3))
    mesh.run(for_=17)
    own = [s.message for s in mesh.sent_of(SummaryTable) if s.node == 2]
    assert [each.filters for each in own[0].subscriptions] == [(Coupon.zone == 3,)]
    assert own[0].sources[0].joins[0].group == 0
    assert own[1].subscriptions == ()
    assert own[1].sources[0].joins[0].group > 0
    result = [join for s in mesh.sent_of(ContentRequest) if s.node == 0 for join in s.message.roster]
    assert [join.broker for join in result] == [2]  # once it has joined its group, it is not told again


def test_subscriptions_that_a_publisher_knows_are_not_told_again_while_it_goes_on_asking():
    mesh = line(3, (2, Coupon.zone == 3))
    for _ in range(40):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    own = [s.message for s in mesh.sent_of(SummaryTable) if s.node == 2]
    assert len(own) > 5
    assert [bool(message.subscriptions) for message in own] == [True] + [False] * (len(own) - 1)


def test_a_broker_that_has_just_answered_does_not_answer_the_next_event_as_well():
    mesh = line(3, (2, ANY), query_content="event")
    with mesh.fault(lose(SummaryTable, to=0)):
        for event in (THREE, SEVEN):
            mesh.publish(0, event)
            mesh.run(for_=0.5)
    assert len(mesh.sent_of(EventRequest)) == 6
    assert len([s for s in mesh.sent_of(SummaryTable) if s.node == 2]) == 1


def test_while_newcomers_keep_answering_an_event_asks_for_itself():
    for settle, found in ((0.5, [(2, THREE), (3, THREE)]), (0.0, [(2, THREE)])):
        mesh = line(4, settling_time=settle)
        mesh.subscribe(2, ANY)
        with mesh.fault(lose(SummaryTable, from_=3)):
            mesh.subscribe(3, ANY)
            mesh.run(for_=0.3)
            mesh.publish(0, THREE)
            mesh.run(for_=0.3)
        assert sorted(mesh.delivered) == found
        assert bool(mesh.sent_of(EventRequest)) is bool(settle)


@pytest.mark.parametrize("piggyback", [True, False])
@pytest.mark.parametrize("asks", ["event", "batch", "advertisement"])
def test_events_that_come_before_anybody_has_answered_miss_nobody(asks, piggyback):
    settle = 0.5 if piggyback else 0.05
    mesh = line(8, (7, ANY), (1, ANY), query_content=asks, piggyback=piggyback, settling_time=settle)
    mesh.run(for_=60)  # and whatever an advertisement has set has lapsed
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=3)
    assert sorted(mesh.delivered) == [(1, THREE)] * 20 + [(7, THREE)] * 20
    # For half a second after the first question each travels in a request, and as long after an answer.
    flooded = carriers(mesh, EventRequest).count(0)
    assert 10 <= flooded < 18 if piggyback else not flooded


@pytest.mark.parametrize("pause", [15.0, 22.0, 24.0, 24.5, 25.0, 25.5, 27.0])
def test_a_publisher_that_comes_back_while_flags_lapse_misses_nobody(pause):
    mesh = line(8, (7, ANY))
    mesh.run(for_=30)
    answered = max(s.time for s in mesh.sent_of(SummaryTable) if s.node == 7)
    mesh.run(for_=answered + pause - mesh.now)
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=0.2)
    assert mesh.delivered == [(7, THREE)] * 20


@pytest.mark.parametrize("slow", [{"timeout": 12.5}, {"timeout": 7.5}, {"answer_every": 20.0}])
def test_members_answer_before_the_flags_that_lead_to_them_lapse(slow):
    mesh = line(6, (5, ANY), **slow)
    for _ in range(60):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert len(mesh.delivered) == 60


def test_a_stranger_cannot_name_a_packet_before_its_publisher_does():
    mesh = line(4, (3, ANY))
    heard = mesh.sent_of(ContentRequest)[0].message.sequence
    for number in (*range(40), *range(heard + 1, heard + 40)):
        mesh.inject(1, ContentRequest(0, number, 1, (SEVEN,)), sender=2)
    mesh.run(for_=60)
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)] * 20


def test_a_subscription_is_told_at_once_and_leaving_is_silence():
    mesh = line(4)
    mesh.run(for_=3)
    mesh.subscribe(3, Coupon.zone == 3)
    mesh.run(for_=0.5)
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert mesh.delivered == [(3, THREE)]
    mesh.unsubscribe(3, Coupon.zone == 3)
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert forwarding(mesh) == []
    assert mesh.delivered == [(3, THREE)]


def test_a_changed_subscription_counts_as_soon_as_its_join_table_has_come():
    mesh = line(4, (3, Coupon.zone == 3))
    mesh.subscribe(3, Coupon.zone == 7)
    mesh.run(for_=0.5)
    mesh.publish(0, SEVEN)
    mesh.run(for_=0.5)
    assert mesh.delivered == [(3, SEVEN)]


def test_who_stops_answering_is_forwarded_to_no_more_when_the_flags_lapse():
    mesh = line(4, (3, Coupon.zone == 3), (1, Coupon.zone == 3))
    mesh.kill(3)
    for _ in range(14):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert set(carriers(mesh)) <= {0}


def test_the_mesh_survives_the_death_of_any_forwarding_node_where_there_is_a_second_path():
    # A publisher, two layers of two relays, four members; between layers everyone hears everyone.
    layers = [(0,), (1, 2), (3, 4), (5, 6, 7, 8)]
    edges = [(a, b) for near, far in pairwise(layers) for a in near for b in far]
    meshes = 0
    for seed, dead in product(range(4), (1, 2, 3, 4)):
        mesh = Mesh(9, router(answer_every=0.0, grouping="least"), edges, seed=seed)
        for node in layers[-1]:
            mesh.subscribe(node, ANY)
        mesh.advertise(0, ANY)
        for _ in range(4):  # each join request may come over other relays
            mesh.publish(0, THREE)
            mesh.run(for_=5.1)
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        if forwarding(mesh) != [1, 2, 3, 4]:
            continue  # by chance all came over the same
        meshes += 1
        mesh.kill(dead)
        mesh.deliveries.clear()
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        assert sorted(mesh.delivered) == [(node, THREE) for node in layers[-1]]
    assert meshes >= 8


def test_publisher_and_subscribers_in_one_broker():
    mesh = line(3, (0, ANY), (2, ANY))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)] * 3


def test_clients_reach_their_broker_by_unicast_and_get_their_events_from_it():
    # Nodes 0 to 2 share broker 0, nodes 3 to 5 broker 3.
    mesh = Mesh.line(6, router(clients_per_broker=3))
    mesh.advertise(2, ANY)
    mesh.run(for_=60)
    mesh.subscribe(5, Coupon.zone == 3)
    mesh.subscribe(1, Coupon.zone == 3)
    mesh.run(for_=60)
    mesh.publish(2, THREE)
    mesh.run(for_=5)
    assert sorted(mesh.delivered) == [(1, THREE), (5, THREE)]
    assert mesh.sent_of(ClientWish) and mesh.sent_of(ClientEvent)
    assert {s.node for s in mesh.sent_of(EventRequest) + mesh.sent_of(GroupEvent)} >= {0}
    assert {
        join.broker for s in mesh.sent_of(SummaryTable) for way in s.message.sources for join in way.joins
    } == {3}


def test_whoever_publishes_at_a_broker_all_its_other_subscribers_get_the_event_once():
    mesh = Mesh.line(3, router(clients_per_broker=3))
    for node in range(3):
        mesh.subscribe(node, ANY)
        mesh.advertise(node, ANY)
    mesh.run(for_=60)
    # What the mesh says would reach clients within earshot as well: without it, unicast is the only way.
    with mesh.fault(lose(EventRequest)), mesh.fault(lose(GroupEvent)):
        for publisher in range(3):
            mesh.deliveries.clear()
            mesh.publish(publisher, THREE)
            mesh.run(for_=5)
            assert sorted(mesh.delivered) == [(node, THREE) for node in range(3) if node != publisher]


def test_a_broker_serves_its_own_clients_alone():
    mesh = Mesh.line(6, router(clients_per_broker=3))
    mesh.add_event_type(Coupon)
    broker = mesh.routers[0].clients
    assert broker.arrive(ClientWish((ANY,)), 4, 1) is Drop.MALFORMED  # 4 is a client of 3
    assert broker.filters() == []
    assert broker.arrive(ClientWish((ANY,)), 2, 1) is None
    assert broker.filters() == [ANY]


def test_a_broker_forgets_a_client_that_is_silent_for_a_lease_and_the_oldest_of_too_many():
    mesh = Mesh.line(4, router(clients_per_broker=4, client_lease=25.0, members=2))
    mesh.add_event_type(Coupon)
    broker = mesh.routers[0].clients
    for client in (1, 2, 3):
        broker.arrive(ClientWish((Coupon.zone == client,)), client, 1)
    assert broker.filters() == [Coupon.zone == 2, Coupon.zone == 3]
    for client in (1, 2, 3):
        mesh.kill(client)
    mesh.run(for_=24.9)
    assert len(broker.filters()) == 2
    mesh.run(for_=0.2)
    assert broker.filters() == []


def test_a_lost_join_table_is_sent_again():
    mesh = Mesh.line(3, router())
    mesh.subscribe(2, Coupon.zone == 3)
    with mesh.fault(lose(SummaryTable, from_=2, to=1)):
        mesh.advertise(0, ANY)
        mesh.run(for_=1)
    assert [s.node for s in mesh.sent_of(SummaryTable)] == [2, 2, 2]
    mesh.run(for_=8)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_a_publisher_that_forgot_everything_asks_for_subscriptions_again():
    mesh = line(3, (2, Coupon.zone == 3))
    mesh.run(for_=7)
    mesh.kill(0)
    mesh.revive(0)
    mesh.advertise(0, ANY)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_conversion_holds_events_back_one_after_the_other():
    mesh = line(2, (1, ANY), conversion=0.5)
    for _ in range(3):
        mesh.publish(0, THREE)
    start = mesh.now
    mesh.run(for_=5)
    assert [round(d.time - start, 1) for d in mesh.deliveries] == [0.5, 1.0, 1.5]
