"""Neighbours: silence is noticed when it is due, whatever came between."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.router import Router
from roamcast.routing.state.neighbours import Neighbours
from roamcast.testing import Mesh


def watch(silence=3.0, capacity=10):
    mesh = Mesh(1, Router, [])
    lost = []
    host = mesh.routers[0].host
    neighbours = Neighbours(host, silence, capacity, lambda who: lost.append((round(mesh.now, 6), who)))
    return mesh, host, neighbours, lost


def test_whoever_stays_silent_is_lost_once():
    mesh, host, neighbours, lost = watch()
    neighbours.hear(7, host.now())
    mesh.run(for_=2)
    neighbours.hear(7, host.now())
    neighbours.hear(8, host.now())
    mesh.run(for_=20)
    assert lost == [(5.0, 7), (5.0, 8)]
    assert len(neighbours) == 0


def test_a_neighbour_known_to_be_gone_is_not_lost_again():
    mesh, host, neighbours, lost = watch()
    neighbours.hear(7, host.now())
    neighbours.forget(7)
    mesh.run(for_=20)
    assert lost == [] and 7 not in neighbours


def test_who_was_heard_longest_ago_makes_room():
    mesh, host, neighbours, lost = watch(capacity=2)
    for who in (1, 2, 1, 3):
        mesh.run(for_=0.5)
        neighbours.hear(who, host.now())
    assert lost == [(2.0, 2)]
    assert list(neighbours.heard_since(1.6)) == [3]
    assert list(neighbours.heard_since(0.0)) == [1, 3]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from([None, 0.5, 1.0, 3.0, 8.0]), st.sampled_from([0, 0.25, 1, 2])
        ),
        min_size=1,
        max_size=20,
    )
)
def test_each_silence_ends_at_its_own_time(words):
    mesh, host, neighbours, lost = watch()
    deadlines, expected = {}, []
    for who, silence, later in words:
        neighbours.hear(who, host.now(), silence)
        deadlines[who] = mesh.now + (3.0 if silence is None else silence)
        expected += [(d, w) for w, d in deadlines.items() if d <= mesh.now + later]
        deadlines = {w: d for w, d in deadlines.items() if d > mesh.now + later}
        mesh.run(for_=later)
    mesh.run(for_=20)
    expected += [(d, w) for w, d in deadlines.items()]
    assert sorted(lost) == sorted(expected)
