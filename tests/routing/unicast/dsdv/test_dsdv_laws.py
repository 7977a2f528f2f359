"""Laws of DSDV: shortest routes without loops, bounded tables, forged updates."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.copies import Copy
from roamcast.routing.unicast.dsdv.messages import INFINITY, DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh, duplicate

from .meshes import ALL_NEWS, NEWS, SETTLED, eager, winding


@st.composite
def connected_graphs(draw):
    nodes = draw(st.integers(2, 12))
    tree = [(draw(st.integers(0, n - 1)), n) for n in range(1, nodes)]
    more = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=15))
    return nodes, tree + more


def hops_between(nodes, edges):
    """Breadth-first distances, the slow way."""
    near = [[INFINITY] * nodes for _ in range(nodes)]
    for n in range(nodes):
        near[n][n] = 0
    for a, b in edges:
        if a != b:
            near[a][b] = near[b][a] = 1
    for k in range(nodes):
        for i in range(nodes):
            for j in range(nodes):
                near[i][j] = min(near[i][j], near[i][k] + near[k][j])
    return near


def walk(mesh, a, b):
    """Follow the next hops from a to b; the number of steps, or None where the way ends too soon."""
    passed = {a}
    while a != b:
        a = mesh.routers[a].unicast.next_hop(b)
        if a is None:
            return None
        assert a not in passed, f"a loop on the way to {b}: {passed}"
        passed.add(a)
    return len(passed) - 1


def check_ways(mesh, near):
    """Who can be reached is reached; fresh numbers may come by a longer way first, never by a shorter."""
    for a, row in enumerate(near):
        for b, hops in enumerate(row):
            if hops < INFINITY:
                assert walk(mesh, a, b) >= hops
            else:
                assert mesh.routers[a].unicast.next_hop(b) is None


@given(connected_graphs(), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_law_a_stable_network_finds_every_way_and_no_loop_at_any_time(graph, seed):
    nodes, edges = graph
    mesh = Mesh(nodes, eager, edges, seed=seed)
    for _ in range(SETTLED):
        mesh.run(for_=1)
        for b in range(nodes):
            for a in range(nodes):
                walk(mesh, a, b)
    check_ways(mesh, hops_between(nodes, edges))


@given(connected_graphs(), st.data())
@settings(max_examples=30, deadline=None)
def test_law_after_links_come_and_go_routes_are_right_again(graph, data):
    nodes, edges = graph
    mesh = Mesh(nodes, eager, edges)
    mesh.run(for_=20)
    left = {frozenset(e) for e in edges if e[0] != e[1]}
    for gone in data.draw(st.lists(st.sampled_from(sorted(map(sorted, left))), max_size=4)):
        mesh.cut(*gone)
        left.discard(frozenset(gone))
        mesh.run(for_=data.draw(st.floats(0, 5)))
    mesh.run(for_=2 * SETTLED)
    check_ways(mesh, hops_between(nodes, [tuple(e) for e in left]))


@pytest.mark.parametrize(
    "absurd", [(7, -3, 2), (8, 251, 2), (9, 1, -2), (10, 1, 2**70), (-5, 1, 2), (2**40, 1, 2)], ids=repr
)
def test_an_update_with_an_absurd_entry_is_refused_as_a_whole(absurd):
    mesh = Mesh.line(3, eager)
    mesh.run(for_=SETTLED)
    lies = DsdvUpdate((DsdvEntry(11, 4, 2), DsdvEntry(*absurd)))
    assert mesh.inject(1, lies, sender=0) is Drop.MALFORMED
    assert mesh.routers[1].unicast.next_hop(11) is None


def test_an_update_that_claims_to_come_from_me_is_refused():
    mesh = Mesh.line(3, eager)
    mesh.run(for_=SETTLED)
    assert mesh.inject(1, DsdvUpdate((DsdvEntry(11, 4, 2),)), sender=1) is Drop.MALFORMED
    mesh.run(for_=SETTLED)
    assert mesh.routers[1].unicast.next_hop(2) == 2


def test_invented_destinations_in_great_number_find_a_bounded_table():
    mesh = Mesh.line(2, eager)
    mesh.run(for_=10)
    routes = mesh.routers[1].unicast
    for first in range(100, 50_100, 1000):
        mesh.inject(1, DsdvUpdate(tuple(DsdvEntry(d, 1, 2) for d in range(first, first + 1000))), sender=0)
        assert len(routes.table) <= routes.parameters.destinations
    mesh.run(for_=SETTLED)
    assert len(routes.table) <= routes.parameters.destinations
    assert mesh.routers[1].unicast.next_hop(0) == 0
    assert max(len(s.message.entries) for s in mesh.sent_of(DsdvUpdate)) <= 120


def test_strangers_in_great_number_are_forgotten_again():
    mesh = Mesh.line(2, eager)
    routes = mesh.routers[1].unicast
    for stranger in range(10, 5000):
        mesh.inject(1, DsdvUpdate((DsdvEntry(stranger, 0, 2),)), sender=stranger)
    assert len(routes.heard) <= routes.parameters.destinations
    mesh.run(for_=SETTLED)
    assert len(routes.heard) == 1


@given(
    st.lists(st.builds(DsdvEntry, st.integers(0, 6), st.integers(0, 250), st.integers(0, 50)), max_size=60)
)
@settings(max_examples=60, deadline=None)
def test_law_no_noise_makes_a_node_route_to_itself_or_through_itself(entries):
    mesh = Mesh.line(4, eager)
    mesh.run(for_=5)
    random = Random(1)
    for entry in entries:
        mesh.inject(random.randrange(4), DsdvUpdate((entry,)), sender=random.randrange(-1, 6))
        mesh.run(for_=0.2)
    mesh.run(for_=5)
    for node, router in enumerate(mesh.routers):
        assert router.unicast.table.get(node) is None
        assert all(route.hop != node for route in router.unicast.table)


def test_the_way_around_a_broken_link_is_the_shortest_that_was_told_and_a_neighbour_is_the_way_to_itself():
    # 0 - 1 - 3 - 5 and 0 - 2 - 5, so 2 is nearer to 5; 4 hangs on 0.
    mesh = Mesh(6, winding, [(0, 1), (1, 3), (3, 5), (0, 2), (2, 5), (0, 4)])
    mesh.run(for_=SETTLED)
    routes = mesh.routers[0].unicast
    assert routes.detour(5, avoid=()) == 2
    assert routes.detour(5, avoid={2}) == 1
    assert routes.detour(4, avoid=()) == 4
    assert routes.detour(77, avoid={1, 2}) == 4
    assert routes.detour(5, avoid={1, 2, 4}) is None
    mesh.kill(2)
    mesh.run(for_=6)  # a period later it has not been heard lately
    assert routes.detour(5, avoid=()) == 1


@pytest.mark.parametrize("copies", [1, 2])
def test_what_goes_around_someone_who_is_gone_tries_each_way_once_and_ends(copies):
    # Everyone hears everyone, and all have told of a way to 3.
    mesh = Mesh(4, winding, [(a, b) for a in range(4) for b in range(a)])
    mesh.subscribe(3, ALL_NEWS)
    mesh.run(for_=SETTLED)
    mesh.kill(3)
    with mesh.fault(*[duplicate(Datagram, after=0.01)] * (copies - 1)):
        mesh.publish(1, NEWS)
        mesh.run(for_=0.9)
    tried = [(sent.node, sent.to) for sent in mesh.sent_of(Datagram) if sent.to != 3]
    assert {(1, 0), (1, 2)} <= set(tried)
    assert len(tried) == len(set(tried)) <= 6
    assert Drop.NO_ROUTE in mesh.drop_counts()
    sizes = mesh.routers[1].tables()["gone_around"]
    assert (sizes.entries, sizes.limit) == (1, 1024)
    assert sizes.bytes == 8 + mesh.sent_of(Datagram)[0].message.payload.length + 4 * 2


def test_after_a_while_the_same_message_may_go_the_same_ways_again():
    mesh = Mesh(4, winding, [(a, b) for a in range(4) for b in range(a)])
    mesh.run(for_=SETTLED)
    mesh.kill(3)
    copy = Copy(Publication(1, 1, NEWS))
    for _ in range(2):
        mesh.sent.clear()
        mesh.routers[1].unicast.send(copy, 3)
        mesh.run(for_=1.5)
        assert len([sent for sent in mesh.sent_of(Datagram) if sent.to != 3]) >= 2


FORGED_SEQUENCES = st.one_of(
    st.sampled_from([2**32 - 1, 2**32 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**31 + 2]),
    st.integers(0, 50),
    st.integers(0, 2**32 - 1),
)


@settings(max_examples=60, deadline=None)
@given(
    victim=st.integers(0, 4),
    told_to=st.integers(0, 4),
    metric=st.sampled_from([0, 1, INFINITY - 1, INFINITY]),
    sequence=FORGED_SEQUENCES,
    cut_off=st.booleans(),
)
def test_no_single_lie_removes_a_node_for_good(victim, told_to, metric, sequence, cut_off):
    mesh = Mesh.line(5, eager)
    mesh.run(for_=SETTLED)
    if cut_off:  # some do not hear the lie before the network has got over it
        mesh.cut(1, 2)
    liar = told_to - 1 if told_to else 1
    mesh.inject(told_to, DsdvUpdate(((victim, metric, sequence),)), sender=liar)
    mesh.run(for_=30)
    mesh.join(1, 2)
    mesh.run(for_=2 * SETTLED)
    for node in range(5):
        assert [mesh.routers[node].unicast.distance(d) for d in range(5) if d != node] == [
            abs(d - node) for d in range(5) if d != node
        ]
    mesh.cut(victim, victim - 1 if victim else 1)  # and its routes still follow the network
    mesh.run(for_=SETTLED)
    mesh.join(victim, victim - 1 if victim else 1)
    mesh.run(for_=SETTLED)
    assert all(mesh.routers[n].unicast.distance(victim) == abs(n - victim) for n in range(5) if n != victim)
