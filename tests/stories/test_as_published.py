"""What the protocols do as published, beside what ours do there: each improvement off, and on."""

from functools import partial

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import EventAck, Subscription, TreeEvent
from roamcast.routing.cbr.raft.messages import Nack, Ping, Subscribe, XcastEvent
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.profiles import AS_PUBLISHED, with_profile
from roamcast.routing.tpsr.messages import PampaEvent, RoutedEvent, RouteSubscription
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh, lose

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)


def of(router, published, **more):
    """A router as published, or ours, with some parameters more."""
    given = with_profile(router, {"profile": AS_PUBLISHED} if published else {})
    for key, value in more.items():
        given[key] = given.get(key, {}) | value if isinstance(value, dict) else value
    return partial(router, parameters=router.parameters_type.model_validate(given))


def raft(published, nodes, edges, subscribers, **more):
    quick_routes = {"period": 3, "settling": 0.0}  # so that a story need not wait for them
    mesh = Mesh(nodes, of(RaftCbr, published, dsdv=quick_routes, **more), edges)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=20)
    for node in subscribers:
        mesh.subscribe(node, NARROW)
    mesh.run(for_=5)
    return mesh


def line(nodes):
    return [(n, n + 1) for n in range(nodes - 1)]


def numbers(mesh, node):
    return [d.publication.sequence for d in mesh.deliveries if d.node == node]


@pytest.mark.parametrize("published", [True, False])
def test_neighbours_renew_each_others_news_of_a_dead_publisher_as_published(published):
    mesh = Mesh.grid(3, 3, of(Cbr, published))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=30)
    mesh.kill(0)
    mesh.run(for_=15 + 4 * 7 + 15)
    remembered = [n for n in range(1, 9) if mesh.routers[n].adverts.routes(mesh.now)]
    assert remembered == (list(range(1, 9)) if published else [])


@pytest.mark.parametrize("published", [True, False])
def test_figure_3_sends_an_event_back_to_a_child_that_it_came_from(published):
    mesh = Mesh(3, of(FtCbr, published), line(3))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.inject(1, Subscription(NARROW), sender=0)
    mesh.publish(0, THREE)
    mesh.run(for_=0.3)
    children = [set(s.message.children) for s in mesh.sent_of(TreeEvent) if s.node == 1]
    assert children == [{0, 2} if published else {2}]


@pytest.mark.parametrize("published", [True, False])
def test_figure_3_forgets_after_five_seconds_that_it_has_delivered_an_event(published):
    mesh = Mesh(2, of(FtCbr, published), line(2))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    copy = mesh.sent_of(TreeEvent)[0].message
    mesh.inject(1, copy, sender=0)
    mesh.run(for_=1)
    assert numbers(mesh, 1) == [1]
    mesh.run(for_=4)
    mesh.inject(1, copy, sender=0)
    mesh.run(for_=1)
    assert numbers(mesh, 1) == ([1, 1] if published else [1])
    assert len(mesh.sent_of(EventAck)) == 3, "every copy is acknowledged"


def test_what_nobody_wants_is_not_sent_unless_that_is_asked_for():
    for asked, sent in ((False, []), (True, [frozenset()])):
        mesh = Mesh(2, of(FtCbr, True, send_unwanted=asked), line(2))
        mesh.publish(0, THREE)
        mesh.run(for_=2)
        assert [s.message.children for s in mesh.sent_of(TreeEvent)] == sent


@pytest.mark.parametrize("published", [True, False])
def test_an_event_on_a_broken_link_waits_for_a_ping_as_published(published):
    # 0 - 1 - 3, and 2 beside 1 and 3.
    mesh = raft(published, 4, [(0, 1), (1, 2), (1, 3), (2, 3)], [3])
    mesh.cut(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == ([] if published else [1])
    mesh.run(for_=20)
    assert numbers(mesh, 3) == [1]
    assert bool(mesh.sent_of(Ping)) == published


@pytest.mark.parametrize("published", [True, False])
def test_a_subscriber_begins_when_its_subscription_arrives_as_published(published):
    mesh = raft(published, 3, line(3), [])
    with mesh.fault(lose(Subscribe)):
        mesh.subscribe(2, NARROW)
        mesh.run(for_=1)
        mesh.publish(0, THREE)
        mesh.run(for_=1)
    mesh.run(for_=5)
    mesh.publish(0, THREE)
    mesh.run(for_=15)
    assert numbers(mesh, 2) == ([2] if published else [1, 2])


@pytest.mark.parametrize("published", [True, False])
def test_an_event_is_delivered_at_once_though_the_publisher_has_not_acknowledged_a_new_wish(published):
    mesh = raft(published, 3, line(3), [2])
    with mesh.fault(lose(Subscribe)):
        mesh.subscribe(2, Coupon.zone == 7)
        mesh.run(for_=0.1)
        mesh.publish(0, THREE)
        mesh.run(for_=0.5)
        # Ours waits: an event for the new subscription may still be put before this one.
        assert numbers(mesh, 2) == ([1] if published else [])
    mesh.run(for_=5)
    assert numbers(mesh, 2) == [1]


@pytest.mark.parametrize("published", [True, False])
def test_every_event_that_shows_a_gap_has_all_of_it_asked_for_as_published(published):
    mesh = raft(published, 2, line(2), [1])
    with mesh.fault(lose(XcastEvent, to=1)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.01)
    with mesh.fault(lose(Nack)):
        for _ in range(4):
            mesh.publish(0, THREE)
            mesh.run(for_=0.1)
        asked = len(mesh.sent_of(Nack))
    assert asked == (4 if published else 1)
    mesh.run(for_=15)
    assert numbers(mesh, 1) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("paced", [False, True])
def test_all_that_is_missing_is_sent_at_once_unless_paced(paced):
    mesh = raft(True, 2, line(2), [1], paced=paced)
    with mesh.fault(lose(XcastEvent, to=1)):
        for _ in range(30):
            mesh.publish(0, THREE)
        mesh.run(for_=1)
        before = len(mesh.sent_of(XcastEvent))
        mesh.run(for_=10)
    again = mesh.sent_of(XcastEvent)[before:]
    assert again, "a ping was answered"
    at_once = {s.message.publication.sequence for s in again if s.time < again[0].time + 0.5}
    assert len(at_once) == (mesh.routers[0].parameters.window if paced else 30)
    mesh.run(for_=60)
    assert numbers(mesh, 1) == list(range(1, 31))


@pytest.mark.parametrize(
    ("reissue", "renewed"),
    [("missed", [1]), ("wanted", [1, 2]), ("any", [1, 2, 3])],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_flooded_publication_makes_subscribers_renew_by_the_reading(reissue, renewed):
    # 1 misses the publication, 2 has it already, 3 subscribes to something else.
    mesh = Mesh(4, of(Tpsr, True, reissue=reissue), [(0, 1), (0, 2), (0, 3)])
    for node, wanted in ((1, NARROW), (2, NARROW), (3, Coupon.zone == 7)):
        mesh.subscribe(node, wanted)
        mesh.run(for_=3)
    with mesh.fault(lose(RoutedEvent, to=1)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    began = mesh.now
    assert numbers(mesh, 2) == [1] and numbers(mesh, 1) == []
    with mesh.fault(lose(RoutedEvent, to=1)):
        mesh.run(for_=1)
    assert mesh.sent_of(PampaEvent), "the publisher gave up the route to 1"
    assert numbers(mesh, 1) == [1]
    sent = [s for s in mesh.sent_of(RouteSubscription) if s.time > began]
    assert sorted({s.node for s in sent if s.node == s.message.subscriber}) == renewed


def test_tpsr_as_published_renews_for_every_flooded_publication_that_it_wants():
    assert with_profile(Tpsr, {"profile": AS_PUBLISHED})["reissue"] == "wanted"
