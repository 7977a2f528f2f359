"""GPSR: what is reachable is reached, around voids too; what moves away is noticed and told."""

from collections import Counter
from itertools import pairwise
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit_disks import edges, parts, scatter

from roamcast.content.schema import EventType
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.copies import Copy
from roamcast.routing.unicast.gpsr.baseline import GpsrUnicast
from roamcast.routing.unicast.gpsr.messages import (
    ANYONE,
    FARTHEST,
    Beacon,
    GeoPacket,
    PerimeterState,
    PointCm,
    Whereabouts,
)
from roamcast.routing.unicast.gpsr.parameters import GpsrUnicastParameters
from roamcast.testing import Mesh
from roamcast.testing.links import lose

News = EventType("news", {})


def lay(at, **parameters):
    """A mesh of nodes that hear each other within range, and know each other."""
    chosen = GpsrUnicastParameters(**{"location": "known", **parameters})
    mesh = Mesh(len(at), lambda host: GpsrUnicast(host, chosen), edges(at))
    for node, place in enumerate(at):
        mesh.place(node, *place)
    mesh.add_event_type(News)
    mesh.run(for_=2)
    mesh.sent.clear()
    return mesh


def send(mesh, origin, to):
    publication = Publication(origin, len(mesh.sent) + 1, News())
    mesh.routers[origin].unicast.send(Copy(publication), to)
    mesh.run(for_=0.5)
    return publication


def packets(mesh):
    return [sent for sent in mesh.sent if type(sent.message) is GeoPacket]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["gabriel", "rng"]), st.data())
def test_on_a_still_connected_network_everything_arrives(seed, planar, data):
    places = scatter(seed)
    mesh = lay(places, planar=planar, hop_limit=255)
    nodes = st.integers(0, len(places) - 1)
    for _ in range(6):
        origin, to = data.draw(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]))
        publication = send(mesh, origin, to)
        assert (to, publication.id) in [(d.node, d.publication.id) for d in mesh.deliveries]


def test_the_networks_of_that_law_have_voids_that_only_perimeter_mode_gets_around():
    stuck = around = whole = 0
    for seed in range(12):
        places = scatter(seed)
        whole += parts(places)[0] == set(range(len(places)))
        for perimeter in (True, False):
            mesh = lay(places, perimeter=perimeter)
            for origin in range(0, len(places), 5):
                send(mesh, origin, (origin + len(places) // 2) % len(places))
            if perimeter:
                around += any(sent.message.face for sent in packets(mesh))
            else:
                stuck += mesh.drop_counts()[Drop.NO_ROUTE] > 0
    assert whole == 12
    assert stuck >= 5 and around >= 5


#   1 - 2 - 3 - 4      The way from 0 to 9 leads around: nobody is nearer to 9 than 0 among its neighbours.
#   |           |
#   0     9 - - 5
HORSESHOE = [(0, 0), (0, 200), (200, 200), (400, 200), (600, 200), (600, 0)]
CUL_DE_SAC = [*HORSESHOE, (230, 0), (420, 0)]


def test_a_packet_goes_around_a_void_and_is_greedy_again_beyond_it():
    mesh = lay(CUL_DE_SAC)
    publication = send(mesh, 0, 6)
    assert [d.publication for d in mesh.deliveries] == [publication]
    way = [(sent.node, bool(sent.message.face)) for sent in packets(mesh)]
    assert way[0] == (0, True)
    assert not way[-1][1]


def test_a_place_is_whoever_is_near_it():
    mesh = lay(HORSESHOE)
    arrived = []
    for router in mesh.routers:
        router.arrive = lambda message, origin, sender, node=router.host.node: arrived.append(node)
    for goal, radius, near in ((PointCm(61_000, 1_000), 205, {5, 4}), (PointCm(19_000, 21_000), 50, {2})):
        arrived.clear()
        mesh.routers[0].unicast.send_to(Copy(Publication(0, 1, News())), ANYONE, goal, radius)
        mesh.run(for_=1)
        assert len(arrived) == 1 and set(arrived) <= near


def test_a_place_where_nobody_is_ends_the_search_with_a_reason():
    mesh = lay(HORSESHOE)
    mesh.routers[0].unicast.send_to(
        Copy(Publication(0, 1, News())), ANYONE, PointCm(500_000, 500_000), radius=100
    )
    mesh.run(for_=5)
    assert [drop.reason for drop in mesh.drops] == [Drop.NO_ROUTE]
    assert max(Counter((s.node, s.to) for s in packets(mesh)).values()) <= 2


def test_with_a_stale_place_a_packet_is_lost_and_told():
    mesh = lay(HORSESHOE, location="announced", announce=60.0, known=200.0)
    mesh.run(for_=60)
    assert mesh.routers[0].unicast.locate(5) == PointCm(60_000, 0)
    mesh.cut(4, 5)
    mesh.place(5, 3000, 3000)
    mesh.run(for_=6)
    send(mesh, 0, 5)
    mesh.run(for_=2)  # it waits for a beacon and begins anew, once
    assert not mesh.deliveries
    assert mesh.drop_counts()[Drop.NO_ROUTE] == 1


def test_a_neighbour_that_the_link_cannot_reach_is_gone_around():
    mesh = lay([(0, 0), (150, 100), (150, -100), (300, 0)])
    hop = mesh.routers[0].unicast.next_hop(3)
    mesh.cut(0, hop)
    publication = send(mesh, 0, 3)
    assert [d.publication for d in mesh.deliveries] == [publication]
    assert hop not in mesh.routers[0].unicast.neighbours()


def test_silence_ends_a_neighbourhood():
    mesh = lay([(0, 0), (100, 0)])
    assert mesh.routers[0].unicast.neighbours() == [1]
    with mesh.fault(lose(Beacon)):
        mesh.run(for_=6)
    assert mesh.routers[0].unicast.neighbours() == []


def test_what_is_sent_saves_beacons_and_what_is_overheard_is_as_good_as_one():
    places = [(0, 0), (200, 0), (100, 100)]
    for implicit in (True, False):
        mesh = lay(places, implicit=implicit)
        with mesh.fault(lose(Beacon, from_=0)):
            for _ in range(40):
                send(mesh, 0, 1)
        own = [sent for sent in mesh.sent if type(sent.message) is Beacon and sent.node == 0]
        assert (len(own) == 0) == implicit
        assert 0 in mesh.routers[2].unicast.neighbours()


@pytest.mark.parametrize("implicit", [True, False])
def test_beacons_are_half_to_one_and_a_half_intervals_apart(implicit):
    mesh = lay([(0, 0), (100, 0)], implicit=implicit)
    mesh.run(for_=400)
    times = [sent.time for sent in mesh.sent if type(sent.message) is Beacon and sent.node == 0]
    gaps = [later - time for time, later in pairwise(times)]
    assert 0.5 <= min(gaps) < 0.6 and 1.4 < max(gaps) <= 1.5
    assert sum(gaps) / len(gaps) == pytest.approx(1, abs=0.05)


def test_the_next_beacon_follows_a_packet_within_one_and_a_half_intervals():
    mesh = lay([(0, 0), (100, 0)])
    for step in range(300):
        send(mesh, 0, 1)
        mesh.run(for_=0.5 + step / 100)
    times = [sent.time for sent in mesh.sent if type(sent.message) in (Beacon, GeoPacket) and sent.node == 0]
    assert max(later - time for time, later in pairwise(times)) <= 1.5


def test_a_message_to_oneself_is_not_sent():
    mesh = lay([(0, 0), (100, 0)])
    send(mesh, 0, 0)
    assert packets(mesh) == [] and [drop.reason for drop in mesh.drops] == [Drop.MALFORMED]


def test_a_packet_with_no_hops_left_stops():
    mesh = lay([(0, 0), (200, 0), (400, 0)])
    last = GeoPacket(0, 2, PointCm(40_000, 0), 0, 7, 1, PointCm(0, 0), (), Copy(Publication(0, 1, News())))
    mesh.inject(1, last, sender=0)
    assert [(drop.node, drop.reason, drop.to) for drop in mesh.drops] == [(1, Drop.HOP_LIMIT, 2)]


def test_a_million_strangers_leave_the_tables_bounded():
    mesh = lay([(0, 0), (100, 0)], neighbours=20, places=20, queue_limit=10, location="announced")
    router = mesh.routers[0]
    for stranger in range(2000):
        place = PointCm(stranger, -stranger)
        assert mesh.inject(0, Beacon(place), sender=1000 + stranger) is None
        mesh.inject(0, Whereabouts(5000 + stranger, place, 7, 3, place), sender=1)
    for missing in range(100):
        router.unicast.send(Copy(Publication(0, missing + 1, News())), 900_000 + missing)
    assert {name: size.entries for name, size in router.tables().items()} == {
        "near": 20,
        "held": 10,
        "packets": 0,
        "places": 20,
        "seen": 0,
    }
    assert mesh.drop_counts()[Drop.TABLE_FULL] == 90
    mesh.run(for_=60)
    send(mesh, 0, 1)
    assert {d.node for d in mesh.deliveries} == {1}


@pytest.mark.parametrize("lost", [(nan, 0.0), (inf, -inf), (1e15, nan)])
def test_a_node_whose_place_is_no_place_stops_nobody(lost):
    mesh = lay([(0, 0), (150, 0), (300, 0), (150, 50)])
    mesh.place(3, *lost)
    mesh.run(for_=5)
    assert max(map(abs, mesh.routers[3].unicast.here())) in (0, FARTHEST)
    publication = send(mesh, 0, 2)
    assert [d.publication for d in mesh.deliveries] == [publication]


def test_who_speaks_in_my_name_is_refused():
    mesh = lay([(0, 0), (100, 0)])
    assert mesh.inject(0, Beacon(PointCm(5, 5)), sender=0) is Drop.MALFORMED


def test_a_silence_that_one_lost_beacon_ends_is_refused():
    with pytest.raises(ValueError, match="must be longer than three beacon intervals"):
        GpsrUnicastParameters(beacon=3.0)


@pytest.mark.parametrize("restart", [False, True])
def test_a_packet_that_takes_an_edge_of_its_face_again_waits_and_begins_anew(restart):
    mesh = lay([(0, 0), (-200, 0), (0, 200)], restart=restart)
    node = mesh.routers[0].unicast
    copy = Copy(Publication(1, 1, News()))
    face = PerimeterState(PointCm(10_000, 0), PointCm(10_000, 0), 8, 9)
    for hops in (50, 40, 30):
        node.receive(
            GeoPacket(1, 7, PointCm(90_000, 0), 0, 3, hops, PointCm(-20_000, 0), (face,), copy), 1, 1.0
        )
    walked = [sent.message for sent in packets(mesh) if sent.node == 0 and sent.message.face[0][0] == face[0]]
    assert len(walked) == (1 if restart else 3)
    mesh.sent.clear()
    mesh.run(for_=1.6)
    anew = [s.message for s in packets(mesh) if s.node == 0 and s.message.face[0].entered == PointCm(0, 0)]
    assert bool(anew) == restart
