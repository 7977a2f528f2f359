"""How long a link lasts, by where its ends will be."""

import math
from random import Random

import pytest

from roamcast.routing.odmrp.link_expiry import link_lifetime

REACH = 250.0


def test_when_a_link_ends_its_ends_are_as_far_apart_as_it_reaches():
    r = Random(7)
    for _ in range(300):
        far, where, speed, way = (
            r.uniform(0, REACH),
            r.uniform(0, math.tau),
            r.uniform(0.1, 40),
            r.uniform(0, math.tau),
        )
        a, b, v, w = (
            far * math.cos(where),
            far * math.sin(where),
            speed * math.cos(way),
            speed * math.sin(way),
        )
        seconds = link_lifetime(a, b, v, w, REACH)
        assert math.hypot(a + seconds * v, b + seconds * w) == pytest.approx(REACH)
        assert math.hypot(a + seconds / 2 * v, b + seconds / 2 * w) < REACH
        assert math.hypot(a + (seconds + 1) * v, b + (seconds + 1) * w) > REACH


def test_ends_that_keep_their_distance_stay_linked_and_those_out_of_reach_are_not():
    assert link_lifetime(100, 100, 0, 0, REACH) == math.inf
    assert link_lifetime(200, 200, -5, -5, REACH) == 0
