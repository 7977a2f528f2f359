"""Log-distance path loss against its formula, and against the values that ns-3 documents."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast import _kernel

from ..twin import LIGHT, RADIO
from .links import powers, world_of


def log_distance(exponent, reference=1.0, loss=0.0, **changes):
    given = {"exponent": exponent, "reference": reference, "reference_loss": loss}
    return {**RADIO, "propagation": "log-distance", "range": 4e3, "carrier_sense": 5e3, **given, **changes}


@given(st.floats(1.5, 6), st.floats(0.5, 50), st.floats(30, 90), st.floats(51, 4900))
def test_the_loss_follows_the_formula(exponent, reference, loss, distance):
    radio = log_distance(exponent, reference, 10 ** (loss / 10))
    (power,) = powers(world_of([(0, 0), (distance, 0)], radio=radio), 0, 2)[1:]
    expected = loss + 10 * exponent * math.log10(distance / reference)
    assert 10 * math.log10(RADIO["power"] / abs(power)) == pytest.approx(expected, abs=0.005)


def test_without_a_loss_the_reference_is_free_space():
    radio = log_distance(3.0, 10.0)
    (power,) = powers(world_of([(0, 0), (10, 0)], radio=radio), 0, 2)[1:]
    wave = LIGHT / RADIO["frequency"]
    assert power == pytest.approx(RADIO["power"] * (wave / (4 * math.pi * 10)) ** 2, rel=1e-4)


def test_the_loss_is_that_of_ns3_with_its_defaults():
    """Exponent 3, 46.6777 dB at 1 m (LogDistancePropagationLossModel): the defaults that ns-3 documents."""
    radio = log_distance(3.0, 1.0, 10**4.66777)
    world = world_of([(0, 0), (10, 0), (100, 0), (200, 0)], radio=radio)
    losses = 10 * math.log10(RADIO["power"]) - 10 * np.log10(abs(powers(world, 0, 4)[1:]))
    assert losses == pytest.approx([76.6777, 106.6777, 115.7086], abs=0.005)


@given(st.floats(1.5, 6), st.floats(2, 3900))
def test_a_router_estimates_the_distance_by_the_inverse(exponent, distance):
    world = world_of([(0, 0), (distance, 0)], radio=log_distance(exponent))
    (power,) = powers(world, 0, 2)[1:]
    assert _kernel.Host(world, 1).distance(power) == pytest.approx(distance, rel=1e-3)


def test_ranges_hold_whatever_the_exponent():
    radio = log_distance(2.7, range=250.0, carrier_sense=550.0)
    places = [(0, 0), (249.9, 0), (250.3, 0), (549.5, 0), (550.8, 0)]
    found = powers(world_of(places, radio=radio), 0, 5)
    assert [math.copysign(1, p) if p else 0 for p in found[1:]] == [1, -1, -1, 0]
