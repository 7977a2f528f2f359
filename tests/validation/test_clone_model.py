"""The formulas of section III say what the paper says that they say."""

from math import isclose, sqrt

import numpy as np
import pytest

import roamcast
from roamcast.errors import UserError
from validation.clone_beside import _cells, hop_counts
from validation.clone_model import (
    Model,
    basic_delay,
    clone_delay,
    fewest_communities,
    traditional_delay,
)


def test_more_than_two_communities_pay_at_the_papers_intervals():
    assert fewest_communities(10, 7) == 2
    assert Model(200, 2, 0.5).ratio() > 0.5 > Model(200, 3, 0.5).ratio()
    assert Model(10_000, 1, 0.5).ratio() == 10 / 7


def test_the_ratio_falls_with_communities_as_their_number_times_its_root():
    four, nine = (Model(10_000, k, 0.5).ratio() for k in (4, 9))
    assert isclose(four / nine, 27 / 8)


def test_expression_three_is_the_limit_of_one_to_five():
    huge = Model(1e10, 20, 0.5, publication_size=1e6, subscription_size=1e-6, advert_size=1e-6)
    assert isclose(huge.clone() / huge.traditional(), huge.ratio(), rel_tol=0.01)


def test_more_contents_are_advertised_and_published_more_but_not_asked_for_more():
    one, many = (Model(400, 20, 0.25, contents=contents) for contents in (1, 20))
    assert many.construction() == one.construction() and many.subscribing() == one.subscribing()
    assert isclose(many.advertising(), 20 * one.advertising())
    assert isclose(many.publishing() - one.publishing(), 19 / 10 * 20 / 2 * 10 * 10)
    assert isclose(many.traditional() - many.advertising() - 400 / 2 * 10 / 7, 20 * 10 / 10 * 400 / 2 * 10)


def test_with_every_node_a_community_clone_is_traditional_but_for_what_stays_at_home():
    model = Model(400, 400, 1.0, construction_size=0.0)
    assert isclose(model.within, 0.25)
    assert isclose(model.publishing() - model.within / 7 * 10, 0.1 * 200 * sqrt(400) / 2 * 10)


def test_delays():
    assert traditional_delay(10) == 5
    assert isclose(clone_delay(0.9, 0.1, 2.0, 0.5), 0.1 + 0.1 * 1.0)
    assert isclose(basic_delay(0.9, 0.1, 2.0, 10.0), 0.1 + 0.1 * 7.0)


def test_measured_hops_stand_in_for_half_a_side():
    assert Model(400, 4, 0.5, far=10.0, near=5.0) != Model(400, 4, 0.5)
    assert Model(400, 4, 0.5, far=10.0, near=5.0).clone() == Model(400, 4, 0.5).clone()
    longer = Model(400, 4, 0.5, far=11.0)
    assert isclose(longer.traditional() - Model(400, 4, 0.5).traditional(), (1.0 + 1 / 7) * 200)


def test_hops_go_by_the_shortest_way_and_nowhere_across_a_gap():
    line = np.array([(0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (180.0, 90.0), (500.0, 0.0)])
    hops = hop_counts(line, 100.0)
    assert hops[0].tolist() == [0, 1, 2, 3, np.inf]


def test_runs_without_requests_are_refused_in_words():
    facts = roamcast.run("shopping", "flooding", 1, ('duration="2 s"', 'warmup="0 s"', 'quiet="0 s"')).facts
    with pytest.raises(UserError, match="the runs of shopping have no requests"):
        _cells(facts, {}, 10.0)


def test_expressions_one_and_two_are_limits_of_the_overheads():
    many = Model(1e10, 20, 0.5, construction_size=1e-6, advert_size=1e-6)
    assert isclose(many.clone() / many.traditional(), many.ratio_many_nodes(), rel_tol=0.01)
    small = {"construction_size": 1e-9, "advert_size": 1e-9, "subscription_size": 1e-9}
    for share in ("printed", "unserved"):
        large = Model(400, 20, 0.3, fetched_share=share, **small)
        assert isclose(large.clone() / large.traditional(), large.ratio_large_events(), rel_tol=0.01)


def test_the_extreme_cases_of_expression_two_hold_with_one_minus_alpha_and_not_with_alpha():
    every_node, one = Model(10_000, 10_000, 1.0), Model(10_000, 1, 0.5)
    assert isclose(every_node.ratio_large_events(), 1.0, rel_tol=0.01)  # CLONE becomes the traditional CBR
    assert isclose(one.ratio_large_events(), 10 / 7, rel_tol=0.01)  # one community: T_P / T_S
    meant = Model(10_000, 10_000, 1.0, fetched_share="unserved")
    assert isclose(meant.ratio_large_events(), 1 + 10 / 7, rel_tol=0.01)
