"""Stories of RAFT-CBR: explicit multicast, requests for what is missing, pings, subscribers that change."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import (
    HIGHEST,
    LOWEST,
    Ack,
    InterestPeriod,
    Nack,
    Ping,
    SequenceGap,
    Subscribe,
    SubscribeAck,
    XcastEvent,
    first_version,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.dsdv.messages import DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import LinkModel, Mesh
from roamcast.wire.message import unwrap

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

# Routes settle at once, so that a story need not wait for them.
raft = partial(
    RaftCbr, parameters=RaftCbrParameters(dsdv=RaftDsdvParameters(period=3, settling=0.0, link_feedback=True))
)
# And here nobody tells the routes that a link has failed, as in the radio world by default.
deaf_routes = RaftDsdvParameters(period=3, settling=0.0, link_feedback=False)
unnoticing = partial(RaftCbr, parameters=RaftCbrParameters(dsdv=deaf_routes))


def network(nodes, edges, subscribers, wanted=NARROW, router=raft, **options):
    mesh = Mesh(nodes, router, edges, **options)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=20)
    for node in subscribers:
        mesh.subscribe(node, wanted)
    mesh.run(for_=5)
    return mesh


def line(nodes, subscribers, **options):
    return network(nodes, [(n, n + 1) for n in range(nodes - 1)], subscribers, **options)


def deafen(mesh, node, message_type):
    """Make a node lose every message of a type that is for it; gives the way back."""
    router = mesh.routers[node]
    if not hasattr(router, "deaf_to"):
        router.deaf_to = set()
        hear = router.receive

        def receive(message, sender, signal):
            passed_on = isinstance(message, Datagram) and message.destination != node
            if type(unwrap(message)) in router.deaf_to and not passed_on:
                return Drop.EXPIRED
            return hear(message, sender, signal)

        router.receive = receive
    router.deaf_to.add(message_type)
    return partial(router.deaf_to.discard, message_type)


def numbers(mesh, node):
    return [d.publication.sequence for d in mesh.deliveries if d.node == node]


def test_a_subscription_is_sent_until_the_publisher_says_that_it_knows():
    mesh = line(3, [])
    hear_again = deafen(mesh, 2, SubscribeAck)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=3.5)
    assert len([s for s in mesh.sent_of(Subscribe) if s.node == 2]) >= 3
    hear_again()
    mesh.run(for_=2)
    told = len(mesh.sent_of(Subscribe))
    mesh.run(for_=60)
    assert len(mesh.sent_of(Subscribe)) == told


def test_an_event_is_sent_once_over_each_hop_and_acknowledged_in_one_message():
    # 0 - 1 - 2 with the subscribers 3 and 4 behind 2.
    mesh = network(5, [(0, 1), (1, 2), (2, 3), (2, 4)], [3, 4])
    mesh.publish(0, THREE)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert sorted(mesh.delivered, key=lambda d: d[0]) == [(3, THREE), (4, THREE)]
    assert sorted((s.node, s.to) for s in mesh.sent_of(XcastEvent)) == [(0, 1), (1, 2), (2, 3), (2, 4)]
    assert [(s.node, s.to) for s in mesh.sent_of(Ack)].count((2, 1)) == 1
    assert mesh.routers[0].publishing.events == {}


def test_a_missed_event_is_asked_for_and_served_by_the_cache_of_a_broker():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    hear_again()
    sent_by_publisher = len([s for s in mesh.sent_of(XcastEvent) if s.node == 0])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]
    assert len([s for s in mesh.sent_of(XcastEvent) if s.node == 0]) == sent_by_publisher + 1
    assert {s.to for s in mesh.sent_of(Nack)} == {2}


def test_when_no_cache_has_it_the_publisher_repeats_it():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 1, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    hear_again()
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]
    assert [s.node for s in mesh.sent_of(Nack)] == [3, 2, 1]


def test_when_the_caches_have_expired_the_publisher_repeats_it():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    pong = deafen(mesh, 3, Ping)
    mesh.publish(0, THREE)
    mesh.run(for_=30)
    hear_again(), pong()
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]


def test_a_ping_wakes_a_subscriber_that_does_not_know_what_it_missed():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    hear_again()
    mesh.run(for_=4.9)
    assert mesh.sent_of(Ping) == []
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1]
    assert mesh.sent_of(Ping)
    pings = len(mesh.sent_of(Ping))
    mesh.run(for_=60)
    assert len(mesh.sent_of(Ping)) == pings


def test_a_lost_acknowledgement_is_repeated_after_a_ping_and_nothing_is_delivered_twice():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Ack)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    hear_again()
    mesh.run(for_=6)
    assert numbers(mesh, 2) == [1]
    assert mesh.routers[0].publishing.events == {}


def test_what_was_addressed_is_delivered_although_the_interest_has_changed():
    mesh = line(3, [2])
    mesh.cut(1, 2)
    mesh.publish(0, THREE)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=30)
    mesh.join(1, 2)
    mesh.run(for_=30)
    assert numbers(mesh, 2) == [1]
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    assert numbers(mesh, 2) == [1]


def test_a_subscriber_that_left_for_long_gets_everything_in_order_when_it_returns():
    mesh = line(4, [3])
    mesh.cut(2, 3)
    for _ in range(40):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert mesh.delivered == []
    mesh.join(2, 3)
    mesh.run(for_=60)
    assert numbers(mesh, 3) == list(range(1, 41))


def test_no_more_than_a_window_is_repeated_before_it_is_acknowledged():
    mesh = line(2, [1])
    hear_again = deafen(mesh, 1, XcastEvent)
    for _ in range(30):
        mesh.publish(0, THREE)
    mesh.run(for_=1)
    deafen(mesh, 0, Ack)
    hear_again()
    mesh.sent.clear()
    nothing = first_version(mesh.routers[1].incarnation)
    mesh.inject(0, Datagram(1, 0, 9, Nack(0, 1, (), nothing, (SequenceGap(LOWEST, HIGHEST),), 1)), sender=1)
    mesh.run(for_=0.9)
    window = mesh.routers[0].parameters.window
    assert len([s for s in mesh.sent_of(XcastEvent) if s.node == 0]) == window < 30


def test_two_publishers_are_two_orders():
    mesh = Mesh.line(3, raft)
    mesh.advertise(0, EVERYTHING)
    mesh.advertise(2, NARROW)
    mesh.run(for_=20)
    mesh.subscribe(1, EVERYTHING)
    mesh.run(for_=3)
    for _ in range(3):
        mesh.publish(0, SEVEN)
        mesh.publish(2, THREE)
    mesh.run(for_=3)
    assert [d.publication.sequence for d in mesh.deliveries if d.publication.publisher == 0] == [1, 2, 3]
    assert [d.publication.sequence for d in mesh.deliveries if d.publication.publisher == 2] == [1, 2, 3]


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


def test_a_publisher_short_of_room_gives_up_the_oldest_and_goes_on():
    parameters = RaftCbrParameters(
        unacknowledged_events=3, dsdv=RaftDsdvParameters(period=3, settling=0.0, link_feedback=True)
    )
    small = partial(RaftCbr, parameters=parameters)
    mesh = Mesh.line(2, small)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=5)
    mesh.cut(0, 1)
    for _ in range(10):
        mesh.publish(0, THREE)
    mesh.run(for_=5)
    mesh.join(0, 1)
    mesh.run(for_=40)
    assert numbers(mesh, 1)[-3:] == [8, 9, 10]
    assert mesh.routers[0].publishing.events == {}
    assert mesh.drop_counts()[Drop.TABLE_FULL] == 7


def test_copies_and_disorder_are_put_right():
    mesh = line(4, [1, 3], links=LinkModel(duplicate=0.5, jitter=0.3), seed=4)
    for _ in range(30):
        mesh.publish(0, THREE)
        mesh.run(for_=0.1)
    mesh.run(for_=60)
    assert numbers(mesh, 1) == numbers(mesh, 3) == list(range(1, 31))


def test_subscribing_and_unsubscribing_in_one_moment_is_one_message():
    mesh = line(2, [1])
    before = len(mesh.sent_of(Subscribe))
    mesh.unsubscribe(1, NARROW)
    mesh.subscribe(1, Coupon.zone == 4)
    mesh.run(for_=5)
    assert len(mesh.sent_of(Subscribe)) == before + 1


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
    mesh.run(for_=15)  # a ping asks for it; that the publisher never hears of the new wish does not matter
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


def test_an_event_goes_around_a_link_that_has_broken():
    # 0 - 1 - 3, and 2 beside 1 and 3.
    mesh = network(4, [(0, 1), (1, 2), (1, 3), (2, 3)], [3], router=unnoticing)
    mesh.cut(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.2)
    assert numbers(mesh, 3) == [1]
    assert mesh.sent_of(Ping) == []


def test_a_broker_that_found_no_way_delivers_when_there_is_one_although_the_publisher_has_gone():
    mesh = line(4, [3], router=unnoticing)
    mesh.cut(2, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.1)
    mesh.kill(0)
    mesh.run(for_=3)
    mesh.join(2, 3)
    mesh.run(for_=4)
    assert numbers(mesh, 3) == [1]
    assert mesh.routers[2].custody.waiting == {}


def test_a_broker_gives_up_what_nobody_can_be_given():
    mesh = line(4, [3], router=unnoticing)
    mesh.cut(2, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=60)
    assert mesh.routers[2].custody.waiting == {}
    # Given up, or left to the routing below once that has noticed that no route is left.
    assert mesh.drop_counts()[Drop.NO_ROUTE] >= 1 or 3 in mesh.routers[2].unicast.held


def test_the_publisher_tries_a_failed_link_again_at_once_and_does_not_wait_for_the_next_ping():
    mesh = line(2, [1], router=unnoticing)
    mesh.cut(0, 1)
    mesh.publish(0, THREE)
    mesh.run(for_=0.15)
    mesh.join(0, 1)
    mesh.run(for_=1)
    assert numbers(mesh, 1) == [1]
    assert mesh.sent_of(Ping) == []


def test_a_broker_without_a_way_hands_the_event_back_to_the_node_it_came_from():
    # 0 - 1 - 2 - 3 - 4: routes to 4 lead over 3 when 4 has walked from 3 to 2.
    mesh = line(5, [4], router=unnoticing)
    mesh.join(2, 4)
    mesh.run(for_=0.01)
    mesh.inject(
        2, DsdvUpdate((DsdvEntry(77, 1, 2),)), sender=4
    )  # 2 has heard 4, and knows no route over it yet
    mesh.cut(3, 4)
    assert mesh.routers[2].unicast.next_hop(4) == 3
    mesh.publish(0, THREE)
    mesh.run(for_=0.05)
    assert numbers(mesh, 4) == [1]


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


def test_an_event_that_a_broker_keeps_grows_older():
    mesh = line(3, [2], router=unnoticing)
    mesh.cut(1, 2)
    published = mesh.now
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    tries = [sent for sent in mesh.sent_of(XcastEvent) if (sent.node, sent.to) == (1, 2)]
    assert len(tries) > 3
    assert all(abs(sent.message.age / 1000 - (sent.time - published)) < 0.1 for sent in tries)


def test_who_is_further_than_the_chain_may_be_long_is_sent_events_alone():
    p = raft.keywords["parameters"]
    mesh = line(6, [1, 2, 3, 5], router=partial(RaftCbr, parameters=p.model_copy(update={"chain_limit": 2})))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert sorted(mesh.delivered, key=lambda got: got[0]) == [
        (node, THREE) for node in (1, 2, 3, 5) for _ in range(3)
    ]
    chains = {len(sent.message.chain) for sent in mesh.sent if isinstance(sent.message, XcastEvent)}
    assert chains == {1, 2}
    alone = [sent.message for sent in mesh.sent if isinstance(sent.message, Datagram)]
    events = [each for each in alone if isinstance(each.payload, XcastEvent)]
    assert {each.destination for each in events} == {3, 5}
    assert all(each.payload.chain == (0, 1) for each in events)
    assert not [drop for drop in mesh.drops if drop.reason is Drop.HOP_LIMIT]


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


def test_a_request_without_a_route_goes_to_the_neighbour_that_the_event_came_from():
    mesh = line(3, [2])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    request = Nack(0, 2, (), 1, (SequenceGap(2, 2),), 1)
    assert mesh.routers[2].hint(request, 0, ()) == 1
    assert mesh.routers[2].hint(request, 0, (1,)) is None
    assert mesh.routers[2].hint(THREE, 0, ()) is None


def test_one_copy_serves_two_subscribers_whose_equally_short_ways_can_be_shared():
    mesh = network(5, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4)], [3, 4])
    mesh.routers[0].unicast.table.routes[4].hop = 2
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert [s.to for s in mesh.sent_of(XcastEvent) if s.node == 0] == [1]
    assert sorted(d.node for d in mesh.deliveries) == [3, 4]


def test_an_acknowledgement_goes_back_over_the_link_that_the_event_came_by():
    mesh = network(3, [(0, 1), (0, 2), (1, 2)], [1])
    mesh.routers[1].unicast.table.routes[0].hop = 2
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert [s.to for s in mesh.sent if isinstance(unwrap(s.message), Ack)] == [0]
