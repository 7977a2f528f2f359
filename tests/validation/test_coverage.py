"""Intervals cover what they promise, and equals are seldom called worse: docs/statistics.md, in short."""

import numpy as np
import pytest

from validation.coverage import (
    BEGIN,
    END,
    PAGE,
    accuse,
    covers,
    draw_rates,
    find_broken,
    share_after,
    share_before,
)


def test_the_promises_of_the_page_hold():
    assert find_broken(draws=200) == []


@pytest.mark.parametrize("seeds", [5, 10, 20])
def test_seeds_that_all_deliver_everything_do_not_make_a_rate_of_1_certain(seeds):
    rates = draw_rates(np.random.default_rng(3), 0.999, 0.0, (1000, seeds, 100))
    assert covers(share_before(rates, 100), 0.999) < 0.9  # as it was: certain where all seeds agree
    assert covers(share_after(rates, 100), 0.999) > 0.95


def test_of_eight_equal_protocols_one_is_called_worse_no_more_often_than_promised():
    before, after = accuse(np.random.default_rng(4), 8, 10, 500, None)
    assert after < 0.08 < before


def test_the_page_has_the_tables():
    page = PAGE.read_text(encoding="utf-8")
    tables = page.split(BEGIN)[1].split(END)[0]
    assert "before → after" in tables and tables.count("|---") > 10
