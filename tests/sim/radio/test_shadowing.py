"""Shadowing against its definition: normal in dB, Gudmundson's correlation, the same in both directions."""

import numpy as np
import pytest
from scipy import stats

from ..twin import received_power
from .links import FAR, powers, shadowing, world_of

SIGMA = 6.0


def decibels(points, seeds, correlation=20.0, side=1000.0):
    """Return the shadowing of the links from the first point to the others, a row per seed [dB]."""
    mean = np.array([received_power(np.hypot(x - points[0][0], y - points[0][1])) for x, y in points[1:]])
    rows = []
    for seed in seeds:
        world = world_of(points, seed, FAR, shadowing=shadowing(SIGMA, correlation, side))
        rows.append(10 * np.log10(np.abs(powers(world, 0, len(points))[1:]) / mean))
    return np.array(rows)


GRID = [(150.0, 150.0)] + [(x, y) for x in range(0, 301, 60) for y in range(0, 301, 60)]
FAR_APART = decibels(GRID, range(300), correlation=5.0, side=300.0)


def test_the_loss_is_normal_in_decibels():
    """300 seeds of 36 links whose ends are twelve correlation distances apart; clipped at three sigma."""
    sample = FAR_APART.ravel() / SIGMA
    assert sample.mean() == pytest.approx(0, abs=0.03)
    assert sample.std() == pytest.approx(1, abs=0.03)
    assert np.abs(sample).max() <= 3 + 1e-6
    inner = sample[np.abs(sample) < 2.9999]
    assert 1 - len(inner) / len(sample) == pytest.approx(0.0027, abs=0.002)
    # The links of one seed share an end, not a loss: a test of independent numbers applies.
    truncated = stats.truncnorm(-3, 3)
    assert stats.kstest(inner[:3000], truncated.cdf).pvalue > 0.01


def test_links_with_distant_ends_are_independent():
    correlations = np.corrcoef(FAR_APART.T)
    off = correlations[~np.eye(len(correlations), dtype=bool)]
    assert np.abs(off.mean()) < 0.03
    assert np.abs(off).max() < 0.25


@pytest.mark.parametrize("correlation", [10.0, 20.0, 60.0])
@pytest.mark.parametrize("heading", [(1.0, 0.0), (0.6, 0.8), (-0.8, 0.6)])
def test_one_moving_end_decorrelates_exponentially(correlation, heading):
    """Gudmundson: exp(-d / correlation), in every direction."""
    steps = np.array([0.25, 0.5, 1.0, 2.0]) * correlation
    places = [(250.0, 20.0), (130.0, 130.0)]
    places += [(130 + heading[0] * d, 130 + heading[1] * d) for d in steps]
    found = decibels(places, range(1000), correlation, side=300.0)
    measured = [np.corrcoef(found[:, 0], found[:, k])[0, 1] for k in range(1, 5)]
    assert measured == pytest.approx(np.exp(-steps / correlation), abs=0.09)


def test_two_moving_ends_multiply_their_correlations():
    seeds = range(1000)
    before = decibels([(30.0, 30.0), (200.0, 200.0)], seeds, side=300.0)[:, 0]
    after = decibels([(40.0, 30.0), (200.0, 220.0)], seeds, side=300.0)[:, 0]
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(np.exp(-(10 + 20) / 20), abs=0.09)


def test_both_directions_have_the_same_loss():
    world = world_of(GRID, 7, FAR, shadowing=shadowing())
    table = np.array([powers(world, node, len(GRID)) for node in range(len(GRID))])
    assert np.array_equal(table, table.T)


def test_the_loss_depends_on_seed_and_positions_alone():
    """Neither on time nor on the number of frames; a walker that returns finds it again."""
    world = world_of(GRID, 7, FAR, shadowing=shadowing())
    first = powers(world, 0, len(GRID))
    world.run_until(50.0)
    assert np.array_equal(first, powers(world, 0, len(GRID)))
    assert np.array_equal(first, powers(world_of(GRID, 7, FAR, shadowing=shadowing()), 0, len(GRID)))
    assert not np.array_equal(first, powers(world_of(GRID, 8, FAR, shadowing=shadowing()), 0, len(GRID)))


def test_positions_outside_the_area_have_a_loss_too():
    found = decibels([(-500.0, 20.0), (5000.0, -7.0), (100.0, 9000.0)], range(20))
    assert np.isfinite(found).all() and found.std() > 1
