"""Summaries, differences and verdicts equal plain Python on generated metrics."""

import json
import math
import statistics
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student_t
from test_conduct import COUNT, SHOPPING

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import make_checks, make_tables
from roamcast.campaign.plan import make_plan
from roamcast.campaign.tables import METRICS_TABLE, POINTS
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.measuring.judge import judge
from roamcast.pipeline.measuring.summarise import compare, summarise

HEAD = {"says": "x", "sweep": "people", "metric": "messages"}
END = {"where": {COUNT: 50}, "less": {COUNT: 10}}
CLAIMS = {
    "band": HEAD | {"kind": "band", "protocol": "a", "low": 40, "high": 60},
    "band of means": HEAD | {"kind": "band", "protocol": "a", "low": 0, "points": "mean"},
    "ordering": HEAD | {"kind": "ordering", "protocols": ["a", "b", "c"]},
    "rising": HEAD | {"kind": "trend", "protocol": "b", "along": COUNT, "direction": "rising"},
    "level": HEAD
    | {"kind": "trend", "protocol": "b", "along": COUNT, "direction": "level", "tolerance": 0.3},
    "ratio": HEAD | {"kind": "ratio", "of": {"protocol": "a"}, "to": {"protocol": "b"}, "high": 1.5},
    "rise": HEAD
    | {
        "kind": "difference",
        "of": {"protocol": "a"} | END,
        "to": {"protocol": "b", "metric": "drops"} | END,
        "low": 0,
    },
    "crossing": HEAD | {"kind": "crossing", "protocol": "a", "passes": "b", "along": COUNT, "low": 20},
    "empty": HEAD | {"metric": "energy", "kind": "band", "protocol": "a", "low": 0},
}
CAMPAIGN = Campaign.model_validate(
    {
        "title": "generated",
        "scenario": SHOPPING,
        "seeds": 5,
        "protocols": {
            "a": {"router": "flooding"},
            "b": {"router": "flooding", "parameters": {"jitter": "20 ms"}},
            "c": {"router": "flooding", "parameters": {"jitter": "30 ms"}},
        },
        "sweeps": {"people": {"protocols": ["a", "b", "c"], "grid": {COUNT: [10, 30, 50]}}},
        "claims": CLAIMS,
    }
)


def generate(plan):
    """Metrics of every run but a few, with holes; `energy` is known of none."""
    random = Random(7)
    rows = []
    for run in plan.runs:
        if random.random() < 0.9:
            values = {
                name: random.uniform(0.8, 1) if metric.scale == "share" else random.uniform(0, 100)
                for name, metric in METRICS.items()
                if random.random() < 0.95
            }
            values = dict.fromkeys(METRICS) | values
            rows.append({"run": run.id} | values | {"energy": None})
    return rows


def interval(values):
    """Count, mean and half of the 95 % interval."""
    if not values:
        return 0, None, None
    half = None
    if len(values) > 1:
        half = student_t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return len(values), statistics.fmean(values), half


def ends(mean, half, scale):
    """The interval of a mean where the values of its scale can lie."""
    if half is None:
        return None, None
    if scale == "share" and 0 < mean < 1:
        low, high = (expit(logit(mean) + sign * half / (mean * (1 - mean))) for sign in (-1, 1))
        return low, high
    if scale == "amount" and mean > 0:
        return mean * math.exp(-half / mean), mean * math.exp(half / mean)
    return mean - half, mean + half


def close(found, expected):
    return found == expected if expected is None else found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.fixture(scope="module")
def made(spark):
    plan = make_plan(CAMPAIGN)
    rows = generate(plan)
    metrics = spark.createDataFrame(pa.Table.from_pylist(rows, METRICS_TABLE)).repartition(7).cache()
    value = {(row["run"], name): row[name] for row in rows for name in METRICS}
    return plan, metrics, value, spark.createDataFrame(plan.tables()["points"])


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_summaries_and_differences_equal_plain_arithmetic(made):
    plan, metrics, value, points = made
    runs = {(p.point, p.protocol, p.seed): p.run for p in plan.places}
    found = summarise(metrics, points, 5).collect()
    seen = {(row.point, row.protocol, row.metric): row for row in found}
    for point, protocol in {(p.point, p.protocol) for p in plan.places}:
        for metric in METRICS:
            known = [value.get((runs[point, protocol, seed], metric)) for seed in range(1, 6)]
            count, mean, half = interval([v for v in known if v is not None])
            row = seen.get((point, protocol, metric))
            assert (row is None) == (count == 0)
            if row:
                assert row["count"] == count and close(row.mean, mean) and close(row.half, half)
                lower, upper = ends(mean, half, METRICS[metric].scale)
                assert close(row.lower, lower) and close(row.upper, upper), metric
    for row in compare(metrics, points, 5).collect():
        pairs = [
            (
                value.get((runs[row.point, row.protocol, s], row.metric)),
                value.get((runs[row.point, row.other, s], row.metric)),
            )
            for s in range(1, 6)
        ]
        count, mean, half = interval([a - b for a, b in pairs if a is not None and b is not None])
        assert row["count"] == count and close(row.mean, mean) and close(row.half, half)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_verdicts_equal_plain_arithmetic(spark, made):
    plan, metrics, value, _ = made
    tables = {name: spark.createDataFrame(table) for name, table in make_tables(CAMPAIGN, plan).items()}
    found = {
        (row.claim, row.part): row for row in judge(metrics, tables["checks"], tables["terms"], 5).collect()
    }
    runs = {(p.point, p.protocol, p.seed): p.run for p in plan.places}
    checked = 0
    for name, claim in CAMPAIGN.claims.items():
        for part, check in enumerate(make_checks(CAMPAIGN, claim)):
            by_seed = []
            for seed in range(1, 6):
                known = {k: value.get((runs[k[0], k[1], seed], k[2])) for k in check.above | check.below}
                if None not in known.values():
                    above = sum(weight * known[key] for key, weight in check.above.items())
                    below = sum(weight * known[key] for key, weight in check.below.items())
                    by_seed.append(above / below if check.below else above)
            count, ours, half = interval(by_seed)
            row = found[name, part]
            assert row["count"] == count and close(row.ours, ours) and close(row.half, half), name
            lower, upper = ends(ours, half, check.scale)
            assert close(row.lower, lower) and close(row.upper, upper), name
            if ours is not None:
                low = check.low if check.low is not None else float("-inf")
                high = check.high if check.high is not None else float("inf")
                assert row.held == _within(ours, low, high, check.strict)
                told = None
                if half is not None:
                    inside = all(_within(end, low, high, check.strict) for end in (lower, upper))
                    told = inside if row.held else lower > high or upper < low
                assert row.sure == told, name
            else:
                assert row.held is None and row.sure is None
            checked += 1
    assert checked == len(found) == 3 + 1 + 6 + 1 + 1 + 3 + 1 + 1 + 3


def _within(number, low, high, strict):
    return low < number < high if strict else low <= number <= high


def test_an_ordering_is_judged_on_differences_and_a_trend_on_the_climb_of_its_line():
    ordering = make_checks(CAMPAIGN, CAMPAIGN.claims["ordering"])
    assert [check.tells for check in ordering[:2]] == [
        f"b less a at {COUNT} = 10",
        f"c less b at {COUNT} = 10",
    ]
    (trend,) = make_checks(CAMPAIGN, CAMPAIGN.claims["rising"])
    line = {
        (json.dumps({COUNT: x}, separators=(",", ":")), "b", "messages"): 100 + 2 * x for x in (10, 30, 50)
    }
    climb = sum(weight * line[key] for key, weight in trend.above.items())
    mean = sum(weight * line[key] for key, weight in trend.below.items())
    assert (climb, mean) == (pytest.approx(80), pytest.approx(160))


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_no_share_leaves_0_to_1_and_no_amount_falls_below_0(spark):
    """Nine good runs and a bad one: the plain interval reaches beyond 1, and delays below 0."""
    rates, delays = [0.99] * 9 + [0.54], [0.1] * 9 + [9.0]
    rows = [
        {"run": str(i)} | dict.fromkeys(METRICS) | {"delivery_rate": rate, "delay_mean": delay}
        for i, (rate, delay) in enumerate(zip(rates, delays, strict=True))
    ]
    points = [
        {"sweep": "s", "point": "{}", "protocol": "a", "seed": i, "run": str(i)} for i in range(len(rows))
    ]
    frames = (
        spark.createDataFrame(pa.Table.from_pylist(table, schema))
        for table, schema in ((rows, METRICS_TABLE), (points, POINTS))
    )
    found = {row.metric: row for row in summarise(*frames, 10).collect()}
    rate, delay = found["delivery_rate"], found["delay_mean"]
    assert rate.mean + rate.half > 1 > rate.upper > rate.mean > rate.lower > 0
    assert delay.mean - delay.half < 0 < delay.lower < delay.mean < delay.upper


@pytest.mark.parametrize("seed", range(20))
def test_a_crossing_is_the_zero_of_the_line_through_the_differences(seed):
    random = Random(seed)
    (crossing,) = make_checks(CAMPAIGN, CAMPAIGN.claims["crossing"])
    places = (10, 30, 50)
    values = {
        (json.dumps({COUNT: x}, separators=(",", ":")), label, "messages"): random.uniform(0, 100)
        for x in places
        for label in ("a", "b")
    }
    apart = [a - b for a, b in zip(list(values.values())[::2], list(values.values())[1::2], strict=True)]
    slope, height = np.polyfit(places, apart, 1)
    above, below = (
        sum(weight * values[key] for key, weight in side.items()) for side in (crossing.above, crossing.below)
    )
    assert above / below == pytest.approx(-height / slope)
    assert (crossing.low, crossing.high) == (20, None)
    assert crossing.tells == f"where a passes b along {COUNT}, by the line from 10 to 50"
