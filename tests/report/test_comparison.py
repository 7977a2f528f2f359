"""The report of a comparison answers the question that was asked."""

from types import SimpleNamespace

import pytest

from roamcast.pipeline.campaign import Sweep
from roamcast.report.answer import answer
from roamcast.report.bars import draw_bars
from roamcast.report.comparison import make_comparisons
from roamcast.report.ranking import rank

PLACE = ("scenario", "{}")
THREE = ["flooding", "cbr", "ft-cbr"]


def comparison(means, differences):
    """A result with the given means (half-width 0.01) and paired differences (mean, half)."""
    values = {
        (*PLACE, protocol, metric): {"mean": mean, "half": 0.01, "count": 3}
        for metric, row in means.items()
        for protocol, mean in zip(THREE, row, strict=True)
    }
    told = [
        {
            "sweep": PLACE[0],
            "point": PLACE[1],
            "metric": m,
            "protocol": a,
            "other": b,
            "mean": mean,
            "half": half,
        }
        for (m, a, b), (mean, half) in differences.items()
    ]
    sweep = Sweep.model_validate({"protocols": THREE})
    return SimpleNamespace(
        values=values, tables={"differences": told}, campaign=SimpleNamespace(sweeps={"scenario": sweep})
    )


@pytest.fixture
def result():
    return comparison(
        {
            "delivery_rate": [0.7, 0.6, 0.95],
            "delay_mean": [0.3, 0.1, 0.4],
            "transmissions_per_delivery": [9.0, 3.0, 5.0],
        },
        {
            ("delivery_rate", "flooding", "ft-cbr"): (-0.25, 0.02),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.02),
            ("delay_mean", "flooding", "cbr"): (0.2, 0.3),
            ("delay_mean", "ft-cbr", "cbr"): (0.3, 0.1),
            ("transmissions_per_delivery", "flooding", "cbr"): (6.0, 0.1),
            ("transmissions_per_delivery", "ft-cbr", "cbr"): (2.0, 0.1),
        },
    )


def test_more_is_better_for_delivery_and_less_for_delay(result):
    assert {p: mark for p, (_, mark) in rank(result, PLACE, "delivery_rate", THREE).items()} == {
        "flooding": "",
        "cbr": "",
        "ft-cbr": "best",
    }


def test_a_difference_within_its_interval_is_a_tie(result):
    assert {p: mark for p, (_, mark) in rank(result, PLACE, "delay_mean", THREE).items()} == {
        "flooding": "tie",
        "cbr": "best",
        "ft-cbr": "",
    }


def test_the_answer_names_the_best_and_what_speaks_against_it(result):
    found = answer(result, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == ("ft-cbr", [], False)
    assert found.sentences == [
        "ft-cbr serves this scenario best: it delivers 95.0 ± 1.0 % of what was wanted, "
        "after 0.400 ± 0.010 s on the mean, for 5.00 ± 0.01 messages per delivery.",
        "cbr is quicker (0.100 ± 0.010 s) and cheaper (3.00 ± 0.01 messages per delivery), "
        "but delivers 60.0 ± 1.0 %.",
    ]


def test_of_two_that_deliver_the_same_the_cheaper_serves_best():
    same = comparison(
        {"delivery_rate": [0.955, 0.6, 0.95], "transmissions_per_delivery": [9.0, 3.0, 5.0]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (0.005, 0.02),
            ("delivery_rate", "flooding", "cbr"): (0.355, 0.02),
        },
    )
    found = answer(same, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == ("ft-cbr", ["flooding"], False)
    assert "flooding ties with it in delivery: the differences are within their intervals." in found.sentences


def test_a_tie_by_too_few_seeds_is_said_to_be_one_and_decides_nothing():
    spread = comparison(
        {"delivery_rate": [0.7, 0.6, 0.95], "transmissions_per_delivery": [2.0, 3.0, 5.0]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (-0.25, 0.9),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.2),
        },
    )
    found = answer(spread, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == ("ft-cbr", ["flooding"], True)
    assert "flooding ties with it in delivery, but 3 seeds spread too widely to tell" in found.sentences[1]


def test_one_protocol_alone_is_compared_with_nobody(result):
    assert answer(result, PLACE, ["cbr"]) is None


def test_the_page_gives_the_answer_before_the_numbers(result):
    page = make_comparisons(result)
    assert page.index("ft-cbr serves this scenario best") < page.index("<svg") < page.index("<table")
    assert page.count("<strong class='tie'>") == 2  # in the short table and among all metrics
    assert page.count("<strong class='best'>") == 2 * 3


def test_bars_name_their_protocols(result):
    drawn = draw_bars(result, PLACE, "delay_mean", THREE)
    assert all(f">{protocol}<" in drawn for protocol in THREE)
