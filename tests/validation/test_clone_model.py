"""The formulas of section III say what the paper says that they say."""

from math import isclose, sqrt

from validation.clone_model import (
    Model,
    clone_delay,
    fewest_communities,
    model_of,
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


def test_with_every_node_a_community_clone_is_traditional_but_for_what_stays_at_home():
    model = Model(400, 400, 1.0, construction_size=0.0)
    assert isclose(model.within, 0.25)
    assert isclose(model.publishing() - model.within / 7 * 10, 0.1 * 200 * sqrt(400) / 2 * 10)


def test_delays():
    assert traditional_delay(10) == 5
    assert isclose(clone_delay(0.9, 0.1, 2.0, 0.5), 0.1 + 0.1 * 1.0)
    assert callable(model_of)
