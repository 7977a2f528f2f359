"""Equation 1, the other delay functions, and the estimators of distance."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from roamcast.routing.flooding import Flooding
from roamcast.routing.pampa.delay import delay_function
from roamcast.routing.pampa.distance import estimator, friis
from roamcast.routing.pampa.pampa import Pampa
from roamcast.routing.pampa.parameters import PampaParameters
from roamcast.scenario.model import Radio
from roamcast.testing import Mesh

RANGE = 250.0
LONGEST = 0.2


def equation_1(d, d_t, d_max=RANGE, del_max=LONGEST):
    """The print, word for word."""
    if d < d_t:
        return del_max * (+1 - (d / d_t) ** 2)
    return del_max * (-1 + (d / d_t) ** 2) * (1 / ((d_max / d_t) ** 2 - 1))


def by_target(target):
    wait = delay_function(PampaParameters(delay="target", target=target))
    return lambda distance: wait(distance, math.nan)


@given(st.floats(0, RANGE), st.floats(1, RANGE - 1))
def test_the_delay_is_equation_1(distance, target):
    assert by_target(target)(distance) == pytest.approx(equation_1(distance, target), rel=1e-9, abs=1e-12)


@given(st.floats(0.5, RANGE - 0.5))
def test_who_is_at_the_target_speaks_first_and_those_at_the_ends_last(target):
    wait = by_target(target)
    assert wait(target) == 0
    assert wait(0) == LONGEST
    assert wait(RANGE) == pytest.approx(LONGEST)
    for near in (target - 1e-9, target + 1e-9):
        assert 0 <= wait(near) < 1e-8


@given(
    st.floats(0, RANGE).filter(lambda target: target == 0 or target > 1e-6),
    st.lists(st.floats(0, RANGE), min_size=2),
)
def test_the_wait_falls_towards_the_target_and_rises_beyond_it(target, distances):
    wait = by_target(target)
    before = sorted(d for d in distances if d <= target)
    beyond = sorted(d for d in distances if d >= target)
    assert all(wait(a) >= wait(b) for a, b in pairwise(before))
    assert all(wait(a) <= wait(b) for a, b in pairwise(beyond))
    assert all(0 <= wait(d) <= LONGEST * (1 + 1e-12) for d in distances)


def test_a_target_at_either_end_leaves_one_side_out():
    assert [by_target(0.0)(d) for d in (0, 125, 250)] == pytest.approx([0, LONGEST / 4, LONGEST])
    assert [by_target(RANGE)(d) for d in (0, 125, 250)] == pytest.approx([LONGEST, 0.75 * LONGEST, 0])


@given(st.floats(0, RANGE), st.floats(0, RANGE))
def test_far_first_is_what_its_name_says(one, other):
    wait = delay_function(PampaParameters())
    near, far = sorted((one, other))
    assert LONGEST >= wait(near, math.nan) >= wait(far, math.nan) >= 0


def test_the_delay_by_signal_is_k_times_the_signal_up_to_the_longest():
    wait = delay_function(PampaParameters(delay="signal", strong_signal=2e-8))
    assert wait(100, 1e-9) == pytest.approx(0.01)
    assert wait(100, 1e-3) == LONGEST


def test_friis_is_the_papers_formula_and_reads_two_ray_signals_as_too_far():
    radio = Radio()
    free_space = radio.power * (3e8 / radio.frequency / (4 * math.pi * 100)) ** 2
    assert friis(free_space) == pytest.approx(100, rel=1e-3)
    two_ray = radio.power * radio.antenna_height**4 / 250.0**4
    assert friis(two_ray) == pytest.approx(725, rel=0.01)
    assert friis(0.0) == math.inf
    assert math.isnan(friis(math.nan)) and math.isnan(friis(-1.0))


def test_the_inverse_is_the_hosts():
    mesh = Mesh(2, Flooding)
    mesh.place(0, 0, 0)
    mesh.place(1, 180, 0)
    assert estimator("inverse", mesh.hosts[0])(1 / 180**2) == pytest.approx(180)


def pampa(**parameters):
    mesh = Mesh(1, Flooding)
    return Pampa(mesh.hosts[0], PampaParameters(**parameters), print, print)


def test_a_signal_that_is_unknown_waits_the_longest():
    assert all(LONGEST <= pampa().delay(math.nan) <= LONGEST + 0.01 for _ in range(20))


def test_who_seems_to_be_beyond_the_range_is_taken_to_be_at_it():
    assert pampa(jitter=0).delay(1e-12) == 0
    assert pampa(jitter=0, delay="target").delay(1e-12) == pytest.approx(LONGEST)


@given(st.floats(1e-12, 1.0), st.sampled_from(["far-first", "signal", "target"]))
def test_every_wait_is_within_bounds(signal, delay):
    for distance in ("inverse", "friis"):
        assert 0 <= pampa(delay=delay, distance=distance).delay(signal) <= LONGEST + 0.01 + 1e-12


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ({"copies": 1, "count_first": True}, "suppresses every repetition"),
        ({"target": 300.0}, "must not exceed range"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(given, result):
    with pytest.raises(ValidationError, match=result):
        PampaParameters(**given)
