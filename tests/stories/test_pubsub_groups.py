"""Stories of Pub/Sub ODMRP: how subscriptions are grouped, and which groups an event goes to."""

import pytest
from pubsub_mesh import (
    ANY,
    AS_PUBLISHED,
    CD,
    EVANS,
    HARRISON,
    SEVEN,
    THREE,
    Coupon,
    carriers,
    line,
    router,
)

from roamcast.content.filter import Filter
from roamcast.content.grouping.incremental import METHODS
from roamcast.routing.odmrp.pubsub.groups import UNASSIGNED
from roamcast.routing.odmrp.pubsub.messages import (
    ContentRequest,
    GroupJoin,
    SummaryTable,
)
from roamcast.testing import Mesh


@pytest.mark.parametrize("grouping", METHODS)
def test_groups_change_without_losing_an_event(grouping):
    wanted = [CD.category == "jazz", CD.composer == "Evans", CD.price < 20, CD.price < 15,
              (CD.category == "jazz") & (CD.price < 13), CD.composer.startswith("E")]  # fmt: skip
    mesh = Mesh.grid(4, 3, router(grouping=grouping))
    mesh.advertise(0, Filter.everything(CD))
    mesh.run(for_=1)
    expected = 0
    for node, each in enumerate(wanted, 5):
        mesh.subscribe(node, each)
        mesh.run(for_=0.6)
        for _ in range(3):
            mesh.publish(0, EVANS)
            expected += node - 4
            mesh.run(for_=0.7)
    assert len(mesh.deliveries) == expected
    assert len({(d.node, d.publication.id) for d in mesh.deliveries}) == expected


def test_the_event_of_a_join_request_is_an_input_of_the_grouping_and_no_other_is():
    mesh = line(3, (2, ANY), **AS_PUBLISHED)
    inputs = []
    mesh.routers[0].groups.following.trigger = inputs.append
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.publish(0, SEVEN)
    mesh.run(for_=5)
    assert inputs == [THREE]
    mesh.publish(0, SEVEN)
    assert inputs == [THREE, SEVEN]


def test_the_paper_sends_an_event_once_to_each_group_and_we_name_all_groups_in_one():
    subscriptions = [(1, CD.category == "jazz"), (2, CD.price < 20)]
    for combine, copies in ((False, 2), (True, 1)):
        mesh = line(3, *subscriptions, advertised=Filter.everything(CD), grouping="graph", combine=combine)
        mesh.run(for_=8)
        mesh.publish(0, EVANS)
        mesh.run(for_=1)
        assert carriers(mesh).count(0) == copies
        assert sorted(mesh.delivered) == [(1, EVANS), (2, EVANS)]


def test_groups_bring_noise_to_members_that_do_not_want_an_event_and_it_is_counted():
    mesh = line(3, (1, CD.composer == "Evans"), (2, CD.composer == "Harrison"),
                advertised=Filter.everything(CD), grouping="least")  # fmt: skip
    mesh.run(for_=8)
    mesh.publish(0, EVANS)
    mesh.run(for_=1)
    assert mesh.delivered == [(1, EVANS)]
    assert [(s.node, s.value) for s in mesh.states if s.name == "noise"] == [(2, 1.0)]
    assert [s.value for s in mesh.states if s.name == "channels"] == [1.0]


def test_a_relay_with_a_filter_stops_what_nobody_below_it_wants_and_nothing_else():
    subscriptions = [(1, CD.composer == "Evans"), (3, CD.composer == "Harrison")]
    for filtering, relays in ((False, [0, 1, 2]), (True, [0])):
        mesh = line(
            4, *subscriptions, advertised=Filter.everything(CD), grouping="least", forwarding_filter=filtering
        )
        mesh.run(for_=8)
        mesh.publish(0, EVANS)
        mesh.run(for_=1)
        assert carriers(mesh) == relays
        mesh.publish(0, HARRISON)
        mesh.run(for_=1)
        assert mesh.delivered == [(1, EVANS), (3, HARRISON)]


def test_a_relay_that_has_not_heard_what_a_broker_wants_now_lets_everything_through():
    mesh = line(3, (2, Coupon.zone == 3), forwarding_filter=True)
    relay = mesh.routers[1].membership
    [known] = relay.below(0, UNASSIGNED)
    assert known.filters == (Coupon.zone == 3,)
    relay.pass_on(0, GroupJoin(2, UNASSIGNED, known.version + 1), None)
    assert list(relay.below(0, UNASSIGNED)) == [None]


def test_what_members_want_of_a_type_counts_once_the_publisher_has_something_of_it():
    mesh = line(3, (2, ANY), (2, CD.category == "jazz"))
    for event in (THREE, EVANS, EVANS):
        mesh.publish(0, event)
        mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE), (2, EVANS), (2, EVANS)]
    assert carriers(mesh) == [0, 1] * 2  # the second asked for itself, the third found its group


def test_a_join_request_without_its_event_tells_whichever_is_smaller():
    for digest, event in (("smaller", True), ("digest", False)):
        mesh = line(3, (2, Coupon.zone == 3), piggyback=False, digest=digest, **AS_PUBLISHED)
        mesh.publish(0, THREE)
        mesh.run(for_=3)
        [question] = mesh.sent_of(ContentRequest)[0].message.queries
        assert (question == THREE) is event
        assert mesh.delivered == [(2, THREE)]
        assert carriers(mesh) == [0, 1]


def test_a_summary_may_bring_a_broker_to_join_for_nothing_and_that_is_counted():
    words = [f"word {n}" for n in range(150)]
    mesh = line(
        2, *((1, CD.composer == word) for word in words), advertised=Filter.everything(CD), **AS_PUBLISHED
    )
    for n in range(20):
        mesh.publish(0, CD(category="jazz", composer=f"other {n}", price=n))
        mesh.run(for_=6)
    counted = [s.value for s in mesh.states if s.name == "false_joins"]
    assert counted and counted[-1] == len(counted)
    assert not mesh.delivered


def test_many_subscriptions_of_a_broker_travel_as_a_summary_and_still_get_their_events():
    words = [f"word {n}" for n in range(40)]
    mesh = line(4, *((3, CD.composer == word) for word in words), advertised=Filter.everything(CD))
    mesh.run(for_=8)
    sent = [each for s in mesh.sent_of(SummaryTable) for each in s.message.subscriptions]
    assert sent and all(each.summary and not each.filters for each in sent)
    assert all(len(each.summary) <= 256 for each in sent)
    for word in words[::7]:
        mesh.publish(0, CD(category="pop", composer=word, price=10))
        mesh.run(for_=0.3)
    assert len(mesh.delivered) == len(words[::7])
