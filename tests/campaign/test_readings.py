from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_campaign_file import write

from roamcast.campaign.plan import apply_options, check_campaign, make_plan, read_campaign
from roamcast.campaign.readings import Reading, ReadingDesign, changes, choose, defaults, is_sensible
from roamcast.errors import UserError
from roamcast.scenario.shipped import locate, shipped

READINGS = """
[readings.pacing]
section = "5.1"
open = "Eight events every 2.5 s: at once, or one by one?"
default = "at-once"
alternatives.at-once.says = "eight at once"
[readings.pacing.alternatives.evenly.set]
"workload.publish.shop.every" = "312.5 ms"
"workload.publish.shop.burst" = 1

[readings.jitter]
open = "How long a node waits before it repeats is not said."
default = "short"
alternatives.short = {}
alternatives.long.parameters.flooding.jitter = "50 ms"
alternatives.long.only_with.pacing = "evenly"
"""


def test_the_default_is_planned_and_a_sweep_may_ask_for_another_reading(tmp_path):
    plain = check_campaign(write(tmp_path, ""))
    file = write(
        tmp_path,
        READINGS
        + """
[sweeps.otherwise]
protocols = ["flooding", "slow"]
set.duration = "300 s"
reading = { pacing = "evenly", jitter = "long" }
""",
    )
    plan = check_campaign(file)
    by_place = {(place.sweep, place.protocol): place.run for place in plan.places if place.seed == 1}
    commands = {run.id: run.command for run in plan.runs}
    assert {run.id for run in plain.runs} < commands.keys(), "the readings that hold change nothing"
    result = commands[by_place["otherwise", "flooding"]]
    assert "workload.publish.shop.burst=1" in result
    assert "protocol.flooding.jitter=50 ms" in result
    assert "jitter=20 ms" in commands[by_place["otherwise", "slow"]], "an alternative may mean one label only"


def test_few_combinations_are_all_judged_and_those_without_sense_left_out(tmp_path):
    campaign = read_campaign(write(tmp_path, READINGS))
    assert choose(campaign.readings, campaign.design) == [
        {"pacing": "at-once", "jitter": "short"},
        {"pacing": "evenly", "jitter": "short"},
        {"pacing": "evenly", "jitter": "long"},
    ]


CLAIMS = """
[claims.most]
kind = "band"
says = "most arrive"
sweep = "people"
metric = "delivery_rate"
protocol = "flooding"
where."workload.subscribe.walkers.count" = 30
low = 0.5

[design]
seeds = 1
points = 1
"""


def test_under_readings_claims_are_judged_in_each_and_what_they_share_is_run_once(tmp_path):
    campaign = read_campaign(write(tmp_path, READINGS + CLAIMS))
    shaped = apply_options(campaign, readings=True)
    assert list(shaped.claims) == ["most", "most @ 1", "most @ 2"]
    assert [claim.sweep for claim in shaped.claims.values()] == ["people", "people @ 1", "people @ 2"]
    assert [sweep.reading for sweep in shaped.sweeps.values()] == [
        {},
        {"pacing": "evenly"},
        {"pacing": "evenly", "jitter": "long"},
    ]
    assert all(sweep.protocols == ["flooding"] for sweep in shaped.sweeps.values()), "no claim asks for slow"
    points = shaped.sweeps["people"].expand()
    assert [list(point.values()) for point in points] == [[30], [50]], "what a claim names is kept"
    assert len(make_plan(shaped).runs) == 3 * 2
    longer = READINGS.replace('parameters.flooding.jitter = "50 ms"', 'parameters.slow.jitter = "50 ms"')
    shared = make_plan(apply_options(read_campaign(write(tmp_path, longer + CLAIMS)), readings=True))
    assert (len(shared.places), len(shared.runs)) == (3 * 2, 2 * 2)
    assert len(make_plan(apply_options(campaign, readings=True, seeds=2)).runs) == 3 * 2 * 2


def test_a_campaign_without_readings_cannot_be_judged_under_them(tmp_path):
    with pytest.raises(UserError, match="needs a campaign with readings"):
        apply_options(read_campaign(write(tmp_path, CLAIMS)), readings=True)


@st.composite
def some_readings(draw):
    names = [f"r{i}" for i in range(draw(st.integers(2, 7)))]
    sizes = [draw(st.integers(2, 4)) for _ in names]
    found = {}
    for place, (name, size) in enumerate(zip(names, sizes, strict=True)):
        alternatives = {f"a{k}": {} for k in range(size)}
        if place and draw(st.booleans()):
            other = draw(st.integers(0, place - 1))
            alternatives[f"a{size - 1}"] = {"only_with": {names[other]: f"a{sizes[other] - 1}"}}
        found[name] = Reading(open="?", default="a0", alternatives=alternatives)
    return found


@settings(max_examples=60, deadline=None)
@given(some_readings())
def test_a_covering_design_has_every_sensible_pair_each_change_alone_and_nothing_senseless(readings):
    rows = choose(readings, ReadingDesign(most=1))
    assert rows[0] == defaults(readings)
    assert all(row.keys() == readings.keys() and is_sensible(readings, row) for row in rows)
    assert len({tuple(row.items()) for row in rows}) == len(rows)
    every = (
        dict(zip(readings, chosen, strict=True))
        for chosen in product(*(r.alternatives for r in readings.values()))
    )
    possible = {pair for row in every if is_sensible(readings, row) for pair in combinations(row.items(), 2)}
    assert {pair for row in rows for pair in combinations(row.items(), 2)} == possible
    for name, reading in readings.items():
        for key, alternative in reading.alternatives.items():
            if key != reading.default and not alternative.only_with:
                assert any(changes(readings, row) == {name: key} for row in rows)


def test_a_covering_design_is_much_smaller_than_everything():
    two = Reading(open="?", default="a", alternatives={"a": {}, "b": {}})
    rows = choose({f"r{i}": two for i in range(10)}, ReadingDesign())
    assert len(rows) < 24, "of 1024; 11 of them are the default and each change alone"


WRONG = {
    "campaign.toml:19: readings.pacing.default: 'eveny' is not a known alternative; did you mean 'evenly'?": (
        'default = "at-once"',
        'default = "eveny"',
    ),
    "campaign.toml:29: readings.jitter.alternatives.long.parameters.floding: 'floding' is not a known": (
        "parameters.flooding",
        "parameters.floding",
    ),
    "campaign.toml:30: readings.jitter.alternatives.long.only_with.pacing: 'even' is not a known": (
        'pacing = "evenly"',
        'pacing = "even"',
    ),
    "campaign.toml:23: readings.pacing.alternatives.evenly.set.workload.subscribe.walkers.count: is an": (
        '"workload.publish.shop.burst" = 1',
        '"workload.subscribe.walkers.count" = 1',
    ),
    "campaign.toml:21: readings.pacing.alternatives.evenly: workload.publish.shop.brst: unknown key": (
        "shop.burst",
        "shop.brst",
    ),
    "campaign.toml:29: readings.jitter.alternatives.long: protocol.flooding.jiter: unknown parameter": (
        "flooding.jitter",
        "flooding.jiter",
    ),
    "readings.pacing.alternatives.evenly.sets: unknown key; did you mean 'set'?": (
        "alternatives.evenly.set]",
        "alternatives.evenly.sets]",
    ),
    "readings.pacing.open: is missing": ('open = "Eight', 'section = "Eight'),
}


@pytest.mark.parametrize("result", WRONG)
def test_a_mistake_in_a_reading_is_told_with_its_line(tmp_path, result):
    right, wrong = WRONG[result]
    text = READINGS.replace('section = "5.1"\n', "\n" if right.startswith("open") else 'section = "5.1"\n')
    assert right in text
    with pytest.raises(UserError) as caught:
        check_campaign(write(tmp_path, text.replace(right, wrong)))
    assert result in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_reading_of_the_metric_changes_what_claims_measure_and_plans_no_run(tmp_path):
    text = """
[readings.counted]
open = "Whether frames of the link layer count is not said."
default = "messages"
alternatives.messages = {}
alternatives.frames.metrics.messages = "frames_link"

[claims.few]
says = "Few messages."
sweep = "people"
metric = "messages"
kind = "band"
protocol = "flooding"
high = 100

[claims.few-per-byte]
says = "Few messages for a byte."
sweep = "people"
metric = "bytes"
kind = "ratio"
of = { protocol = "flooding", metric = "messages" }
to = { protocol = "flooding" }
high = 1.0
"""
    campaign = read_campaign(write(tmp_path, text))
    expanded = apply_options(campaign, readings=True)
    assert {name: claim.metric for name, claim in expanded.claims.items()} == {
        "few": "messages",
        "few-per-byte": "bytes",
        "few @ 1": "frames_link",
        "few-per-byte @ 1": "bytes",
    }
    assert [expanded.claims[name].of.metric for name in ("few-per-byte", "few-per-byte @ 1")] == [
        "messages",
        "frames_link",
    ]
    plan = make_plan(expanded)
    by_sweep = {}
    for cell in plan.places:
        by_sweep.setdefault(cell.sweep, set()).add(cell.run)
    assert by_sweep["people"] == by_sweep["people @ 1"]


def test_the_default_of_a_reading_replaces_no_metric(tmp_path):
    text = """
[readings.counted]
open = "?"
default = "a"
alternatives.a.metrics.messages = "frames"
alternatives.b = {}
"""
    with pytest.raises(UserError, match=r"alternatives\.a\.metrics.*claims name the metrics of the default"):
        read_campaign(write(tmp_path, text))


@pytest.mark.parametrize("name", shipped("campaigns"))
def test_a_shipped_campaign_can_be_planned_under_its_readings(name):
    campaign = read_campaign(locate(name, "campaigns"))
    assert campaign.readings
    planned = make_plan(apply_options(campaign, seeds=1, readings=True))
    assert len(planned.runs) > len(make_plan(apply_options(campaign, seeds=1)).runs) // 2
