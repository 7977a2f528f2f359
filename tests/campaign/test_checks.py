"""Claims become arithmetic: what is weighed how, what it is called, and the rows that judge it; by hand."""

import json
from pathlib import Path

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import make_checks, make_tables, number, settings_of
from roamcast.campaign.plan import PlannedCell

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
GRID = {"people": [10, 20, 60], "speed": ["1 m/s", "3 m/s"]}
HEAD = {"says": "x", "sweep": "s", "metric": "messages"}


def campaign(grid=None, sweep=None, **claim):
    asked = {
        "title": "t",
        "scenario": SHOPPING,
        "seeds": 2,
        "protocols": {name: {"router": "flooding"} for name in ("a", "b", "c")},
        "sweeps": {"s": {"protocols": ["a", "b", "c"]} | (sweep or {"grid": GRID if grid is None else grid})},
        "claims": {"it": HEAD | claim} if claim else {},
    }
    return Campaign.model_validate(asked)


def checks_of(grid=None, sweep=None, **claim):
    made = campaign(grid, sweep, **claim)
    return make_checks(made, made.claims["it"])


def at(protocol="a", metric="messages", **point):
    return json.dumps(point, separators=(",", ":")), protocol, metric


ONE = {"people": [10, 20, 60]}


def test_a_band_is_asked_of_each_point_or_of_their_mean():
    each = checks_of(ONE, kind="band", protocol="a", low=1, high=2)
    assert [check.tells for check in each] == [f"a at people = {count}" for count in (10, 20, 60)]
    assert [check.above for check in each] == [{at(people=count): 1.0} for count in (10, 20, 60)]
    assert {(check.low, check.high, check.strict, check.scale) for check in each} == {(1, 2, False, "amount")}
    assert all(check.below == {} for check in each)
    (mean,) = checks_of(ONE, kind="band", protocol="a", low=1, points="mean")
    assert mean.tells == "a on the mean of 3 points"
    assert mean.above == {at(people=count): pytest.approx(1 / 3) for count in (10, 20, 60)}
    (share,) = checks_of({}, kind="band", protocol="a", low=0.5, metric="delivery_rate")
    assert (share.scale, share.tells) == ("share", "a here")


def test_a_claim_speaks_of_the_points_that_agree():
    two = checks_of(kind="band", protocol="a", low=1, where={"people": 20})
    assert [check.tells for check in two] == [f"a at people = 20, speed = {v} m/s" for v in (1, 3)]
    thinner = campaign(kind="band", protocol="a", low=1, points="mean", where={"people": 20})
    sweeps = {"s": thinner.sweeps["s"].model_copy(update={"grid": {"people": [10]}})}
    assert make_checks(thinner.model_copy(update={"sweeps": sweeps}), thinner.claims["it"]) == []


def test_an_ordering_takes_each_off_the_next():
    found = checks_of({"people": [10, 20]}, kind="ordering", protocols=["c", "a", "b"], points="mean")
    assert [check.tells for check in found] == [
        "a less c on the mean of 2 points",
        "b less a on the mean of 2 points",
    ]
    assert {(check.low, check.high, check.strict, check.scale) for check in found} == {
        (0.0, None, True, "any")
    }
    assert found[0].above == {
        **{at("a", people=count): 0.5 for count in (10, 20)},
        **{at("c", people=count): -0.5 for count in (10, 20)},
    }


def value_of(check, values):
    above, below = (
        sum(weight * values[key] for key, weight in side.items()) for side in (check.above, check.below)
    )
    return above / below


@pytest.mark.parametrize(
    ("direction", "bounds", "strict"),
    [("rising", (0.0, None), True), ("falling", (None, 0.0), True), ("level", (-0.25, 0.25), False)],
)
def test_a_trend_is_the_climb_of_the_line_from_end_to_end_of_its_mean(direction, bounds, strict):
    asked = {"kind": "trend", "protocol": "b", "along": "people", "direction": direction, "tolerance": 0.25}
    slow, fast = checks_of(**asked)
    assert (slow.low, slow.high) == bounds and slow.strict is strict
    assert slow.tells == "climb of b along people, of its mean at speed = 1 m/s"
    assert fast.tells == "climb of b along people, of its mean at speed = 3 m/s"
    line = {at("b", people=x, speed="1 m/s"): 5.0 + 2 * x for x in (10, 20, 60)}
    assert value_of(slow, line) == pytest.approx(2 * 50 / (5 + 2 * 30))
    both = line | {at("b", people=x, speed="3 m/s"): 5.0 + 2 * x for x in (10, 20, 60)}
    (mean,) = checks_of(**asked, points="mean")
    assert mean.tells == "climb of b along people, of its mean"
    assert value_of(mean, both) == pytest.approx(2 * 50 / (5 + 2 * 30))
    (alone,) = checks_of(ONE, **asked)
    assert alone.tells == "climb of b along people, of its mean"


def test_a_line_through_one_place_is_none():
    assert checks_of({"people": [10]}, kind="trend", protocol="a", along="people", direction="rising") == []


def test_a_crossing_is_where_the_difference_is_zero():
    (check,) = checks_of(ONE, kind="crossing", protocol="a", passes="b", along="people", low=3, high=7)
    assert (check.low, check.high, check.strict) == (3, 7, False)
    assert check.tells == "where a passes b along people, by the line from 10 to 60"
    values = {at("a", people=x): 3.0 * x for x in (10, 20, 60)}
    values |= {at("b", people=x): 80.0 + x for x in (10, 20, 60)}
    assert value_of(check, values) == pytest.approx(40)  # 3 x = 80 + x


def test_a_ratio_and_a_difference_are_of_each_point():
    ends = {"of": {"protocol": "a"}, "to": {"protocol": "b", "metric": "drops"}}
    ratios = checks_of(ONE, kind="ratio", low=1, **ends)
    assert [check.tells for check in ratios] == [
        f"messages of a at people = {count} over drops of b at people = {count}" for count in (10, 20, 60)
    ]
    assert ratios[1].above == {at(people=20): 1.0}
    assert ratios[1].below == {at("b", "drops", people=20): 1.0}
    differences = checks_of(ONE, kind="difference", high=4, where={"people": 20}, **ends)
    assert [check.tells for check in differences] == [
        "messages of a at people = 20 less drops of b at people = 20"
    ]
    assert differences[0].above == {at(people=20): 1.0, at("b", "drops", people=20): -1.0}
    assert differences[0].below == {} and (differences[0].low, differences[0].high) == (None, 4)


def test_ends_with_places_of_their_own_are_compared_once():
    (check,) = checks_of(
        ONE,
        kind="difference",
        low=0,
        of={"protocol": "a", "where": {"people": 60}, "less": {"people": 10}},
        to={"protocol": "a", "where": {"people": 60}, "less": {"people": 20}},
    )
    assert check.tells == (
        "rise of messages of a at people = 60 since people = 10 less "
        "rise of messages of a at people = 60 since people = 20"
    )
    assert check.above == {at(people=60): 0.0, at(people=10): -1.0, at(people=20): 1.0}
    for change in ({"of": {"protocol": "a", "where": {"people": 60}}, "to": {"protocol": "b"}},):
        (once,) = checks_of(ONE, kind="ratio", low=0, **change)
        assert once.tells == "messages of a at people = 60 over messages of b on the mean of 3 points"
        (turned,) = checks_of(ONE, kind="ratio", low=0, of=change["to"], to=change["of"])
        assert turned.above == once.below and turned.below == once.above
    (means,) = checks_of(ONE, kind="ratio", low=0, points="mean", of={"protocol": "a"}, to={"protocol": "b"})
    assert means.above == {at(people=count): pytest.approx(1 / 3) for count in (10, 20, 60)}


def test_a_comparison_whose_points_are_gone_is_none():
    end = {"protocol": "a", "where": {"people": 60}}
    for of, to in (
        (end, {"protocol": "b"}),
        ({"protocol": "b"}, end),
        ({"protocol": "a", "less": {"people": 60}}, {"protocol": "b"}),
    ):
        whole = campaign(ONE, kind="ratio", low=0, of=of, to=to)
        sweeps = {"s": whole.sweeps["s"].model_copy(update={"grid": {"people": [10, 20]}})}
        assert make_checks(whole.model_copy(update={"sweeps": sweeps}), whole.claims["it"]) == []


def test_a_setting_is_the_number_before_its_unit():
    assert [number(value) for value in (3, 2.5, " 10 m/s", "4")] == [3.0, 2.5, 10.0, 4.0]
    assert settings_of('{"a":[1,"x"],"b":2}') == {"a": [1, "x"], "b": 2}


def test_the_tables_have_a_row_for_each_check_and_for_each_value_of_each_seed():
    made = campaign(
        {"people": [10, 20]}, kind="ratio", low=1, high=9, of={"protocol": "a"}, to={"protocol": "b"}
    )
    places = [
        PlannedCell(
            "s", json.dumps({"people": count}, separators=(",", ":")), label, seed, f"{label}{count}-{seed}"
        )
        for count in (10, 20)
        for label in ("a", "b", "c")
        for seed in (1, 2)
        if (count, label, seed) != (20, "b", 2)
    ]
    places.append(PlannedCell("other", '{"people":10}', "a", 1, "elsewhere"))
    tables = make_tables(made, places)
    first, second = tables["checks"].to_pylist()
    assert first == {
        **{
            "claim": "it",
            "part": 0,
            "tells": "messages of a at people = 10 over messages of b at people = 10",
        },
        **{"terms": 2, "divisor": "positive", "low": 1.0, "high": 9.0, "strict": False, "scale": "any"},
    }
    assert second["part"] == 1
    rows = tables["terms"].to_pylist()
    assert rows[0] == {
        **{"claim": "it", "part": 0, "seed": 1, "run": "a10-1", "metric": "messages"},
        **{"above": 1.0, "below": 0.0},
    }
    assert [(row["part"], row["run"], row["above"], row["below"]) for row in rows] == [
        (0, "a10-1", 1.0, 0.0),
        (0, "a10-2", 1.0, 0.0),
        (0, "b10-1", 0.0, 1.0),
        (0, "b10-2", 0.0, 1.0),
        (1, "a20-1", 1.0, 0.0),
        (1, "a20-2", 1.0, 0.0),
        (1, "b20-1", 0.0, 1.0),
    ]
