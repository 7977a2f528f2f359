"""Advice by the shipped model: ranking, intervals, reasons, distance and what is left out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.advisor import card
from roamcast.advisor.advice import advise, find_uncovered
from roamcast.advisor.features import FEATURES
from roamcast.advisor.judging import judge
from roamcast.advisor.model import shipped_model
from roamcast.advisor.targets import TARGETS
from roamcast.cli.app import invoke
from roamcast.routing.catalogue import find, working
from roamcast.scenario.model import Scenario

PAGE = Path(__file__).parents[2] / "docs" / "advisor.md"


@pytest.fixture(scope="module")
def shopping():
    return advise(Scenario.read("shopping"))


def test_every_protocol_is_ranked_or_left_out_with_a_reason(shopping):
    ranked = [each.protocol for each in shopping.ranking]
    assert sorted([*ranked, *shopping.left_out]) == sorted(working()[0])
    blind = advise(Scenario.read("one-reader"))
    lost = {name for name in working()[0] if find(name).needs_location}
    assert set(blind.left_out) == lost
    assert all("needs positions" in reason for reason in blind.left_out.values())


def test_predictions_lie_in_their_intervals_and_shares_between_0_and_1(shopping):
    for each in shopping.ranking:
        assert list(each.predictions) == list(TARGETS)
        for found in each.predictions.values():
            assert 0 <= found.low <= found.high
        delivery = each.predictions["delivery"]
        assert delivery.low >= 0 and delivery.high <= 1


def test_the_ranking_follows_the_predicted_shortfall(shopping):
    model = shipped_model()
    keys = [model.rank_key(shopping.features, each.protocol) for each in shopping.ranking]
    assert keys == sorted(keys)


def test_reasons_are_features_with_their_values_largest_first(shopping):
    reasons = shopping.ranking[0].reasons
    assert [abs(reason.added) for reason in reasons] == sorted((abs(r.added) for r in reasons), reverse=True)
    assert all(shopping.features[reason.feature] == reason.value for reason in reasons)


def test_a_training_world_is_near_and_a_huge_one_is_far():
    model = shipped_model()
    known = dict(zip(FEATURES, model.worlds[0], strict=True))
    near = model.distance(known)
    assert near.outside == {} and near.rank < 0.95
    far = model.distance(known | {"nodes": 5000.0, "degree": 900.0, "crowd": 3000.0, "rate": 500.0})
    assert far.rank >= 0.95
    assert {"nodes", "degree", "crowd", "rate"} <= set(far.outside)


def test_settings_that_no_training_world_has_are_named():
    world = Scenario.read("shopping", {"mac.queue": 10, "protocol.cbr.renew": "4 s", "radio.range": "100 m"})
    assert find_uncovered(world) == ["mac.queue", "protocol.cbr"]


def test_judging_compares_the_choice_with_the_best_run(shopping):
    plain = Scenario.read("shopping").model_dump(mode="json", by_alias=True)
    first, second = (each.protocol for each in shopping.ranking[:2])
    others = {"delay_mean": 1.0, "airtime": 1.0, "energy": 1.0}
    runs = [
        {
            "scenario": json.dumps(plain | {"protocol": {name: {}}}),
            "router": name,
            "delivery_rate": rate,
            **others,
        }
        for name, rate in ((first, 0.7), (second, 0.9))
    ]
    (found,) = judge(runs).values()
    assert (found["chosen"], found["best"]) == (first, second)
    assert found["regret"] == pytest.approx(0.2)


def test_the_command_prints_a_table_or_json_and_refuses_requests(capsys):
    assert invoke(["advise", "river"]) == 0
    assert "delivery, 90 % of runs" in capsys.readouterr().out
    assert invoke(["advise", "river", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["ranking"]) == len(working()[0])
    assert invoke(["advise", "city"]) == 2
    assert "city: has no subscriptions" in capsys.readouterr().err


def test_advice_needs_neither_spark_nor_java():
    program = (
        "import sys; sys.modules['pyspark'] = None; sys.modules['py4j'] = None\n"
        "from roamcast.cli.app import invoke\n"
        "sys.exit(invoke(['advise', 'river']))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_model_card_has_the_tables_of_the_shipped_model():
    page = PAGE.read_text()
    assert card.update(page) == page, "run: python -m roamcast.advisor.card docs/advisor.md"
