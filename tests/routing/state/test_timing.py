from itertools import pairwise

from roamcast.routing.router import Router
from roamcast.routing.state.timing import call_every, call_within
from roamcast.testing import Mesh


def test_what_is_repeated_begins_at_a_phase_of_its_own_and_keeps_it():
    mesh = Mesh(20, Router, [])
    said = {node: [] for node in range(20)}
    for node, router in enumerate(mesh.routers):
        call_every(router.host, 7.0, lambda node=node: said[node].append(mesh.now))
    mesh.run(for_=70)
    for times in said.values():
        assert len(times) == 10
        assert all(abs(b - a - 7.0) < 1e-9 for a, b in pairwise(times))
    phases = sorted(times[0] for times in said.values())
    assert 0.0 <= phases[0] < phases[19] < 7.0
    assert len(set(phases)) == 20


def test_jitter_is_shorter_than_its_span_and_can_be_cancelled():
    mesh = Mesh(1, Router, [])
    host, said = mesh.routers[0].host, []
    for n in range(50):
        call_within(host, 0.01, said.append, n)
    call_within(host, 0.01, said.append, "cancelled").cancel()
    mesh.run(for_=0.01)
    assert sorted(said) == list(range(50)) != said
