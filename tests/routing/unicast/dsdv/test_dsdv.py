"""Stories of DSDV on a mesh: routes are found, break, heal, and lies do little harm."""

import pytest
from pydantic import ValidationError

from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.copies import Copy, DsdvUnicast
from roamcast.routing.unicast.dsdv.messages import INFINITY, DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh

from .meshes import ALL_NEWS, NEWS, SETTLED, eager, silent_links


def test_a_line_learns_the_way_to_both_ends():
    mesh = Mesh.line(5, DsdvUnicast)
    mesh.run(for_=4 * SETTLED)
    assert [mesh.routers[n].unicast.next_hop(4) for n in range(4)] == [1, 2, 3, 4]
    assert [mesh.routers[n].unicast.distance(0) for n in range(1, 5)] == [1, 2, 3, 4]
    assert mesh.routers[0].unicast.next_hop(77) is None


def test_each_receiver_gets_a_copy_of_its_own():
    mesh = Mesh.line(4, eager)
    mesh.subscribe(1, ALL_NEWS)
    mesh.subscribe(3, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert sorted(mesh.delivered) == [(1, NEWS), (3, NEWS)]
    assert [(s.node, s.to) for s in mesh.sent_of(Copy)] == [(0, 1), (0, 1), (1, 2), (2, 3)]


def test_news_of_a_better_route_waits_for_the_settling_time():
    mesh = Mesh.line(3, lambda host: DsdvUnicast(host, DsdvParameters(period=1000)))
    mesh.run(for_=11)
    assert mesh.routers[0].unicast.next_hop(2) is None
    mesh.run(for_=5)
    assert mesh.routers[0].unicast.next_hop(2) == 1


@pytest.mark.parametrize("advertise_awaited", [False, True])
def test_a_way_that_somebody_waits_for_may_be_told_at_once(advertise_awaited):
    mesh = Mesh.line(
        3, lambda host: DsdvUnicast(host, DsdvParameters(period=1000, advertise_awaited=advertise_awaited))
    )
    mesh.subscribe(2, ALL_NEWS)
    mesh.publish(1, NEWS)  # nobody has been heard of yet
    mesh.run(for_=11)
    assert mesh.delivered == [(2, NEWS)]
    assert mesh.routers[0].unicast.next_hop(2) == (1 if advertise_awaited else None)
    assert mesh.routers[2].unicast.next_hop(0) is None, "nobody waits for that one"


def test_a_settling_time_that_never_learns_is_refused():
    # Found by the swarm (dsdv-unicast, seed 4006783118): with a period below twice the first settling time,
    # every fresh sequence number began the wait anew, and no way of two hops was ever told.
    with pytest.raises(ValidationError, match="settling_memory"):
        DsdvParameters(settling_memory=1.0)
    assert DsdvParameters(settling_memory=0.99).settling_memory == 0.99


def test_a_failed_link_breaks_its_routes_at_once_and_everyone_hears_of_it():
    mesh = Mesh.line(4, eager)
    mesh.subscribe(3, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.cut(2, 3)
    before = mesh.routers[2].unicast.table.get(3).sequence
    mesh.publish(0, NEWS)
    mesh.run(for_=3)
    assert [mesh.routers[n].unicast.next_hop(3) for n in range(3)] == [None, None, None]
    assert mesh.routers[2].unicast.table.get(3).sequence % 2 == 1
    assert mesh.routers[2].unicast.table.get(3).sequence >= before + 1


def test_what_waits_for_a_route_goes_when_the_route_returns():
    mesh = Mesh.line(4, eager)
    mesh.subscribe(3, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.cut(2, 3)
    mesh.publish(0, NEWS)
    mesh.run(for_=3)
    assert mesh.delivered == []
    mesh.join(2, 3)
    mesh.run(for_=SETTLED)
    assert mesh.delivered == [(3, NEWS)]


def test_without_word_from_the_link_silence_breaks_the_route():
    mesh = Mesh.line(3, silent_links)
    mesh.subscribe(2, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.kill(2)
    mesh.publish(0, NEWS)
    mesh.run(for_=5)
    assert mesh.routers[1].unicast.next_hop(2) == 2
    assert Drop.NO_ROUTE in mesh.drop_counts()
    mesh.run(for_=20)
    assert mesh.routers[1].unicast.next_hop(2) is None
    assert mesh.routers[0].unicast.next_hop(2) is None


def test_a_node_that_hears_it_is_dead_says_otherwise_at_once():
    mesh = Mesh.line(2, eager)
    mesh.run(for_=SETTLED)
    mesh.sent.clear()
    heard = mesh.routers[0].unicast.sequence + 1
    mesh.inject(0, DsdvUpdate((DsdvEntry(0, INFINITY, heard),)), sender=1)
    mesh.run(for_=0.1)
    (first, *_) = [s.message for s in mesh.sent_of(DsdvUpdate) if s.node == 0]
    assert first.entries[0] == (0, 0, heard + 1)


def test_a_reborn_node_is_believed_although_its_count_starts_anew():
    mesh = Mesh.line(3, eager)
    mesh.subscribe(2, ALL_NEWS)
    mesh.run(for_=10 * SETTLED)
    mesh.kill(2)
    mesh.run(for_=SETTLED)
    mesh.revive(2)
    mesh.subscribe(2, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, NEWS)]


def test_only_the_last_few_messages_wait_for_a_route():
    mesh = Mesh(2, eager)
    mesh.subscribe(1, ALL_NEWS)
    for _ in range(7):
        mesh.publish(0, NEWS)
    assert mesh.drop_counts() == {Drop.TABLE_FULL: 2}
    mesh.join(0, 1)
    mesh.run(for_=SETTLED)
    assert [d.publication.sequence for d in mesh.deliveries] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(("timeout", "kept"), [(30.0, 0), (0.0, 2)])
def test_a_message_waits_for_a_route_no_longer_than_its_time_unless_it_has_all_time(timeout, kept):
    parameters = DsdvParameters(settling=0.1, period=5, start_jitter=1, queue_timeout=timeout)
    mesh = Mesh(2, lambda host: DsdvUnicast(host, parameters))
    mesh.subscribe(1, ALL_NEWS)
    mesh.publish(0, NEWS)
    mesh.run(for_=20)
    mesh.publish(0, NEWS)
    mesh.run(for_=9.9)
    assert mesh.drop_counts() == {}
    mesh.run(for_=0.2)
    assert mesh.drop_counts() == ({} if kept else {Drop.EXPIRED: 1})
    mesh.run(for_=20)
    assert mesh.routers[0].tables()["held"].entries == kept
    mesh.join(0, 1)
    mesh.run(for_=SETTLED)
    assert len(mesh.deliveries) == kept


@pytest.mark.parametrize("settle_anew", [False, True])
def test_fresh_numbers_put_off_news_of_a_new_way_only_where_they_may(settle_anew):
    parameters = DsdvParameters(period=1000, start_jitter=0, settle_anew=settle_anew)
    mesh = Mesh(3, lambda host: DsdvUnicast(host, parameters), [(1, 2)])
    mesh.run(for_=100)
    for number in range(2, 12, 2):
        mesh.inject(1, DsdvUpdate((DsdvEntry(0, 0, number),)), sender=0)
        mesh.run(for_=3)
    of_node_0 = [s for s in mesh.sent_of(DsdvUpdate) if any(each[0] == 0 for each in s.message.entries)]
    result = [s.time for s in of_node_0 if s.node == 1]
    # As in ns-2, the trigger finds that the way has not settled, and is not repeated.
    assert result == ([] if settle_anew else [pytest.approx(112, abs=0.1)])


def test_a_copy_that_has_gone_too_far_stops():
    mesh = Mesh.line(3, eager)
    mesh.subscribe(2, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mine = Publication(0, 1, NEWS)
    mesh.inject(1, Datagram(0, 2, 1, Copy(mine)), sender=0)
    assert mesh.drop_counts() == {Drop.HOP_LIMIT: 1}
    mesh.inject(1, Datagram(0, 2, 2, Copy(mine)), sender=0)
    assert mesh.drop_counts() == {Drop.HOP_LIMIT: 1}


def test_sequence_numbers_go_round():
    mesh = Mesh.line(3, eager)
    mesh.run(for_=SETTLED)
    mesh.inject(2, DsdvUpdate(((2, 1, 2**31 - 8),)), sender=1)
    mesh.run(for_=SETTLED)
    mesh.inject(2, DsdvUpdate(((2, 1, 2**32 - 8),)), sender=1)
    mesh.run(for_=SETTLED)
    assert mesh.routers[2].unicast.sequence < 100
    assert mesh.routers[0].unicast.table.get(2).sequence < 100
    assert mesh.routers[0].unicast.distance(2) == 2
