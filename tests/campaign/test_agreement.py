"""What a campaign says agrees with itself: sweeps, figures, claims and readings; how sweeps are thinned."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from roamcast.campaign import campaign as campaigns
from roamcast.campaign import sweep as sweeps
from roamcast.campaign.campaign import Campaign
from roamcast.campaign.reading_combinations import combination_name, expand_readings
from roamcast.campaign.section import agrees, flatten
from roamcast.campaign.sweep import Sweep, thin

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
TWO = {"default": "x", "open": "?", "alternatives": {"x": {}, "y": {}}}
BASE = {
    "title": "t",
    "scenario": SHOPPING,
    "seeds": 2,
    "protocols": {"a": {}, "b": {}, "c": {}},
    "sweeps": {"s": {"protocols": ["a", "b"], "grid": {"people": [10, 20], "speed": [1, 2, 3]}}},
}
FIGURE = {"title": "f", "sweep": "s", "x": "people", "y": ["messages"]}
CLAIM = {"says": "x", "sweep": "s", "metric": "messages", "kind": "band", "protocol": "a", "low": 1}
CROSSING = CLAIM | {"kind": "crossing", "passes": "b", "along": "people"}
RATIO = {key: CLAIM[key] for key in ("says", "sweep", "metric", "low")} | {"kind": "ratio"}


def made(**changes):
    return Campaign.model_validate(BASE | changes)


def test_a_campaign_that_agrees_is_taken():
    found = made(
        figures={"f": FIGURE | {"series": "speed", "panel": "speed"}},
        claims={"c": CLAIM, "d": CROSSING},
        readings={"r": TWO},
        sweeps={"s": BASE["sweeps"]["s"] | {"reading": {"r": "y"}}},
    )
    assert found.seed_list == [1, 2]
    assert made(seeds=[7, 3]).seed_list == [7, 3]
    assert made(figures={"f": FIGURE | {"y": ["messages", ["drops", "energy"]]}}).figures["f"].y == [
        ["messages"],
        ["drops", "energy"],
    ]


WRONG = {
    "seeds must differ from each other": {"seeds": [1, 2, 1]},
    "'d' is not a known protocol": {"sweeps": {"s": {"protocols": ["d"]}}},
    "'r' is not a known reading": {"sweeps": {"s": {"protocols": ["a"], "reading": {"r": "x"}}}},
    "'z' is not a known alternative of 'r'": {
        "sweeps": {"s": {"protocols": ["a"], "reading": {"r": "z"}}},
        "readings": {"r": TWO},
    },
    "'t' is not a known sweep": {"figures": {"f": FIGURE | {"sweep": "t"}}},
    "'colour' is not a known axis of the sweep": {"figures": {"f": FIGURE | {"x": "colour"}}},
    "'shape' is not a known axis of the sweep": {"figures": {"f": FIGURE | {"series": "shape"}}},
    "'smell' is not a known axis of the sweep": {"figures": {"f": FIGURE | {"panel": "smell"}}},
    "'u' is not a known sweep": {"claims": {"c": CLAIM | {"sweep": "u"}}},
    "'c' is not a known protocol of the sweep": {"claims": {"c": CLAIM | {"protocol": "c"}}},
    "'d' is not a known protocol of the sweep": {"claims": {"c": CROSSING | {"passes": "d"}}},
    "'taste' is not a known axis of the sweep": {"claims": {"c": CROSSING | {"along": "taste"}}},
    "'weight' is not a known axis of the sweep": {"claims": {"c": CLAIM | {"where": {"weight": 1}}}},
    "no point of sweep 's' has {'people': 11}": {"claims": {"c": CLAIM | {"where": {"people": 11}}}},
    "no point of sweep 's' has {'people': 12}": {
        "claims": {"c": RATIO | {"of": {"protocol": "a", "where": {"people": 12}}, "to": {"protocol": "b"}}}
    },
    "no point of sweep 's' has {'people': 13}": {
        "claims": {"c": RATIO | {"of": {"protocol": "a"}, "to": {"protocol": "b", "less": {"people": 13}}}}
    },
    "low (3.0) is above high (2.0)": {"claims": {"c": CLAIM | {"low": 3, "high": 2}}},
    "a band needs low, high or both": {"claims": {"c": CROSSING | {"low": None}}},
    "an alternative cannot require its own reading": {
        "readings": {"r": TWO | {"alternatives": {"x": {}, "y": {"only_with": {"r": "x"}}}}}
    },
    "a default requires an alternative that is not a default": {
        "readings": {"r": TWO, "q": TWO | {"alternatives": {"x": {"only_with": {"r": "y"}}, "y": {}}}}
    },
    "zipped lists must have the same length: k has 2, l has 1": {
        "sweeps": {"s": {"protocols": ["a"], "zip": {"k": [1, 2], "l": [3]}}}
    },
    "'k' is given both in grid and in points": {
        "sweeps": {"s": {"protocols": ["a"], "grid": {"k": [1]}, "points": [{"k": 2}]}}
    },
    "all explicit points must have the same keys": {
        "sweeps": {"s": {"protocols": ["a"], "points": [{"k": 1}, {"k": 2, "l": 3}]}}
    },
}


@pytest.mark.parametrize("result", WRONG)
def test_what_does_not_agree_is_refused(result):
    with pytest.raises(ValidationError) as caught:
        made(**WRONG[result])
    assert result in str(caught.value)


def test_a_claim_may_be_as_narrow_as_a_number():
    assert made(claims={"c": CLAIM | {"low": 2, "high": 2}}).claims["c"].high == 2
    both = {"of": {"protocol": "a"}, "to": {"protocol": "b"}}
    for kind in ("ratio", "difference"):
        with pytest.raises(ValidationError, match="needs low, high or both"):
            made(claims={"c": RATIO | both | {"kind": kind, "low": None}})


def test_a_campaign_has_so_many_runs_at_most(monkeypatch):
    monkeypatch.setattr(campaigns, "MOST_RUNS", 2 * 3 * 2 * 2)
    made()
    monkeypatch.setattr(campaigns, "MOST_RUNS", 2 * 3 * 2 * 2 - 1)
    with pytest.raises(ValidationError, match="24 runs; expected at most 23"):
        made()


def test_a_sweep_has_so_many_points_at_most(monkeypatch):
    asked = {"protocols": ["a"], "grid": {"k": [1, 2]}, "zip": {"l": [1, 2, 3]}, "points": [{"m": 1}] * 2}
    found = Sweep.model_validate(asked)
    assert found.size == len(found.expand()) == 12 and found.axes == ["k", "l", "m"]
    assert Sweep(protocols=["a"]).size == len(Sweep(protocols=["a"]).expand()) == 1
    monkeypatch.setattr(sweeps, "MOST_POINTS", 12)
    Sweep.model_validate(asked)
    monkeypatch.setattr(sweeps, "MOST_POINTS", 11)
    with pytest.raises(ValidationError, match="12 points; expected at most 11"):
        Sweep.model_validate(asked)


@pytest.mark.parametrize(
    ("count", "keep", "kept"),
    [
        (5, 5, [0, 1, 2, 3, 4]),
        (5, 9, [0, 1, 2, 3, 4]),
        (5, 1, [4]),
        (5, 2, [0, 4]),
        (5, 3, [0, 2, 4]),
        (8, 3, [0, 4, 7]),
        (1, 1, [0]),
    ],
)
def test_a_thinned_axis_keeps_its_ends_and_is_evenly_spread(count, keep, kept):
    assert thin(list(range(count)), keep) == kept


def test_a_sweep_is_thinned_on_every_axis():
    points = [{"m": number} for number in range(5)]
    thinner = Sweep(protocols=["a"], grid={"k": [1, 2, 3]}, zip={"l": [4, 5, 6]}, points=points).thin(2)
    assert (thinner.grid, thinner.zip, thinner.points) == (
        {"k": [1, 3]},
        {"l": [4, 6]},
        [{"m": 0}, {"m": 4}],
    )


def test_tables_within_tables_are_dotted_keys():
    assert flatten({"a": {"b": 1, "c": {"d": 2}}, "e.f": 3}) == {"a.b": 1, "a.c.d": 2, "e.f": 3}
    assert flatten("neither") == "neither"
    assert agrees({"a": 1, "b": 2}, {"b": 2}) and agrees({}, {})
    assert not agrees({"a": 1}, {"b": 2}) and not agrees({"a": 1, "b": 2}, {"a": 1, "b": 3})


def test_under_readings_a_sweep_keeps_the_labels_and_the_values_that_claims_name():
    grid = {"people": [10, 20, 30, 40], "speed": [1, 2, 3]}
    ends = {
        "of": {"protocol": "a", "where": {"people": 20}},
        "to": {"protocol": "c", "where": {"people": 40}, "less": {"people": 30}},
    }
    asked = {
        "design": {"points": 1, "set": {"duration": "9 s"}},
        "readings": {"r": TWO},
        "sweeps": {
            "s": {"protocols": ["a", "b", "c"], "grid": grid, "set": {"warmup": "1 s"}},
            "unclaimed": {"protocols": ["a"]},
        },
        "figures": {"f": FIGURE},
    }
    found = expand_readings(made(claims={"c": RATIO | ends}, **asked))
    assert list(found.sweeps) == ["s", "s @ 1"] and list(found.claims) == ["c", "c @ 1"]
    assert [sweep.reading for sweep in found.sweeps.values()] == [{}, {"r": "y"}]
    assert {tuple(sweep.protocols) for sweep in found.sweeps.values()} == {("a", "c")}
    assert found.sweeps["s"].grid == {"people": [20, 30, 40], "speed": [3]}
    assert found.sweeps["s"].set == {"warmup": "1 s", "duration": "9 s"}
    assert found.figures == {} and found.seed_list == [1, 2]
    ordering = {key: CLAIM[key] for key in ("says", "sweep", "metric")}
    for claim, labels in (
        (ordering | {"kind": "ordering", "protocols": ["c", "b"]}, ["b", "c"]),
        (CROSSING | {"protocol": "c", "passes": "a"}, ["a", "c"]),
        (CLAIM | {"protocol": "b"}, ["b"]),
    ):
        assert expand_readings(made(claims={"c": claim}, **asked)).sweeps["s"].protocols == labels
    whole = expand_readings(made(claims={"c": CLAIM}, **asked | {"design": {"seeds": 1}}))
    assert whole.sweeps["s"].grid == grid and whole.seed_list == [1]
    assert (combination_name("c", 0), combination_name("c", 2)) == ("c", "c @ 2")


def test_under_readings_every_sweep_that_a_claim_speaks_of_is_kept():
    sweeps = {name: {"protocols": ["a", "b"]} for name in ("s", "t", "unclaimed")}
    claims = {"c": CLAIM, "d": CLAIM | {"sweep": "t"}}
    found = expand_readings(made(sweeps=sweeps, claims=claims, readings={"r": TWO}))
    assert list(found.sweeps) == ["s", "t", "s @ 1", "t @ 1"]
    assert found.claims["d @ 1"].sweep == "t @ 1"
