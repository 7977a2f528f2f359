"""Stories of RAFT-CBR: restarted nodes, and subscriptions that change or arrive late."""

from functools import partial

from raft_mesh import EVERYTHING, NARROW, SEVEN, THREE, Coupon, deafen, line, numbers, raft

from roamcast.routing.cbr.raft.messages import (
    InterestPeriod,
    Nack,
    Ping,
    Subscribe,
    XcastEvent,
    first_version,
)
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import LinkModel


def test_a_subscriber_born_again_starts_a_new_life():
    mesh = line(3, [2])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.kill(2)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.revive(2)
    mesh.run(for_=20)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=10)
    mesh.publish(0, THREE)
    mesh.run(for_=20)
    assert numbers(mesh, 2) == [1, 3]
    assert mesh.routers[0].publishing.events == {}


def test_a_subscriber_born_again_that_wants_nothing_is_not_pinged_for_ever():
    mesh = line(3, [2])
    mesh.kill(2)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.revive(2)
    mesh.run(for_=40)
    pings = len(mesh.sent_of(Ping))
    mesh.run(for_=60)
    assert len(mesh.sent_of(Ping)) == pings
    assert mesh.delivered == []


def test_subscribers_tell_a_publisher_born_again_what_they_want():
    mesh = line(3, [2])
    mesh.kill(0)
    mesh.run(for_=1)
    mesh.revive(0)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=30)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    assert mesh.delivered == [(2, THREE)]


def test_a_subscription_of_an_earlier_incarnation_says_nothing_to_who_knows_a_later_one():
    # Found by the swarm (seed 1117381001): a relay had held it until the publisher, born again, had a route.
    mesh = line(2, [1])
    [late, *_] = mesh.sent_of(Subscribe)
    for node in (1, 0):
        mesh.kill(node)
        mesh.run(for_=1)
        mesh.revive(node)
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=20)
    assert mesh.inject(0, Datagram(1, 0, 9, late.message), sender=1) is Drop.EXPIRED
    mesh.publish(0, THREE)
    mesh.run(for_=20)
    assert mesh.delivered == [(1, THREE)]


def test_an_event_for_an_earlier_incarnation_is_refused_by_a_later_one():
    mesh = line(2, [1])
    mesh.publish(0, THREE)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    late = mesh.sent_of(XcastEvent)[-1]
    mesh.kill(1)
    mesh.revive(1)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=20)
    assert mesh.inject(1, late.message, sender=0) is Drop.EXPIRED
    mesh.sent.clear()
    mesh.run(for_=5)
    assert mesh.sent_of(Nack) == []


def test_events_published_while_a_subscription_was_on_its_way_are_not_lost():
    mesh = line(3, [])
    mesh.cut(0, 1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    mesh.unsubscribe(2, NARROW)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    mesh.join(0, 1)
    mesh.run(for_=30)
    # Of the five, the second was wanted when it was published and so was the last.
    assert numbers(mesh, 2) == [2, 5]


def test_what_was_published_for_a_new_wish_is_not_overtaken_by_what_comes_for_the_old_one():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Subscribe)
    mesh.unsubscribe(2, NARROW)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=0.1)
    mesh.publish(0, SEVEN)  # nobody is known to want it
    mesh.publish(0, THREE)  # still addressed to the subscriber that wanted it a moment ago
    mesh.run(for_=0.5)
    assert mesh.delivered == []
    hear_again()
    mesh.run(for_=5)
    # The repeated subscription names the second event, which it therefore was sent after: it is retracted.
    assert numbers(mesh, 2) == [1]
    assert mesh.routers[0].publishing.events == {}


def test_events_published_during_an_outage_go_only_to_subscriptions_of_that_time():
    mesh = line(3, [2])
    mesh.cut(0, 1)
    mesh.run(for_=30)
    for _ in range(5):
        mesh.publish(0, THREE)
    mesh.run(for_=10)
    mesh.unsubscribe(2, NARROW)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=10)
    for _ in range(5):
        mesh.publish(0, THREE)  # addressed to node 2: the publisher cannot know that it has changed its mind
        mesh.publish(0, SEVEN)
    mesh.run(for_=10)
    mesh.join(0, 1)
    sent = len(mesh.sent)
    mesh.run(for_=60)
    assert numbers(mesh, 2) == [1, 2, 3, 4, 5, 7, 9, 11, 13, 15]
    assert mesh.routers[0].publishing.events == {}
    arrived = [
        each.message.publication_id
        for each in mesh.sent[sent:]
        if each.to == 2 and type(each.message) is XcastEvent
    ]
    assert set(arrived) <= {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15}  # 6: the ping was answered before the change


def test_an_event_from_between_two_subscriptions_to_the_same_is_not_delivered():
    mesh = line(3, [2])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    # The publisher cannot exclude the second event, as the subscription may have been on its way for seconds.
    doubtful = [
        place
        for each in mesh.sent_of(XcastEvent)
        for place in each.message.destinations
        if each.message.publication.sequence == 2
    ]
    assert doubtful and all(place.doubtful for place in doubtful)
    assert numbers(mesh, 2) == [1, 3]
    assert mesh.routers[0].publishing.events == {}


def test_a_buffered_copy_of_an_event_that_has_become_doubtful_is_not_delivered():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Subscribe)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(
        0, THREE
    )  # addressed to node 2, which buffers it until the publisher knows that it unsubscribed
    mesh.run(for_=1)
    hear_again()
    mesh.subscribe(2, NARROW)
    mesh.run(for_=0.5)
    mesh.publish(0, THREE)
    mesh.run(for_=10)
    # The publisher cannot exclude the first event, so the subscriber needs a copy of the new edition.
    assert numbers(mesh, 2) == [2]
    assert mesh.routers[0].publishing.events == {}


def test_a_buffered_copy_of_an_event_that_its_publisher_has_dropped_is_not_delivered():
    tight = partial(
        RaftCbr, parameters=raft.keywords["parameters"].model_copy(update={"unacknowledged_events": 1})
    )
    mesh = line(3, [2], router=tight)
    mesh.subscribe(1, Coupon.zone == 7)
    mesh.run(for_=5)
    hear_again = deafen(mesh, 0, Subscribe)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(
        0, THREE
    )  # addressed to node 2, which buffers it until the publisher knows that it unsubscribed
    mesh.publish(0, SEVEN)  # there is room for one event: the publisher drops the first
    mesh.run(for_=1)
    hear_again()
    mesh.run(for_=10)
    assert mesh.delivered == [(1, SEVEN)]
    assert mesh.routers[0].publishing.events == {}


def test_a_new_edition_places_the_copies_that_wait():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Subscribe)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=0.1)
    mesh.publish(0, SEVEN)
    for _ in range(5):
        mesh.publish(0, THREE)
    mesh.run(for_=0.1)
    assert mesh.delivered == []  # they wait: an event for the new subscription may precede them
    sent = len(mesh.sent)
    hear_again()
    mesh.run(for_=5)
    assert numbers(mesh, 2) == [1, 2, 3, 4, 5, 6]
    again = [each.message.publication_id for each in mesh.sent[sent:] if type(each.message) is XcastEvent]
    assert set(again) == {1}, "only the event that was put in between is sent"


def test_a_copy_from_before_events_were_put_in_between_does_not_overtake_them():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Subscribe)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=0.1)
    mesh.publish(0, SEVEN)
    mesh.publish(0, THREE)
    mesh.run(for_=0.1)
    old = [s for s in mesh.sent_of(XcastEvent) if s.to == 2][-1]
    hear_again()
    keep = deafen(mesh, 2, XcastEvent)
    mesh.run(for_=2)
    keep()
    # Its acknowledgement has come, what was put in between has not: the old copy waits for it.
    assert mesh.inject(2, old.message, sender=1) is Drop.DUPLICATE
    assert mesh.delivered == []
    mesh.run(for_=30)
    assert numbers(mesh, 2) == [1, 2]


def test_what_was_published_before_the_wish_is_waited_for_by_nobody():
    mesh = line(3, [2])
    slow = deafen(mesh, 2, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    deafen(mesh, 0, Subscribe)
    mesh.unsubscribe(2, NARROW)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=1)
    slow()
    # A ping asks for it; that the publisher never learns of the new subscription does not matter.
    mesh.run(for_=15)
    assert numbers(mesh, 2) == [1]


def test_a_subscription_brings_nothing_that_is_older_than_the_wish():
    mesh = line(3, [])
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=0.5)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    # The first may have been published after the subscription was sent, for all that the publisher can tell.
    assert [s for s in mesh.sent_of(XcastEvent) if s.to == 2 and s.message.publication.sequence == 1]
    assert numbers(mesh, 2) == [2]


def test_a_subscription_that_waited_long_in_a_queue_still_brings_what_was_published_meanwhile():
    mesh = line(3, [])
    quick, mesh.links = mesh.links, LinkModel(delay=30.0)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=0)  # the subscription leaves, and is long on its way
    mesh.links = quick
    mesh.cut(1, 2)  # its copies do not overtake it
    mesh.run(for_=1)
    late = mesh.publish(0, THREE)
    mesh.run(for_=30)
    assert mesh.routers[0].publishing.sessions[2].version == 1
    mesh.join(1, 2)
    mesh.run(for_=30)
    assert [d.publication for d in mesh.deliveries] == [late]


def test_what_was_published_before_it_was_wanted_is_passed_over_however_long_the_subscription_took():
    mesh = line(3, [])
    mesh.publish(0, THREE)
    mesh.run(for_=1)  # the event itself will wait longer for a route
    quick, mesh.links = mesh.links, LinkModel(delay=30.0)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=0)
    mesh.links = quick
    mesh.cut(1, 2)
    mesh.run(for_=31)
    mesh.join(1, 2)
    mesh.run(for_=30)
    assert [s for s in mesh.sent_of(XcastEvent) if s.node == 0]  # it was sent, and marked as doubtful
    assert mesh.deliveries == []
    assert mesh.routers[0].publishing.events == {}


def test_a_subscription_in_the_name_of_another_is_corrected_by_that_node():
    mesh = line(3, [2])
    last = first_version(0)
    forged = Subscribe(1, 0, 1, last, 0, 1, (InterestPeriod(EVERYTHING, 0, 0),))
    mesh.inject(0, Datagram(1, 0, 30, forged), 1)
    for _ in range(3):
        mesh.publish(0, SEVEN)
        mesh.run(for_=5)
    assert mesh.delivered == []
    assert Drop.UNWANTED in {dropped.reason for dropped in mesh.drops if dropped.node == 1}
    sent = len(mesh.sent_of(XcastEvent))
    mesh.publish(0, SEVEN)
    mesh.run(for_=5)
    assert len(mesh.sent_of(XcastEvent)) == sent  # the publisher knows now that nobody wants it
    mesh.subscribe(1, EVERYTHING)
    mesh.run(for_=5)
    mesh.publish(0, SEVEN)
    mesh.run(for_=5)
    assert mesh.delivered == [(1, SEVEN)]
