"""Fading against its distribution: gamma power gains per frame and receiver, clipped at 10 dB."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ..twin import SENSE, received_power
from .links import FAR, powers, shadowing, world_of

PLACES = [(0.0, 0.0), *((100.0 + 5 * k, 30.0) for k in range(20))]
MEAN = np.array([received_power(np.hypot(x, y)) for x, y in PLACES[1:]])


def gains(m, frames=500, seed=3):
    """Return the gains of frames (rows) at 20 receivers."""
    world = world_of(PLACES, seed, FAR, fading=m)
    rows = []
    for frame in range(frames):
        world.run_until(0.01 * (frame + 1))
        rows.append(np.abs(powers(world, 0, len(PLACES))[1:]) / MEAN)
    return np.array(rows)


@pytest.mark.parametrize("m", [0.5, 1.0, 3.0, 20.0])
def test_gains_are_gamma_distributed(m):
    """Rayleigh (m = 1) has exponential power; Nakagami-m has gamma power of mean 1 and variance 1/m."""
    found = gains(m).ravel()
    law = stats.gamma(m, scale=1 / m)
    share = law.sf(10)
    clipped_mean = law.expect(lambda g: np.minimum(g, 10), lb=0, ub=200)
    clipped_second = law.expect(lambda g: np.minimum(g, 10) ** 2, lb=0, ub=200)
    assert found.max() <= 10 + 1e-6
    assert found.mean() == pytest.approx(clipped_mean, rel=0.05)
    assert found.var() == pytest.approx(clipped_second - clipped_mean**2, rel=0.12)
    assert np.mean(found >= 9.99) == pytest.approx(share, abs=0.001)
    assert stats.kstest(found[found < 9.99], lambda g: law.cdf(g) / law.cdf(9.99)).pvalue > 0.01


def test_frames_and_receivers_fade_independently():
    found = gains(1.0)
    between = np.corrcoef(found.T)
    assert np.abs(between[~np.eye(20, dtype=bool)]).max() < 0.2
    assert np.abs(np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1]) < 0.03


def test_deep_fades_occur_as_often_as_they_should():
    found = gains(1.0, frames=1500).ravel()
    for depth in (0.1, 0.01, 0.001):
        assert np.mean(found < depth) == pytest.approx(1 - np.exp(-depth), rel=0.25, abs=3e-4)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 6000), st.floats(0, 6000)), min_size=2, max_size=40),
    st.integers(0, 2**32),
    st.sampled_from([{"fading": 1.0}, {"fading": 0.5, "shadowing": shadowing(8.0, 100.0, 6000.0)}]),
)
def test_the_index_misses_nobody_whom_the_strongest_gain_reaches(points, seed, options):
    """Who senses a frame is the same if every node is a candidate: the reach is bounded, and found right."""
    threshold = received_power(SENSE)
    near = world_of(points, seed, **options)
    everywhere = world_of(points, seed, FAR, **options)  # the same gains, and no power is too low
    for source in range(len(points)):
        all_powers = np.abs(powers(everywhere, source, len(points)))
        expected = {n for n in range(len(points)) if n != source and all_powers[n] >= threshold}
        assert {node for node, _, _ in near.receivers(source)} == expected


def test_only_the_sign_of_a_decodable_power_is_positive():
    world = world_of(PLACES, 5, fading=1.0)
    for frame in range(50):
        world.run_until(0.1 * (frame + 1))
        for _, _, power in world.receivers(0):
            assert (power > 0) == (abs(power) >= received_power(250))
