"""The report of a comparison answers the question that was asked."""

import io
import re
from types import SimpleNamespace

import pytest
from matplotlib.text import Text
from rich.console import Console

from roamcast.campaign.sweep import Sweep
from roamcast.lake.storage import StorageUrl
from roamcast.metrics.constants import MetricConstants
from roamcast.report.answer import answer
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.drawings.strips import draw_strip_panel
from roamcast.report.page.comparison import make_answer, make_comparisons
from roamcast.report.ranking import rank
from roamcast.report.terminal import show_comparison
from roamcast.results.intervals import student

PLACE = ("scenario", "{}")
THREE = ["flooding", "cbr", "ft-cbr"]


def comparison(means, differences, seeds=10, who=THREE, amounts=None, goal="delivery"):
    """A result with the given means (a hundredth to each side) and paired differences (mean, half).

    Seeds are known of delivery rates, and of the `amounts` by protocol and metric.
    """
    known = amounts or {}
    values = {
        (*PLACE, protocol, metric): {"mean": mean, "half": 0.01, "count": seeds}
        | {"lower": mean - 0.01, "upper": mean + 0.01, "least": mean - 0.03, "most": mean + 0.03}
        for metric, row in means.items()
        for protocol, mean in zip(who, row, strict=True)
        if mean is not None
    }
    record = {
        (*PLACE, metric, a, b): {
            "mean": mean,
            "deviation": half * seeds**0.5 / student(seeds),
            "count": seeds,
        }
        | {"trials": 10_000.0 if SHOWN[metric].scale == "share" else None}
        for (metric, a, b), (mean, half) in differences.items()
    }
    sweep = Sweep.model_validate({"protocols": who})
    return SimpleNamespace(
        values=values,
        differences=record,
        by_seed=lambda *key: (
            {1: values[key]["least"], 2: values[key]["most"]}
            if key[-1] == "delivery_rate"
            else dict(enumerate(known.get(key[-2:], ())))
        ),
        stale=frozenset(),
        curves=None,
        store=SimpleNamespace(folder=StorageUrl("/nowhere")),
        tables={"points": []},
        campaign=SimpleNamespace(
            sweeps={"scenario": sweep}, seed_list=list(range(seeds)), goal=goal, measure=MetricConstants()
        ),
    )


@pytest.fixture
def result():
    return comparison(
        {
            "delivery_rate": [0.7, 0.6, 0.95],
            "delay_common": [0.3, 0.1, 0.4],
            "messages_per_delivery": [9.0, 3.0, 5.0],
        },
        {
            ("delivery_rate", "flooding", "ft-cbr"): (-0.25, 0.02),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.02),
            ("delay_common", "flooding", "cbr"): (0.2, 0.3),
            ("delay_common", "ft-cbr", "cbr"): (0.3, 0.1),
            ("messages_per_delivery", "flooding", "cbr"): (6.0, 0.1),
            ("messages_per_delivery", "ft-cbr", "cbr"): (2.0, 0.1),
        },
    )


def test_more_is_better_for_delivery_and_less_for_delay(result):
    assert {p: mark for p, (_, mark) in rank(result, PLACE, "delivery_rate", THREE).items()} == {
        "flooding": "",
        "cbr": "",
        "ft-cbr": "best",
    }


def test_a_difference_within_its_interval_is_a_tie(result):
    assert {p: mark for p, (_, mark) in rank(result, PLACE, "delay_common", THREE).items()} == {
        "flooding": "tie",
        "cbr": "tie",
        "ft-cbr": "",
    }


QUICK = [0.09, 0.10, 0.08, 0.09, 0.10, 0.09, 0.08, 0.10, 0.09, 0.10]


@pytest.mark.parametrize(
    ("slow", "mark"),
    [
        ([0.3, 0.4, 0.3, 0.5, 0.3, 13.0, 0.4, 0.3, 0.4, 0.3], "best"),
        ([0.08, 0.09, 0.1, 0.08, 0.09, 13.0, 0.09, 0.08, 0.09, 0.1], "tie"),
        ([0.0, 0.4, 0.3, 0.5, 0.3, 13.0, 0.4, 0.3, 0.4, 0.3], "tie"),
    ],
    ids=["every seed says so", "one seed says so", "no ratio to nothing"],
)
def test_amounts_are_told_apart_by_their_ratios_seed_by_seed(slow, mark):
    """One bad seed makes the interval of the differences hold zero in each of these."""
    two = ["cbr", "raft-cbr"]
    wild = comparison(
        {"delivery_rate": [0.7, 0.9], "delay_common": [0.092, sum(slow) / 10]},
        {("delay_common", "cbr", "raft-cbr"): (-1.5, 2.9)},
        who=two,
        amounts={("cbr", "delay_common"): QUICK, ("raft-cbr", "delay_common"): slow},
    )
    assert rank(wild, PLACE, "delay_common", two)["cbr"][1] == mark


def test_the_best_mean_is_no_best_where_the_ratios_say_the_opposite():
    two = ["cbr", "raft-cbr"]
    low = [0.5] * 5 + [0.6] * 5
    odd = comparison(
        {"delivery_rate": [0.7, 0.9], "delay_common": [0.55, 0.63]},
        {("delay_common", "cbr", "raft-cbr"): (-0.08, 1.0)},
        who=two,
        amounts={("cbr", "delay_common"): low, ("raft-cbr", "delay_common"): [0.1, 0.11] * 4 + [0.1, 5.4]},
    )
    assert [mark for _, mark in rank(odd, PLACE, "delay_common", two).values()] == ["tie", "tie"]


def test_the_answer_names_the_best_and_what_speaks_against_it(result):
    found = answer(result, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == ("ft-cbr", [], False)
    assert found.sentences == [
        "ft-cbr serves this scenario best: in 2 of 2 seeds no other protocol delivers more, and its median "
        "delivery rate is 95.0 %.",
        "Its mean delivery rate is 95.0 [94.0, 96.0] %, with 5.000 [4.990, 5.010] messages per delivery.",
        "flooding is second: paired by seed, its delivery rate is 25.0 [23.0, 27.0] points lower.",
        "cbr is faster (0.100 [0.090, 0.110] s on common deliveries) and cheaper "
        "(3.000 [2.990, 3.010] messages per delivery), but its delivery rate is 60.0 [59.0, 61.0] %.",
    ]


def test_the_headline_counts_the_seeds_in_which_no_other_delivers_more_and_names_the_median(result):
    rates = {"flooding": {1: 0.5, 2: 0.9, 3: 0.7}, "cbr": {1: 0.1}, "ft-cbr": {1: 0.5, 2: 0.8, 3: 0.99}}
    result.by_seed = lambda sweep, point, protocol, metric: rates[protocol]
    first = answer(result, PLACE, THREE).sentences[0]
    assert "in 2 of 3 seeds no other protocol delivers more, and its median delivery rate is 80.0 %" in first


def test_a_bad_seed_of_the_best_is_not_kept_quiet(result):
    known = {"delivery_rate": {1: 0.99, 2: 0.98, 6: 0.53}}
    result.by_seed = lambda *key: known.get(key[-1], {})
    assert "In seed 6 its delivery rate is 53.0 %." in answer(result, PLACE, THREE).sentences
    known |= {"expected": {6: 1000.0}, "reachable": {6: 540.0}}
    cause = "for 46 % of the expected deliveries no path existed until the end"
    text = f"In seed 6 its delivery rate is 53.0 %: {cause}."
    assert text in answer(result, PLACE, THREE).sentences
    known["reachable"][6] = 900.0  # explains a fifth of what was lost: not the cause
    assert "In seed 6 its delivery rate is 53.0 %." in answer(result, PLACE, THREE).sentences


def test_of_two_that_surely_deliver_the_same_the_one_that_is_surely_cheaper_serves_best():
    same = comparison(
        {"delivery_rate": [0.955, 0.6, 0.95], "messages_per_delivery": [9.0, 3.0, 5.0]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (0.005, 0.01),
            ("delivery_rate", "flooding", "cbr"): (0.355, 0.02),
            ("messages_per_delivery", "flooding", "ft-cbr"): (4.0, 1.0),
        },
    )
    found = answer(same, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == ("ft-cbr", ["flooding", "ft-cbr"], False)
    assert (
        "The delivery rate of flooding is equivalent within 2 points, with more messages per delivery."
        in (found.sentences)
    )
    same.differences[*PLACE, "messages_per_delivery", "flooding", "ft-cbr"]["deviation"] *= 4.5
    found = answer(same, PLACE, THREE)
    assert found.best is None
    assert found.sentences[0].startswith("flooding and ft-cbr serve this scenario equally well")


def test_seeds_that_spread_too_widely_name_nobody_best():
    spread = comparison(
        {"delivery_rate": [0.7, 0.6, 0.95], "messages_per_delivery": [2.0, 3.0, 5.0]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (-0.25, 0.9),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.2),
        },
    )
    found = answer(spread, PLACE, THREE)
    assert (found.best, found.ties, found.undecided) == (None, ["flooding", "ft-cbr"], True)
    outcome, more = found.sentences
    assert outcome.startswith("10 seeds do not decide whether flooding or ft-cbr serves this scenario best")
    assert re.fullmatch(
        r"If the observed difference \(25.0 points\) is true, about \d+ more seeds would make it .*",
        more,
    )
    assert {mark for _, mark in rank(spread, PLACE, "delivery_rate", THREE).values()} == {"tie", ""}


def test_one_of_many_differences_that_passes_its_own_interval_by_chance_is_no_best():
    """Beyond its own interval, not beyond that of three comparisons together."""
    close = {
        ("delivery_rate", "flooding", "ft-cbr"): (-0.021, 0.02),
        ("delivery_rate", "cbr", "ft-cbr"): (-0.021, 0.02),
        ("delivery_rate", "flooding", "cbr"): (0.0, 0.02),
    }
    means = {"delivery_rate": [0.93, 0.93, 0.951]}
    assert answer(comparison(means, close), PLACE, THREE).best is None
    assert answer(comparison(means, close), PLACE, ["flooding", "ft-cbr"]).best == "ft-cbr"
    far = close | {
        ("delivery_rate", "cbr", "ft-cbr"): (-0.3, 0.02),
        ("delivery_rate", "flooding", "cbr"): (0.28, 0.02),
    }
    assert (
        answer(comparison(means | {"delivery_rate": [0.93, 0.65, 0.951]}, far), PLACE, THREE).best == "ft-cbr"
    )


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_few_seeds_name_nobody_best(result, seeds):
    for row in result.values.values():
        row["count"] = seeds
    found = answer(result, PLACE, THREE)
    assert found.best is None and found.undecided
    assert "too few to name the best protocol" in found.sentences[0]
    assert not any(mark for _, mark in rank(result, PLACE, "delay_common", THREE).values())


def test_nothing_delivered_is_nobodys_best():
    silent = comparison(
        {"delivery_rate": [0.0, 0.0, 0.0], "messages": [900.0, 20.0, 500.0]},
        {("messages", "flooding", "cbr"): (880.0, 1.0), ("messages", "cbr", "ft-cbr"): (-480.0, 1.0)},
    )
    found = answer(silent, PLACE, THREE)
    assert found.best is None and found.sentences[0].startswith("No protocol serves this scenario")
    assert not any(mark for _, mark in rank(silent, PLACE, "messages", THREE).values())
    one = comparison(
        {"delivery_rate": [0.5, 0.0, 0.6], "messages": [900.0, 20.0, 500.0]},
        {("messages", "flooding", "ft-cbr"): (400.0, 1.0)},
    )
    assert rank(one, PLACE, "messages", THREE)["cbr"][1] == ""
    assert rank(one, PLACE, "messages", THREE)["ft-cbr"][1] == "best"


def test_one_protocol_alone_is_nobodys_best(result):
    found = answer(result, PLACE, ["cbr"])
    assert found.best is None and found.sentences[0].startswith(
        "cbr is compared with no other protocol: its mean delivery rate is"
    )
    assert {mark for _, mark in rank(result, PLACE, "delivery_rate", ["cbr"]).values()} == {""}


def test_where_nothing_is_measured_or_wanted_that_is_said():
    assert "no run is measured" in answer(comparison({}, {}), PLACE, THREE).sentences[0]
    unwanted = comparison({"messages": [1.0, 1.0, 1.0]}, {})
    assert "nobody wanted anything" in answer(unwanted, PLACE, THREE).sentences[0]


def test_the_page_gives_the_answer_the_picture_and_the_numbers(result):
    assert "<strong>ft-cbr serves this scenario best</strong>: in 2 of 2 seeds" in make_answer(result)
    page = make_comparisons(result)
    assert page.index("<svg") < page.index("<table")
    assert page.count("<strong class='best'>") == 2 * 2  # in the short table and among all metrics
    assert page.count("<strong class='tie'>") == 2 * 2


def test_strips_name_their_protocols(result):
    drawn = draw_strip_panel(result, PLACE, "delay_common", THREE)
    words = {text.get_text() for text in drawn.findobj(Text)}
    assert {*THREE, "Delay of common deliveries (s)"} <= words


def test_the_comparison_holds_at_eighty_columns(result, capsys):
    many = [f"protocol-{i}" for i in range(9)]
    means = {"delivery_rate": [0.5 + i / 100 for i in range(9)], "messages": [123456.0] * 9}
    for expected in (result, comparison(means, {}, who=many)):
        console = Console(width=80, file=io.StringIO())
        show_comparison(expected, console)
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= 80
        assert all(
            any(name in line for line in lines) for name in expected.campaign.sweeps["scenario"].protocols
        )
    assert "…" not in console.file.getvalue()


@pytest.mark.parametrize(
    ("goal", "metric", "says"),
    [
        (
            "airtime",
            "airtime_per_delivery",
            "cbr needs the least airtime: in 10 of 10 seeds no other protocol needs less",
        ),
        ("delay", "delay_common", "cbr is the fastest: in 10 of 10 seeds no other protocol is faster"),
    ],
)
def test_the_goal_decides_and_less_delivery_is_told(goal, metric, says):
    two = ["cbr", "ft-cbr"]
    amounts = {("cbr", metric): QUICK, ("ft-cbr", metric): [3 * value for value in QUICK]}
    asked = comparison(
        {"delivery_rate": [0.6, 0.95], metric: [0.09, 0.27]},
        {("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.02), (metric, "cbr", "ft-cbr"): (-0.18, 0.01)},
        who=two,
        amounts=amounts,
        goal=goal,
    )
    found = answer(asked, PLACE, two)
    assert found.best == "cbr" and found.sentences[0].startswith(says)
    least = "It does not deliver the most. Delivery rates: ft-cbr 95.0 [94.0, 96.0] % and cbr"
    assert found.sentences[-1].startswith(least)


def test_nobody_is_best_at_the_delay_of_what_each_delivered_itself(result):
    found = comparison(
        {"delivery_rate": [0.7, 0.6, 0.95], "delay_mean": [0.3, 0.1, 0.4]},
        {("delay_mean", "flooding", "cbr"): (0.2, 0.01), ("delay_mean", "ft-cbr", "cbr"): (0.3, 0.01)},
    )
    assert {mark for _, mark in rank(found, PLACE, "delay_mean", THREE).values()} == {""}


def test_a_tie_that_no_number_of_seeds_decides_says_so():
    equal = comparison(
        {"delivery_rate": [0.7, 0.6, 0.7]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (0.0, 5.0),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.1, 0.01),
            ("delivery_rate", "flooding", "cbr"): (0.1, 0.01),
        },
    )
    assert "more than 10,000 seeds are needed" in answer(equal, PLACE, THREE).sentences[1]


def test_a_tie_of_near_equals_tells_the_seeds_that_show_them_equal():
    near = comparison(
        {"delivery_rate": [0.951, 0.6, 0.95]},
        {
            ("delivery_rate", "flooding", "ft-cbr"): (0.001, 0.03),
            ("delivery_rate", "cbr", "ft-cbr"): (-0.35, 0.01),
            ("delivery_rate", "flooding", "cbr"): (0.351, 0.01),
        },
    )
    more = answer(near, PLACE, THREE).sentences[1]
    assert re.fullmatch(
        r"If the observed delivery rates are true, about \d+ more seeds .* equivalent within 2 points\.", more
    )
