"""Heads of the grid merge within their square; equal E(H) is decided by distance."""

import pytest
from fields import communities, lay, street

from roamcast.routing.clone.community import KnownPrincipal
from roamcast.routing.clone.grid import GridCbr
from roamcast.routing.clone.parameters import CloneParameters, GridParameters


def two_heads(merge_heads, places=((100.0, 100.0), (150.0, 150.0), (240.0, 240.0))):
    """One square in which the first and the last node are heads; the last is nearest to the centre."""
    parameters = GridParameters(merge_heads=merge_heads)
    mesh = lay(list(places), GridCbr, parameters)
    mesh.run(for_=6)
    for node in (0, len(places) - 1):
        router = mesh.routers[node]
        router.community.become_principal(router.describe().weight)
    last = len(places) - 1
    weight = mesh.routers[last].community.weight
    for node in range(1, last):
        mesh.routers[node].community.join(KnownPrincipal(last, weight, frozenset(), 1, node + 1))
    mesh.run(for_=10)
    return mesh


@pytest.mark.parametrize("merge_heads", [True, False])
def test_a_head_joins_the_head_of_its_square_that_is_nearer_to_the_centre(merge_heads):
    mesh = two_heads(merge_heads)
    assert communities(mesh) == ([2, 2, 2] if merge_heads else [0, 2, 2])


def test_heads_of_different_squares_stay_apart():
    # The border is at x = 500 m: the nodes hear each other across it.
    mesh = two_heads(True, places=((450.0, 250.0), (480.0, 250.0), (510.0, 250.0)))
    assert communities(mesh)[0] != 2


def test_of_equal_expected_hops_the_nearer_principal_is_joined():
    mesh = lay(street(4), parameters=CloneParameters())
    mesh.run(for_=6)
    routers = mesh.routers
    routers[0].community.become_principal(5)
    routers[1].community.join(KnownPrincipal(0, 5, frozenset(), 1, 0))
    routers[3].community.become_principal(5)
    mesh.run(for_=2.5)
    # Node 2 has lost its principal. No interest is known of the other two, so both expect the same hops.
    routers[2].community.join(KnownPrincipal(99, 9, frozenset(), 1, 99))
    mesh.run(for_=2.5)
    assert communities(mesh) == [0, 0, 3, 3]


def test_a_node_that_crosses_empty_squares_calls_for_an_election_at_most_once_per_renewal():
    parameters = GridParameters()
    mesh = lay([(0.0, 250.0)], GridCbr, parameters)
    mesh.place(0, 0.0, 250.0, vx=150.0)  # a square every 3.3 s; an election takes 4 s
    mesh.run(for_=100)
    assert 5 <= mesh.routers[0].community.constructions <= 100 / parameters.renew
