"""How many seeds decide a tie: the estimate keeps its promise where its numbers are the true ones."""

import numpy as np
import pytest

from roamcast.report.comparing.more_seeds import (
    MOST,
    POWER,
    PairedDifferences,
    seeds_to_show_alike,
    seeds_to_tell_apart,
)
from roamcast.results.intervals import difference_interval, p_value


@pytest.mark.parametrize(("mean", "deviation"), [(0.05, 0.1), (0.01, 0.02), (0.03, 0.12)])
def test_with_so_many_seeds_four_of_five_comparisons_tell_the_true_difference(mean, deviation):
    needed = seeds_to_tell_apart(PairedDifferences(mean, deviation, 5))
    random = np.random.default_rng(3)
    draws = random.normal(mean, deviation, (4000, needed))
    result = [p_value(row.mean(), row.std(ddof=1), needed, None) <= 0.05 for row in draws]
    assert POWER - 0.03 < np.mean(result) < POWER + 0.06


def test_with_so_many_seeds_equals_are_shown_alike():
    needed = seeds_to_show_alike(PairedDifferences(0.0, 0.03, 5), 0.02)
    random = np.random.default_rng(4)
    draws = random.normal(0.0, 0.03, (4000, needed))
    counts = np.full(4000, float(needed))
    lower, upper = difference_interval(draws.mean(1), draws.std(1, ddof=1), counts, np.full(4000, np.nan))
    within = np.mean((lower >= -0.02) & (upper <= 0.02))
    assert 0.55 < within < POWER + 0.1  # both sides may fail, so a little less than the power of one


def test_more_is_needed_for_smaller_differences_more_comparisons_and_few_trials():
    one = PairedDifferences(0.02, 0.05, 10, 1000.0)
    needed = seeds_to_tell_apart(one)
    assert needed > 10
    assert seeds_to_tell_apart(one._replace(mean=0.01)) > 3 * needed
    assert seeds_to_tell_apart(one, together=6) > needed
    assert seeds_to_tell_apart(one._replace(trials=2.0)) > needed


def test_no_number_is_told_where_none_is_known():
    assert seeds_to_tell_apart(PairedDifferences(0.0, 0.1, 10)) is None
    assert seeds_to_tell_apart(PairedDifferences(1e-6, 0.1, 10)) is None
    assert seeds_to_show_alike(PairedDifferences(0.03, 0.01, 10), 0.02) is None
    assert MOST == 10_000
