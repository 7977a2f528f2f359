"""The law of AODV: whatever moves, is lost or starts anew, no route ever leads back to where it was."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.unicast.aodv.messages import RouteError, RouteReply
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.copies import AodvUnicast

from ..histories import play

QUICK = {"active_route_timeout": 2.0, "my_route_timeout": 4.0, "reboot_wait": 6.0, "delete_period": 6.0}
"Routes that lapse within a history, and numbers that are forgotten."


def follow(mesh, dead, seen):
    """Follow everyone's route to everyone."""
    for destination in range(len(mesh.routers)):
        for start in range(len(mesh.routers)):
            passed = [start]
            while passed[-1] != destination and passed[-1] not in dead:
                hop = mesh.routers[passed[-1]].unicast.next_hop(destination)
                if hop is None:
                    break
                assert hop not in passed, f"to {destination}: {passed} and back to {hop} at {mesh.now:.2f} s"
                passed.append(hop)
            seen[len(passed) - 1] += 1


def history(seed, **parameters):
    seen = Counter()
    mesh = play(
        lambda host: AodvUnicast(host, AodvParameters(**parameters)),
        seed,
        lambda mesh, dead: follow(mesh, dead, seen),
    )
    return mesh, seen


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), quick=st.booleans(), repair=st.sampled_from(["rfc", "off"]))
def test_no_route_ever_forms_a_loop(seed, quick, repair):
    history(seed, local_repair=repair, **(QUICK if quick else {}))


def test_histories_have_long_routes_that_break_and_replies_from_tables():
    counts = Counter()
    for seed in range(6):
        mesh, seen = history(seed, **QUICK)
        counts["far"] += seen[3] > 20
        counts["broken"] += len(mesh.sent_of(RouteError)) > 0
        counts["from tables"] += any(
            reply.message.hops == 1 and reply.message.destination not in mesh.neighbours(reply.node)
            for reply in mesh.sent_of(RouteReply)
        )
        counts["delivered"] += len(mesh.deliveries) > 10
    assert min(counts.values()) >= 3 and len(counts) == 4, counts


def test_a_node_that_starts_anew_listens_until_nobody_can_still_have_a_route_through_it():
    history(
        1203, **QUICK
    )  # with two seconds of listening its neighbour's way back leads through it in a circle
    with pytest.raises(ValueError, match="must be longer than the lifetime of every route"):
        AodvParameters(**{**QUICK, "reboot_wait": 2.0})


def test_a_number_is_kept_until_nobody_can_still_have_a_route_over_its_node():
    with pytest.raises(ValueError, match=r"delete_period .* must be longer than the lifetime of every route"):
        AodvParameters(**{**QUICK, "delete_period": 2.0})
    forgotten = Counter()

    def count(mesh, dead):
        for router in mesh.routers:
            routes = router.unicast.routes
            forgotten["known"] += sum(route.known for route in routes)
            forgotten["forgotten"] += sum(
                route.known and not routes.numbered(route, mesh.now) for route in routes
            )

    for seed in range(4):
        play(lambda host: AodvUnicast(host, AodvParameters(**QUICK)), seed, count)
    assert forgotten["forgotten"] > 0.05 * forgotten["known"], forgotten


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=2000, deadline=None)
@given(seed=st.integers(0, 10**9), quick=st.booleans(), gratuitous=st.booleans())
def test_no_route_ever_forms_a_loop_in_thousands_of_histories(seed, quick, gratuitous):
    history(seed, gratuitous_replies=gratuitous, **(QUICK if quick else {}))
