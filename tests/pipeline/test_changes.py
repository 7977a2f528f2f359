"""What changed between two campaigns, by hand: pairs of seeds, their interval, the order of the answer."""

from itertools import count
from math import sqrt

import pyarrow as pa
import pytest
from scipy.stats import t as student_t
from test_conduct import campaign

from roamcast.campaign.tables import METRICS_TABLE, POINTS
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.changes import MetricChange, compare_campaigns
from roamcast.results.intervals import student


@pytest.fixture
def keep(tmp_path):
    """Keep the tables of a campaign: metrics by place (point, protocol, seed), and places not measured."""
    numbers = count()

    def make(measured, unmeasured=(), prefix="run"):
        rows = [
            (place, f"{prefix}{number}", expected)
            for number, (place, expected) in enumerate(measured.items())
        ]
        rows += [(place, f"missing{number}", None) for number, place in enumerate(unmeasured)]
        points = [
            {"sweep": "s", "point": point, "protocol": protocol, "seed": seed, "run": run}
            for (point, protocol, seed), run, _ in rows
        ]
        metrics = [{"run": run} | dict.fromkeys(METRICS) | expected for _, run, expected in rows if expected]
        store = CampaignFolder(tmp_path / f"out{next(numbers)}")
        store.create()
        store.write_campaign(campaign())
        store.write_table("points", pa.Table.from_pylist(points, POINTS))
        store.write_table("metrics", pa.Table.from_pylist(metrics, METRICS_TABLE), {})
        return store

    return make


def seeds(*values, point="p", protocol="a", metric="messages"):
    return {(point, protocol, seed): {metric: value} for seed, value in enumerate(values, 1)}


def test_the_difference_is_that_of_the_means_over_common_seeds_with_the_interval_of_pairs(keep):
    before = keep(seeds(10.0, 20.0, 60.0, 1000.0))
    after = keep(seeds(11.0, 22.0, 63.0))
    (change,) = compare_campaigns(before, after).changes
    assert (change.sweep, change.point, change.protocol, change.metric) == ("s", "p", "a", "messages")
    assert change.seeds == 3
    assert (change.before, change.after, change.difference) == (30.0, 32.0, 2.0)
    assert change.half == pytest.approx(4.302652729911275 / sqrt(3))  # differences 1, 2 and 3: deviation 1
    assert change.significant is False


def test_many_intervals_hold_together(keep):
    asked = seeds(0.0, 0.0, 0.0) | seeds(0.0, 0.0, 0.0, point="q")
    result = seeds(1.0, 2.0, 3.0) | seeds(4.0, 5.0, 6.0, point="q")
    one, other = compare_campaigns(keep(asked), keep(result)).changes
    assert one.half == other.half == pytest.approx(student_t.ppf(1 - 0.025 / 2, 2) / sqrt(3))


def test_a_mean_of_one_seed_has_no_interval_and_nobody_can_tell(keep):
    (change,) = compare_campaigns(keep(seeds(1.0)), keep(seeds(4.0))).changes
    assert (change.seeds, change.difference, change.half, change.significant) == (1, 3.0, None, None)


def test_a_difference_as_long_as_half_its_interval_is_not_significant():
    edge = MetricChange("s", "p", "a", "messages", 2, 1.0, 3.0, half=2.0)
    assert edge.significant is False
    assert MetricChange("s", "p", "a", "messages", 2, 3.0, 0.5, half=2.0).significant is True


def test_the_surest_come_first_and_what_nobody_can_tell_last(keep):
    zero = (0.0,) * 4
    before = (
        seeds(*zero, point="b equal")
        | seeds(*zero, point="a equal")
        | seeds(*zero, point="sure")
        | seeds(*zero, point="less sure")
        | seeds(*zero, point="unsure")
        | seeds(*zero, point="quite unsure")
        | seeds(0.0, point="one seed")
    )
    after = (
        seeds(0.1, 0.1, 0.1, 0.1, point="b equal")
        | seeds(0.1, 0.1, 0.1, 0.1, point="a equal")
        | seeds(100.0, 100.1, 100.2, 100.3, point="sure")
        | seeds(100.0, 101.0, 102.0, 103.0, point="less sure")
        | seeds(1.0, 5.0, 9.0, 13.0, point="unsure")
        | seeds(-10.0, 5.0, 9.0, 13.0, point="quite unsure")
        | seeds(7.0, point="one seed")
    )
    found = compare_campaigns(keep(before), keep(after)).changes
    assert [change.point for change in found] == [
        *("a equal", "b equal", "sure", "less sure", "unsure", "quite unsure", "one seed")
    ]
    assert [change.significant for change in found] == [True] * 4 + [False] * 2 + [None]


def test_what_is_the_same_under_every_seed_is_no_change_and_what_nobody_measured_does_not_count(keep):
    same = seeds(1.0, 2.0) | {("p", "b", 1): {"drops": None}, ("p", "b", 2): {"drops": 3.0}}
    other = seeds(1.0, 2.5) | {("p", "b", 1): {"drops": 4.0}, ("p", "b", 2): {"drops": None}}
    found = compare_campaigns(keep(same), keep(other))
    assert [(change.protocol, change.metric, change.seeds) for change in found.changes] == [
        ("a", "messages", 2)
    ]
    assert compare_campaigns(keep(same), keep(same)).changes == []


def test_places_that_one_campaign_alone_has_measured_are_counted(keep):
    one = keep(seeds(1.0, 2.0, 3.0, 4.0), unmeasured=[("q", "a", 1)])
    other = keep(seeds(1.0, 2.0) | seeds(5.0, point="q"))
    found = compare_campaigns(one, other)
    assert (found.compared, found.same_facts, found.only_before, found.only_after) == (2, 2, 2, 1)
    anew = compare_campaigns(one, keep(seeds(1.0, 2.0), prefix="other"))
    assert (anew.compared, anew.same_facts) == (2, 0)


def test_the_factor_of_students_interval():
    assert student(2) == pytest.approx(12.706204736)
    assert student(31) == pytest.approx(2.0422724563)
    assert student(31, 10) == pytest.approx(student_t.ppf(0.9975, 30))
