"""Stories of TPSR: broken routes, lost frames, repair."""

import pytest
from tpsr_mesh import THREE, Coupon, laid, renewals, routed, tpsr

from roamcast.routing.router import Publication
from roamcast.routing.tpsr.messages import Job, JobAck, PampaEvent, Rescue, RoutedEvent
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh, lose


def test_a_broken_link_costs_retries_then_a_flood_then_a_new_route():
    # 0 - 1 - 2, and 0 - 3 - 2 in reserve.
    mesh = laid(Mesh(4, Tpsr, [(0, 1), (1, 2), (0, 3)]), [2])
    mesh.cut(1, 2)
    mesh.join(3, 2)
    began = mesh.now
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    assert routed(mesh) == [0, 1, 1, 1]  # twice again
    flood = mesh.sent_of(PampaEvent)
    assert [s.node for s in flood][:1] == [1] and {s.node for s in flood} == {0, 1, 2, 3}
    assert 0.3 < flood[0].time - began < 0.31
    assert mesh.delivered == [(2, THREE)]
    [delivery] = mesh.deliveries
    assert renewals(mesh, 2)[-1] == delivery.time
    assert mesh.routers[0].table.route(2, mesh.now).hops == (3, 2)
    before = len(mesh.sent_of(PampaEvent))
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)] * 2
    assert len(mesh.sent_of(PampaEvent)) == before


def test_a_frame_that_was_lost_costs_one_retry():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    with mesh.fault(lose(RoutedEvent, from_=1, to=2)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=2)
    assert routed(mesh) == [0, 1, 1]
    assert mesh.delivered == [(2, THREE)] and mesh.sent_of(PampaEvent) == []


def test_a_lost_acknowledgement_costs_a_retry_and_is_given_again_but_delivers_once():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    with mesh.fault(lose(JobAck)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=2)
    assert routed(mesh) == [0, 1, 1]
    assert len(mesh.sent_of(JobAck)) == 2
    assert mesh.delivered == [(2, THREE)]


def test_who_was_not_overheard_answers_the_copy_without_passing_it_on_again():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    with mesh.fault(lose(RoutedEvent, from_=1, to=0)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.05)
    mesh.run(for_=2)
    assert routed(mesh) == [0, 1, 0]
    assert (1, 0) in [(s.node, s.message.to) for s in mesh.sent_of(JobAck)]
    assert mesh.delivered == [(2, THREE)]


def test_a_forwarding_for_others_acknowledges_nothing():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    with mesh.fault(lose(RoutedEvent, from_=0, to=1)):
        event = mesh.publish(0, THREE)
        mesh.inject(0, RoutedEvent(event, 0.0, (Job(9, 0, frozenset({9})),)), sender=1)
        mesh.run(for_=0.05)
    mesh.run(for_=2)
    assert routed(mesh) == [0, 0, 1]
    assert mesh.delivered == [(2, THREE)]


@pytest.mark.parametrize(
    ("last_hop", "acks", "sends"), [("ack", 1, [0, 1]), ("forward", 0, [0, 1, 2]), ("none", 0, [0, 1])]
)
def test_the_last_hop_is_heard_as_the_parameters_say(last_hop, acks, sends):
    mesh = laid(Mesh.line(3, tpsr(last_hop=last_hop)), [2])
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)]
    assert (len(mesh.sent_of(JobAck)), routed(mesh)) == (acks, sends)


def test_nobody_waits_for_a_last_hop_that_need_not_answer():
    mesh = laid(Mesh.line(3, tpsr(last_hop="none")), [2])
    mesh.cut(1, 2)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert routed(mesh) == [0, 1] and mesh.sent_of(PampaEvent) == []


def test_tables_that_point_in_a_circle_cost_a_flood_and_no_event():
    # 0, 1 and 2 each believe that the next is nearer to 3, which is beside 2.
    mesh = laid(Mesh(4, Tpsr, [(0, 1), (1, 2), (2, 0), (2, 3)]), [3])
    for node, hop in ((0, 1), (1, 2), (2, 0)):
        entry = mesh.routers[node].table.leases.get(3, mesh.now)
        entry.route = entry.route._replace(hops=(hop, 3))
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(3, THREE)]
    assert len(routed(mesh)) == 3
    assert {s.node for s in mesh.sent_of(PampaEvent)} >= {0, 2}


def test_a_relay_that_knows_no_way_floods_at_once():
    mesh = laid(Mesh.line(3, Tpsr), [2])
    mesh.routers[1].table.leases.discard(2)
    began = mesh.now
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)]
    assert mesh.sent_of(PampaEvent)[0].time - began < 0.01
    assert routed(mesh) == [0]  # and its flood is heard by who sent it there


def test_a_publication_is_flooded_by_a_node_once_however_many_routes_are_broken():
    mesh = laid(Mesh(4, Tpsr, [(0, 1), (0, 2), (0, 3)]), [1, 2])
    mesh.kill(1)
    mesh.kill(2)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert [s.node for s in mesh.sent_of(PampaEvent)] == [0, 3]


# When routes are renewed.


def test_floods_ask_for_a_renewal_not_more_often_than_the_gap():
    mesh = laid(Mesh.line(2, tpsr(repair_gap=10.0)), [1])
    mesh.run(for_=30)
    mesh.routers[0].table.leases.discard(1)
    for number in range(1, 21):  # from somewhere where routes are broken
        event = PampaEvent(Publication(7, number, THREE))
        mesh.inject(1, event, sender=0)
        mesh.run(for_=1)
    asked = renewals(mesh, 1)[1:]
    assert len(asked) == 2 and asked[1] - asked[0] >= 10


def test_who_had_it_by_its_route_does_not_take_a_flood_for_a_broken_route():
    mesh = laid(Mesh.line(2, Tpsr), [1])
    event = mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.inject(1, PampaEvent(event), sender=0)
    mesh.run(for_=1)
    assert len(renewals(mesh, 1)) == 1
    assert mesh.delivered == [(1, THREE)]


@pytest.mark.parametrize(("apart", "asked"), [(200, 0), (245, 1)])
def test_a_publication_over_a_weak_hop_asks_for_a_renewal_before_it_breaks(apart, asked):
    mesh = Mesh.line(3, Tpsr)
    for node, x in enumerate((0, apart, apart + 100)):
        mesh.place(node, x, 0)
    laid(mesh, [2])
    mesh.run(for_=30)
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=0.2)
    assert len(mesh.deliveries) == 3
    assert len(renewals(mesh, 2)) == 1 + asked


def test_the_weakest_hop_is_told_to_the_end():
    mesh = Mesh.line(4, Tpsr)
    for node, x in enumerate((0, 100, 240, 300)):
        mesh.place(node, x, 0)
    laid(mesh, [3])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    weakest = {s.node: s.message.weakest for s in mesh.sent_of(RoutedEvent)}
    assert weakest == {0: 0.0, 1: pytest.approx(1 / 100**2), 2: pytest.approx(1 / 140**2)}
    assert mesh.routers[0].table.route(3, mesh.now).weakest == pytest.approx(1 / 140**2)


# The paper's future work.


DIAMOND = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (1, 2), (2, 3)]


def test_with_local_repair_a_neighbour_that_knows_another_way_saves_the_flood():
    mesh = laid(Mesh(5, tpsr(local_repair=True), DIAMOND), [4])
    used = mesh.routers[0].table.route(4, mesh.now).hops[0]
    mesh.cut(used, 4)
    mesh.cut(0, used)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(4, THREE)]
    assert mesh.sent_of(PampaEvent) == []
    assert [s.node for s in mesh.sent_of(Rescue)] == [0]
    helpers = [node for node in routed(mesh) if node != 0]
    assert len(helpers) == 1 and helpers[0] != used
    # The next one goes there at once.
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(4, THREE)] * 2
    assert len(mesh.sent_of(Rescue)) == 1


def test_where_no_neighbour_knows_a_way_local_repair_ends_in_the_flood():
    mesh = laid(Mesh(4, tpsr(local_repair=True), [(0, 1), (1, 2), (0, 3)]), [2])
    mesh.cut(1, 2)
    mesh.join(3, 2)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert mesh.delivered == [(2, THREE)]
    assert len(mesh.sent_of(Rescue)) == 1 and mesh.sent_of(PampaEvent)


def test_a_subscriber_that_came_near_answers_a_rescue_itself():
    mesh = laid(Mesh(4, tpsr(local_repair=True), [(0, 1), (1, 2), (0, 3)]), [2])
    mesh.cut(1, 2)
    mesh.cut(0, 1)
    mesh.join(0, 2)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert mesh.delivered == [(2, THREE)]
    assert mesh.sent_of(PampaEvent) == []
    assert mesh.routers[0].table.route(2, mesh.now).hops == (2,)


def test_a_neighbour_whose_way_is_longer_than_the_broken_one_is_no_help():
    mesh = laid(Mesh(6, tpsr(local_repair=True), [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 2)]), [2])
    entry = mesh.routers[3].table.leases.get(2, mesh.now)
    entry.route = entry.route._replace(hops=(4, 5, 2))
    mesh.kill(1)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert mesh.delivered == [(2, THREE)]
    assert [s.message.within for s in mesh.sent_of(Rescue)] == [2]
    assert mesh.sent_of(PampaEvent)[0].node == 0


def test_with_adaptive_delay_a_crowd_waits_longer_than_a_pair_and_losses_make_it_longer():
    scales = []
    for crowd in (2, 20):
        mesh = laid(Mesh.full(crowd, tpsr(adaptive_delay=True)), [1])
        for node in range(crowd):
            mesh.subscribe(node, Coupon.zone == node)
        mesh.run(for_=5)
        scales.append(mesh.routers[0].conditions.scale())
    assert scales[0] == 0.25 and 0.5 < scales[1] < 1
    mesh.kill(1)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.routers[0].conditions.scale() > scales[1]
