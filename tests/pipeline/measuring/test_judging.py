"""Summaries, differences and verdicts equal plain Python on generated metrics."""

import json
import statistics
from random import Random
from types import SimpleNamespace

import interval_twins as twins
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_conduct import COUNT, SHOPPING

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import make_checks, make_tables, settings_of
from roamcast.campaign.lineage import MADE_FROM, MEASURED, SOURCES
from roamcast.campaign.plan import make_plan
from roamcast.campaign.tables import METRICS_TABLE, POINTS, TABLES
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.measuring.derive import derive_again
from roamcast.pipeline.measuring.judge import judge
from roamcast.pipeline.measuring.summarise import compare, summarise
from roamcast.report.drawings.figures import svg_text
from roamcast.report.drawings.strips import draw_strip_panel

HEAD = {"says": "x", "sweep": "people", "metric": "messages"}
END = {"where": {COUNT: 50}, "less": {COUNT: 10}}
CLAIMS = {
    "band": HEAD | {"kind": "band", "protocol": "a", "low": 90, "high": 99},
    "band of means": HEAD | {"kind": "band", "protocol": "a", "low": 0, "points": "mean"},
    "sure band": HEAD | {"metric": "delivery_rate", "kind": "band", "protocol": "a", "low": 0.5},
    "ordered shares": HEAD | {"metric": "delivery_rate", "kind": "ordering", "protocols": ["a", "b", "c"]},
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


TRIALS = {("expected",): 500.0, ("publications",): 80.0, ("requests",): 60.0, ("reachable",): 400.0}


def generate(plan):
    """Metrics of every run but a few, with holes; `energy` is known of none."""
    random = Random(10)
    rows = []
    for run in plan.runs:
        if random.random() < 0.9:
            values = {
                name: random.uniform(0.8, 1) if metric.scale == "share" else random.uniform(0, 100)
                for name, metric in METRICS.items()
                if random.random() < 0.95
            }
            values = dict.fromkeys(METRICS) | values | {name: trials for (name,), trials in TRIALS.items()}
            rows.append({"run": run.id} | values | {"energy": None})
    return rows


def ends(values, scale, trials):
    """The interval of a mean on its scale."""
    if len(values) < 2:
        return None, None
    if scale == "share":
        return twins.share(values, trials)
    if scale == "amount":
        return twins.amount(values)
    return twins.difference(values, trials if scale == "difference" else None)


def close(found, expected):
    return found == expected if expected is None else found == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.fixture(scope="module")
def made(spark):
    plan = make_plan(CAMPAIGN)
    rows = generate(plan)
    metrics = spark.createDataFrame(pa.Table.from_pylist(rows, METRICS_TABLE)).repartition(7).cache()
    value = {(row["run"], name): row[name] for row in rows for name in METRICS}
    return plan, metrics, value, spark.createDataFrame(pa.concat_tables(plan.tables()["points"]))


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_summaries_and_differences_equal_plain_arithmetic(made):
    plan, metrics, value, points = made
    runs = {(p.point, p.protocol, p.seed): p.run for p in plan.places}
    seen = {
        (row["point"], row["protocol"], row["metric"]): row for row in summarise(metrics, points).to_pylist()
    }
    for point, protocol in {(p.point, p.protocol) for p in plan.places}:
        for metric in sorted(METRICS):
            if METRICS[metric].trials == ("requests", "satisfied_rate"):
                continue  # trials with holes
            known = [
                v for s in range(1, 6) if (v := value.get((runs[point, protocol, s], metric))) is not None
            ]
            row = seen.get((point, protocol, metric))
            assert (row is None) == (not known)
            if row:
                trials = TRIALS.get(METRICS[metric].trials)
                assert row["count"] == len(known) and close(row["mean"], statistics.fmean(known))
                assert close(row["trials"], trials)
                lower, upper = ends(known, METRICS[metric].scale, trials)
                assert close(row["lower"], lower) and close(row["upper"], upper), metric
    for row in compare(metrics, points).to_pylist():
        pairs = [
            tuple(
                value.get((runs[row["point"], row[side], s], row["metric"])) for side in ("protocol", "other")
            )
            for s in range(1, 6)
        ]
        known = [a - b for a, b in pairs if a is not None and b is not None]
        assert row["count"] == len(known) and close(row["mean"], statistics.fmean(known))
        if len(known) > 1:
            lower, upper = twins.difference(known, row["trials"])
            assert close(row["half"], (upper - lower) / 2)
        else:
            assert row["half"] is None


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_verdicts_equal_plain_arithmetic(spark, made):
    plan, metrics, value, _ = made
    made_of = make_tables(CAMPAIGN, plan.places)
    tables = {name: spark.createDataFrame(table) for name, table in made_of.items()}
    found = {
        (row["claim"], row["part"]): row
        for row in judge(metrics, tables["checks"], tables["terms"]).to_pylist()
    }
    runs = {(p.point, p.protocol, p.seed): p.run for p in plan.places}
    checked = 0
    for name, claim in CAMPAIGN.claims.items():
        for part, check in enumerate(make_checks(CAMPAIGN, claim)):
            by_seed = []
            for seed in range(1, 6):
                known = {k: value.get((runs[k[0], k[1], seed], k[2])) for k in check.above | check.below}
                if None not in known.values():
                    by_seed.append(
                        tuple(
                            sum(weight * known[key] for key, weight in side.items())
                            for side in (check.above, check.below)
                        )
                    )
            row = found[name, part]
            ours = lower = upper = None
            if by_seed and check.divisor == "none":
                ours = statistics.fmean(above for above, _ in by_seed)
                trials = 500.0 * (1 if len(check.above) < 3 else len(check.above))
                lower, upper = ends([above for above, _ in by_seed], check.scale, trials)
            elif by_seed:
                ours = sum(above for above, _ in by_seed) / sum(below for _, below in by_seed)
                lower, upper = (twins.quotient(by_seed) if len(by_seed) > 1 else None) or (None, None)
            assert row["count"] == len(by_seed) and close(row["ours"], ours), name
            assert close(row["lower"], lower) and close(row["upper"], upper), name
            assert row["verdict"] == _verdict(ours, lower, upper, check), name
            assert row["inside"] == (None if ours is None else _within(ours, check)), name
            checked += 1
    assert checked == len(found) == 3 + 1 + 3 + 6 + 6 + 1 + 1 + 3 + 1 + 1 + 3
    assert {row["verdict"] for row in found.values()} == {"held", "not held", "undecided", "not judged"}


def _verdict(ours, lower, upper, check):
    if ours is None:
        return "not judged"
    if lower is not None and _within(lower, check) and _within(upper, check):
        return "held"
    low, high = _bounds(check)
    return "not held" if lower is not None and (lower > high or upper < low) else "undecided"


def _bounds(check):
    return (
        check.low if check.low is not None else float("-inf"),
        check.high if check.high is not None else float("inf"),
    )


def _within(number, check):
    low, high = _bounds(check)
    return low < number < high if check.strict else low <= number <= high


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


def summary_of(spark, protocols):
    """The summary of protocols at one point, of whose runs some metrics are known, by protocol and metric."""
    named = [(name, seed, row) for name, runs in protocols.items() for seed, row in enumerate(runs)]
    rows = [{"run": f"{name}{seed}"} | dict.fromkeys(METRICS) | row for name, seed, row in named]
    points = [
        {"sweep": "s", "point": "{}", "protocol": name, "seed": seed, "run": f"{name}{seed}"}
        for name, seed, _ in named
    ]
    frames = (
        spark.createDataFrame(pa.Table.from_pylist(table, schema))
        for table, schema in ((rows, METRICS_TABLE), (points, POINTS))
    )
    return {(row["protocol"], row["metric"]): row for row in summarise(*frames).to_pylist()}


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_intervals_hold_their_means_and_stay_where_values_can_lie(spark):
    """Nine good runs and a bad one, whose plain intervals leave what is possible; and seeds that agree."""
    uneven = zip([0.99] * 9 + [0.54], [0.1] * 9 + [9.0], strict=True)
    agreed = {f"all {rate:.2f}": rate for rate in (0.0, 0.07, 1 / 3, 0.7, 0.93, 1.0)}
    found = summary_of(
        spark,
        {"uneven": [{"expected": 100, "delivery_rate": rate, "delay_mean": delay} for rate, delay in uneven]}
        | {name: [{"expected": 300, "delivery_rate": rate}] * 6 for name, rate in agreed.items()},
    )
    rate, delay = found["uneven", "delivery_rate"], found["uneven", "delay_mean"]
    assert 1 > rate["upper"] > rate["mean"] > rate["lower"] > 0
    assert 0 < delay["lower"] < delay["mean"] < delay["upper"]
    for name, rate in agreed.items():
        row = found[name, "delivery_rate"]
        assert row["mean"] == rate and row["deviation"] == 0
        assert row["lower"] <= rate <= row["upper"] and row["upper"] - row["lower"] > 0.01
    place = ("s", "{}")
    result = SimpleNamespace(
        values={(*place, name, "delivery_rate"): found[name, "delivery_rate"] for name in agreed},
        differences={},
        by_seed=lambda *key: dict.fromkeys(range(6), agreed[key[2]]),
    )
    assert "<svg" in svg_text(draw_strip_panel(result, place, "delivery_rate", list(agreed)))


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


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_quotient_is_that_of_the_sums_and_needs_a_base_above_0(spark):
    """At three points: one seed with hardly anything to divide by, none, and all with nothing."""
    campaign = CAMPAIGN.model_copy(update={"claims": {"ratio": CAMPAIGN.claims["ratio"]}})
    plan = make_plan(campaign)
    above = [10, 11, 9, 10, 9]
    below = {10: [10, 11, 9, 10, 0.01], 30: [10, 11, 9, 10, 9.1], 50: [0] * 5}
    rows = [
        {"run": place.run}
        | dict.fromkeys(METRICS)
        | {
            "messages": (above if place.protocol == "a" else below[settings_of(place.point)[COUNT]])[
                place.seed - 1
            ]
        }
        for place in plan.places
    ]
    metrics = spark.createDataFrame(pa.Table.from_pylist(rows, METRICS_TABLE))
    tables = {
        name: spark.createDataFrame(table) for name, table in make_tables(campaign, plan.places).items()
    }
    found = judge(metrics, tables["checks"], tables["terms"]).to_pylist()
    little, even, nothing = sorted(found, key=lambda row: row["part"])
    assert little["ours"] == pytest.approx(49 / 40.01) and little["verdict"] == "undecided"
    assert even["verdict"] == "held"
    assert [nothing[key] for key in ("ours", "inside", "verdict", "count")] == [None, None, "not judged", 5]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_line_through_equal_values_does_not_rise(spark):
    definition = CAMPAIGN.model_dump(exclude_unset=True)
    definition["sweeps"]["people"]["grid"][COUNT] = [7, 13, 29, 44]
    campaign = Campaign.model_validate(definition | {"claims": {"rising": CLAIMS["rising"]}})
    plan = make_plan(campaign)
    rows = [
        {"run": place.run} | dict.fromkeys(METRICS) | {"messages": 3.6 + 0.1 * place.seed}
        for place in plan.places
    ]
    metrics = spark.createDataFrame(pa.Table.from_pylist(rows, METRICS_TABLE))
    tables = {
        name: spark.createDataFrame(table) for name, table in make_tables(campaign, plan.places).items()
    }
    [found] = judge(metrics, tables["checks"], tables["terms"]).to_pylist()
    assert (found["ours"], found["lower"], found["upper"]) == (0.0, 0.0, 0.0)
    assert found["verdict"] == "not held"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_what_other_code_judged_is_judged_again_from_the_metrics(spark, made, tmp_path):
    plan, metrics, _, _ = made
    store = CampaignFolder(tmp_path)
    store.create()
    store.write_campaign(CAMPAIGN)
    store.write_plan(plan)
    runs = [{"run": run.id, "status": "done", "error": ""} for run in plan.runs]
    store.write_table("runs", pa.Table.from_pylist(runs, TABLES["runs"]))
    store.write_table("metrics", metrics.toArrow(), {})
    assert store.stale() == SOURCES.keys() - MEASURED
    derive_again(spark, store)
    assert not store.stale()
    written = store.table_file("verdicts").read()
    table = pq.read_table(tmp_path / "tables" / "verdicts.parquet")
    values = {**table.schema.metadata, MADE_FROM: written_by_other_code(table.schema.metadata[MADE_FROM])}
    pq.write_table(
        table.slice(0, 3).replace_schema_metadata(values), tmp_path / "tables" / "verdicts.parquet"
    )
    assert store.stale() == {"verdicts"}
    derive_again(spark, store)
    assert not store.stale() and store.table_file("verdicts").read() == written


def written_by_other_code(made_from):
    return json.dumps(json.loads(made_from) | {"statistics": "another digest"}).encode()
