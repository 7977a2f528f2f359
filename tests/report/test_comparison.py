"""The report of a comparison answers the question that was asked."""

from types import SimpleNamespace

import pytest

from roamcast.pipeline.campaign import Sweep
from roamcast.report.bars import draw_bars
from roamcast.report.page import _answers
from roamcast.report.ranking import rank, sentences

PLACE = ("scenario", "{}")
THREE = ["flooding", "cbr", "ft-cbr"]


def comparison(means, differences):
    """A result with the given means (half-width 0.01) and paired differences (mean, half)."""
    values = {
        (*PLACE, protocol, metric): {"mean": mean, "half": 0.01}
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
        {"delivery_rate": [0.7, 0.6, 0.95], "delay_mean": [0.3, 0.1, 0.4]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (-0.25, 0.02),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.02),
            ("delay_mean", "flooding", "cbr"): (0.2, 0.3),
            ("delay_mean", "ft-cbr", "cbr"): (0.3, 0.1),
        },
    )


def test_more_is_better_for_delivery_and_less_for_delay(result):
    assert {p: mark for p, (_, mark) in rank(result, PLACE, "delivery_rate", THREE).items()} == {
        "flooding": "",
        "cbr": "",
        "ft-cbr": "best",
    }


def test_a_difference_within_its_interval_is_a_tie(result):
    assert sentences(result, PLACE, THREE) == [
        "Delivery rate: ft-cbr is best.",
        "Delay: flooding and cbr tie.",
    ]


def test_the_page_gives_the_answer_before_the_numbers(result):
    page = _answers(result)
    assert page.index("ft-cbr is best.") < page.index("<svg") < page.index("<table")
    assert page.count("<strong class='tie'>") == 2 * 2  # in the short table and among all metrics


def test_bars_name_their_protocols(result):
    drawn = draw_bars(result, PLACE, "delay_mean", THREE)
    assert all(f">{protocol}<" in drawn for protocol in THREE)
