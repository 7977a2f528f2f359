"""Stories of ODMRP: the forwarding group, join tables that are passed on, channels that are announced."""

from collections import Counter
from functools import partial
from itertools import pairwise, product

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.odmrp.channels import ChannelSource, channel_of
from roamcast.routing.odmrp.link_expiry import link_lifetime
from roamcast.routing.odmrp.messages import (
    Announcement,
    ChannelData,
    JoinData,
    JoinEntry,
    JoinRequest,
    JoinTable,
)
from roamcast.routing.odmrp.odmrp import Odmrp
from roamcast.routing.odmrp.parameters import OdmrpParameters
from roamcast.routing.router import Drop
from roamcast.testing import Mesh, lose

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

one_channel = partial(Odmrp, parameters=OdmrpParameters(channels="one"))


def settled(mesh, *subscriptions):
    for node, wanted in subscriptions:
        mesh.subscribe(node, wanted)
    mesh.run(for_=1)
    return mesh


def carriers(mesh, kind=ChannelData):
    return [sent.node for sent in mesh.sent_of(kind)]


def forwarding(mesh, wanted, now=None):
    """The forwarding group of a subscription's channel."""
    return [
        node
        for node, router in enumerate(mesh.routers)
        if router.group.forwards(channel_of(wanted), mesh.now)
    ]


def test_the_first_event_is_the_join_request_and_the_next_goes_by_the_forwarding_group():
    mesh = settled(Mesh.line(6, Odmrp), (3, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert sorted(carriers(mesh, JoinData)) == [0, 1, 2, 3, 4, 5]
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert carriers(mesh) == [0, 1, 2]
    assert mesh.delivered == [(3, THREE)] * 2


def test_the_forwarding_group_of_a_line_is_its_inner_nodes_and_nothing_else():
    mesh = settled(Mesh.line(6, Odmrp), (4, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert forwarding(mesh, NARROW) == [1, 2, 3]
    assert [(s.node, s.value) for s in mesh.states if s.name == "forwarding_groups"] == [
        (3, 1.0), (2, 1.0), (1, 1.0),
    ]  # fmt: skip


def test_who_stops_answering_is_forwarded_to_no_more_when_the_flags_lapse():
    mesh = settled(Mesh.line(4, Odmrp), (3, NARROW), (1, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.unsubscribe(3, NARROW)
    for _ in range(8):
        mesh.publish(0, THREE)
        mesh.run(for_=4)
    assert forwarding(mesh, NARROW) == []
    lapses = [(s.node, s.time) for s in mesh.states if s.name == "forwarding_groups" and s.value == 0]
    assert [node for node, _ in lapses] == [2, 1]
    assert all(25 < time < 27 for _, time in lapses)
    # The first time, the source misses its forwarding node and insists; after that it knows.
    before = len(mesh.sent_of(ChannelData))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert set(carriers(mesh)[before:]) == {0}
    copies = Counter(s.message.packet for s in mesh.sent_of(ChannelData)[before:])
    first, *later = copies.values()
    assert first == 3
    assert set(later) == {1}


def test_what_a_lapsed_flag_keeps_back_is_told_as_expired():
    mesh = settled(Mesh.line(4, Odmrp), (3, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    with mesh.fault(lose(JoinTable)):
        for _ in range(10):
            mesh.publish(0, THREE)
            mesh.run(for_=3)
    assert Drop.EXPIRED in mesh.drop_counts()


def test_two_sources_share_the_forwarding_nodes_of_a_channel():
    #   0 - 2 - 3 - 4 (member)
    #   1 /
    mesh = settled(Mesh(5, Odmrp, [(0, 2), (1, 2), (2, 3), (3, 4)]), (4, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    group = forwarding(mesh, NARROW)
    # The second source has sent no join request yet, and still finds the mesh of the first.
    mesh.routers[1]._sending[channel_of(NARROW)] = sending = ChannelSource(OdmrpParameters())
    sending.flood(mesh.now)
    mesh.publish(1, THREE)
    mesh.run(for_=1)
    assert group == forwarding(mesh, NARROW) == [2, 3]
    assert carriers(mesh) == [1, 2, 3]
    assert len(mesh.deliveries) == 2


def test_join_tables_of_several_sources_travel_together():
    mesh = settled(Mesh(5, Odmrp, [(0, 2), (1, 2), (2, 3), (3, 4)]), (4, NARROW))
    mesh.publish(0, THREE)
    mesh.publish(1, THREE)
    mesh.run(for_=1)
    both = [s for s in mesh.sent_of(JoinTable) if len(s.message.entries) == 2]
    assert {entry.source for sent in both for entry in sent.message.entries} == {0, 1}


def test_the_mesh_survives_the_death_of_any_forwarding_node_where_there_is_a_second_path():
    # A source, two layers of two relays, four members; between layers everyone hears everyone.
    layers = [(0,), (1, 2), (3, 4), (5, 6, 7, 8)]
    edges = [(a, b) for near, far in pairwise(layers) for a in near for b in far]
    meshes = 0
    for seed, dead in product(range(4), (1, 2, 3, 4)):
        mesh = settled(Mesh(9, Odmrp, edges, seed=seed), *((node, NARROW) for node in layers[-1]))
        for _ in range(4):  # each join request may come over other relays
            mesh.publish(0, THREE)
            mesh.run(for_=5.1)
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        if forwarding(mesh, NARROW) != [1, 2, 3, 4]:
            continue  # by chance all came over the same
        meshes += 1
        mesh.kill(dead)
        mesh.deliveries.clear()
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        assert sorted(mesh.delivered) == [(node, THREE) for node in layers[-1]]
    assert meshes >= 8


def test_a_join_table_is_sent_again_until_the_next_hop_is_heard_to_pass_it_on():
    mesh = settled(Mesh.line(3, Odmrp), (2, NARROW))
    with mesh.fault(lose(JoinTable, from_=2, to=1)):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert [s.node for s in mesh.sent_of(JoinTable)] == [2, 2, 2]
    assert forwarding(mesh, NARROW) == []
    mesh.run(for_=5)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    # Once: node 2 hears node 1 pass it on, and node 1 hears the source say that it has come.
    assert [(s.node, s.message.entries) for s in mesh.sent_of(JoinTable)[3:]] == [
        (2, (JoinEntry(0, 1),)), (1, (JoinEntry(0, 0),)), (0, (JoinEntry(0, 0),)),
    ]  # fmt: skip


@pytest.mark.parametrize(("backoff", "longer"), [(1.0, False), (2.0, True)])
def test_each_wait_for_a_join_table_is_as_long_as_published_or_twice_as_long(backoff, longer):
    assert Odmrp.as_published["backoff"] == 1.0
    parameters = OdmrpParameters(backoff=backoff, reply_jitter=0.0)
    mesh = settled(Mesh.line(3, partial(Odmrp, parameters=parameters)), (2, NARROW))
    with mesh.fault(lose(JoinTable, from_=2, to=1)):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    first, second = (later.time - sooner.time for sooner, later in pairwise(mesh.sent_of(JoinTable)))
    assert first == pytest.approx(parameters.ack_wait)
    assert second == pytest.approx(parameters.ack_wait * (2 if longer else 1))


def test_a_source_says_again_what_no_neighbour_was_heard_to_repeat():
    for insist, copies in ((1, 1), (3, 3)):
        mesh = Mesh.line(4, partial(Odmrp, parameters=OdmrpParameters(passive_ack_tries=insist)))
        settled(mesh, (3, NARROW))
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        assert carriers(mesh) == [0, 1, 2]  # it hears node 1, and need not
        with mesh.fault(lose(ChannelData, from_=0)):
            mesh.publish(0, THREE)
            mesh.run(for_=2)
        assert carriers(mesh)[3:] == [0] * copies
    assert Odmrp.as_published["passive_ack_tries"] == 1


def test_a_source_with_members_next_door_only_expects_no_repetition_of_data():
    mesh = settled(Mesh.line(2, Odmrp), (1, NARROW))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert carriers(mesh) == [0, 0]


def test_a_join_request_that_was_lost_at_its_source_is_flooded_again():
    mesh = settled(Mesh.line(3, Odmrp), (2, NARROW))
    with mesh.fault(lose(JoinData, from_=0)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_everyone_with_a_subscription_is_on_the_only_channel_and_takes_what_it_wants():
    mesh = settled(Mesh.line(4, one_channel), (1, NARROW), (3, Coupon.zone == 7))
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(3, SEVEN), (1, THREE)]
    assert carriers(mesh) == [0, 1, 2]
    assert not mesh.sent_of(Announcement)
    # Node 3 was reached by an event on its channel that it has no use for.
    assert [(s.node, s.value) for s in mesh.states if s.name == "noise"] == [(3, 1.0)]


def test_an_event_is_sent_once_on_each_channel_that_wants_it_and_delivered_once():
    mesh = settled(Mesh.line(3, Odmrp), (2, NARROW), (2, EVERYTHING), (1, Coupon.zone == 7))
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    channels = {s.message.channel for s in mesh.sent_of(ChannelData)}
    assert channels == {channel_of(NARROW), channel_of(EVERYTHING)}
    assert mesh.delivered == [(2, THREE)] * 2
    assert [s.value for s in mesh.states if s.name == "channels"][-1] == 2


def test_a_channel_that_nobody_announces_any_more_is_forgotten():
    mesh = settled(Mesh.line(3, Odmrp), (2, NARROW))
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=26)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert not mesh.sent_of(JoinData)
    assert mesh.drop_counts()[Drop.UNWANTED] == 1


def following(nodes, **parameters):
    """A line whose events follow their join requests, and a member at its end."""
    router = partial(Odmrp, parameters=OdmrpParameters(piggyback=False, **parameters))
    return settled(Mesh.line(nodes, router), (nodes - 1, NARROW))


def test_without_piggyback_the_event_follows_its_join_request():
    mesh = following(4)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert len(mesh.sent_of(JoinRequest)) == 4
    assert not mesh.sent_of(JoinData)
    assert carriers(mesh) == [0, 1, 2]
    assert mesh.delivered == [(3, THREE)]


@pytest.mark.parametrize(
    ("nodes", "parameters"),
    [
        (33, {}),  # as far as a join request goes
        (9, {"hop_limit": 8, "jitter": 0.0, "reply_jitter": 0.0, "reply_aggregation": 0.0}),
        (9, {"hop_limit": 8, "jitter": 0.1, "reply_jitter": 0.2, "reply_aggregation": 0.3}),
    ],
)
def test_events_that_follow_wait_until_the_farthest_member_has_joined(nodes, parameters):
    mesh = following(nodes, **parameters)
    for _ in range(6):  # the others, too, though no join request is due for them
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=10)
    assert mesh.delivered == [(nodes - 1, THREE)] * 6


def test_a_shorter_setup_is_too_short_for_members_that_are_far_away():
    for nodes, times in ((3, 1), (9, 0)):
        mesh = following(nodes, setup=0.1)
        mesh.publish(0, THREE)
        mesh.run(for_=1)
        assert len(mesh.delivered) == times


def test_where_the_mesh_stands_data_waits_for_nothing_but_a_join_request_that_is_due():
    mesh = following(4)
    published = {}
    for _ in range(8):  # the second join request is due with the sixth event
        published[mesh.publish(0, THREE).id] = mesh.now
        mesh.run(for_=1)
    mesh.run(for_=3)
    delays = {d.publication.id: d.time - published[d.publication.id] for d in mesh.deliveries}
    setup = OdmrpParameters().round_trip
    assert [delays[each] // 0.1 * 0.1 for each in published] == pytest.approx(
        [setup // 0.1 * 0.1, (setup - 1) // 0.1 * 0.1, 0, 0, 0, setup // 0.1 * 0.1, 0, 0]
    )


def test_a_stranger_cannot_name_a_packet_before_its_source_does():
    mesh = settled(Mesh.line(4, Odmrp), (3, NARROW))
    mesh.publish(0, THREE)
    mesh.run(for_=6)
    heard = mesh.sent_of(JoinData)[0].message.sequence
    for number in (*range(40), *range(heard + 1, heard + 40)):
        mesh.inject(1, JoinRequest(0, number, 1, channel_of(NARROW)), sender=2)
    mesh.run(for_=60)
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)] * 21


def test_the_forwarding_group_outlasts_the_longest_interval_between_join_requests():
    OdmrpParameters(timeout=15.0)
    for bad in ({"timeout": 5.0}, {"timeout": 15.0, "prediction": True}):
        with pytest.raises(ValueError, match="expires between two join requests"):
            OdmrpParameters(**bad)


def test_publisher_and_subscriber_on_one_node():
    mesh = settled(Mesh.line(3, Odmrp), (0, EVERYTHING), (2, NARROW))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)] * 3


@pytest.mark.parametrize(
    ("a", "b", "v", "w", "expected"),
    [
        (100, 0, 10, 0, 15.0),
        (-100, 0, 10, 0, 35.0),
        (0, 0, 0, 50, 5.0),
        (100, 0, 0, 0, float("inf")),
        (300, 0, -10, 0, 0.0),
        (0, 150, 20, 0, 10.0),
    ],
)
def test_a_link_lasts_as_the_formula_says(a, b, v, w, expected):
    assert link_lifetime(a, b, v, w, 250.0) == pytest.approx(expected)


def test_the_refresh_follows_the_lifetime_of_the_weakest_link():
    mesh = Mesh.line(3, partial(Odmrp, parameters=OdmrpParameters(prediction=True)))
    mesh.place(0, 0, 0)
    mesh.place(1, 200, 0, vx=20.0, vy=0.0)  # out of reach of node 0 in 2.5 s
    mesh.place(2, 400, 0)
    settled(mesh, (2, NARROW))
    start = mesh.now
    for _ in range(60):
        mesh.publish(0, THREE)
        mesh.run(for_=0.1)
    floods = [s.time - start for s in mesh.sent_of(JoinData) if s.node == 0]
    assert floods[0] == 0
    assert 0.9 < floods[1] < 1.7  # the least of 1 s, or what is left of 2.5 s at t = 1 s
    assert max(b - a for a, b in pairwise(floods)) < 5
