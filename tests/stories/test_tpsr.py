"""Stories of TPSR: subscriptions lay routes, publications follow them, and what breaks is mended."""

from itertools import pairwise

from tpsr_mesh import FIGURE_4, NARROW, THREE, Coupon, laid, renewals, routed, tpsr

from roamcast.routing.router import Drop
from roamcast.routing.tpsr.messages import Job, JobAck, PampaEvent, RoutedEvent, RouteSubscription
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh

# Routes.


def test_a_subscription_lays_a_route_and_a_publication_follows_it():
    mesh = laid(Mesh.line(4, Tpsr), [3])
    assert mesh.routers[0].table.route(3, mesh.now).hops == (1, 2, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(3, THREE)]
    assert routed(mesh) == [0, 1, 2]
    assert [(s.node, s.message.to) for s in mesh.sent_of(JobAck)] == [(3, 2)]
    assert mesh.sent_of(PampaEvent) == []


def test_the_publication_of_figure_4_carries_the_jobs_that_the_paper_tells():
    mesh = laid(Mesh(6, Tpsr, FIGURE_4), [3, 4, 5])
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert sorted(mesh.delivered) == [(3, THREE), (4, THREE), (5, THREE)]
    jobs = {s.node: s.message.jobs for s in mesh.sent_of(RoutedEvent)}
    assert jobs == {
        0: (Job(1, 0, frozenset({3})), Job(2, 1, frozenset({4, 5}))),
        1: (Job(3, 0, frozenset({3})),),
        2: (Job(4, 0, frozenset({4})), Job(5, 1, frozenset({5}))),
    }


def test_two_subscribers_behind_one_relay_share_one_send():
    mesh = laid(Mesh(5, Tpsr, [(0, 1), (1, 2), (2, 3), (2, 4)]), [3, 4])
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert sorted(mesh.delivered) == [(3, THREE), (4, THREE)]
    assert routed(mesh) == [0, 1, 2]


def test_a_subscriber_on_the_way_of_another_delivers_and_passes_on():
    mesh = laid(Mesh.line(4, Tpsr), [2, 3])
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE), (3, THREE)]
    # Who passes it on is overheard: only the last needs to say that it has it.
    assert [s.node for s in mesh.sent_of(JobAck)] == [3]


def test_addressees_wait_for_their_turn():
    mesh = laid(Mesh(6, tpsr(spacing=0.02), FIGURE_4), [3, 4, 5])
    began = mesh.now
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    times = {s.node: round(s.time - began, 4) for s in mesh.sent_of(RoutedEvent)}
    assert times == {0: 0.0, 1: 0.002, 2: 0.022}


def test_nobody_sends_what_nobody_wants():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    mesh.publish(0, Coupon(zone=4))
    mesh.run(for_=2)
    assert mesh.delivered == [] and routed(mesh) == []
    assert mesh.drops[-1].reason is Drop.UNWANTED


def test_a_route_is_also_learnt_from_the_subscription_of_another():
    # 3 moves from behind 1 to behind 2, and repeats the subscription of 4 from there.
    mesh = laid(Mesh(5, Tpsr, [(0, 1), (0, 2), (1, 3), (3, 4)]), [3])
    assert mesh.routers[0].table.route(3, mesh.now).hops == (1, 3)
    mesh.cut(1, 3)
    mesh.join(2, 3)
    laid(mesh, [4])
    assert mesh.routers[0].table.route(3, mesh.now).hops == (2, 3)


# When subscriptions are told.


def test_a_subscription_is_renewed_every_two_hundred_seconds_or_a_little_sooner():
    mesh = laid(Mesh.line(2, Tpsr), [1])
    mesh.run(for_=1000)
    times = renewals(mesh, 1)
    gaps = [b - a for a, b in pairwise(times)]
    assert len(gaps) == 5 and all(180 <= gap <= 200 for gap in gaps)


def test_changes_of_one_moment_are_told_at_once_and_together():
    mesh = laid(Mesh.line(2, Tpsr), [1])
    mesh.unsubscribe(1, NARROW)
    mesh.subscribe(1, Coupon.zone == 7)
    mesh.subscribe(1, Coupon.zone == 8)
    result = mesh.now
    mesh.run(for_=1)
    assert renewals(mesh, 1) == [0.0, result]
    [last] = [s.message for s in mesh.sent_of(RouteSubscription) if s.node == 1 and s.time == result]
    assert last.filters == (Coupon.zone == 7, Coupon.zone == 8)


def test_what_is_withdrawn_is_sent_no_more_and_renewed_no_more():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=3)
    mesh.publish(0, THREE)
    mesh.run(for_=1000)
    assert mesh.delivered == [] and routed(mesh) == []
    assert len(renewals(mesh, 2)) == 2


def test_a_subscriber_that_is_gone_is_forgotten_after_its_lease():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    mesh.kill(2)
    mesh.run(for_=510)
    mesh.publish(0, THREE)
    assert mesh.drops[-1].reason is Drop.EXPIRED
    mesh.run(for_=1)
    assert routed(mesh) == []


def test_a_subscriber_that_starts_anew_is_believed():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    mesh.run(for_=700)  # it has renewed several times, under higher numbers
    mesh.kill(2)
    mesh.revive(2)
    mesh.subscribe(2, Coupon.zone == 7)
    mesh.run(for_=3)
    mesh.publish(0, Coupon(zone=7))
    mesh.run(for_=1)
    assert mesh.delivered == [(2, Coupon(zone=7))]


def test_who_hears_lies_in_its_own_name_goes_beyond_them():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    lie = RouteSubscription(2, 2**31 - 5, (), 0.0, (9,))
    mesh.inject(1, lie, sender=9)
    mesh.run(for_=3)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


# What breaks.
