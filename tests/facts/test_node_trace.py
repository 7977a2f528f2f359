"""A node's trace has each of its facts once, in order of time, and nothing of others."""

import math
from pathlib import Path

import pytest

import roamcast
from roamcast.errors import UserError
from roamcast.facts.node_trace import trace_node

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module", params=[("square.toml", "cbr"), ("street.toml", "clone")])
def facts(request):
    file, protocol = request.param
    return roamcast.run(GOLDEN / file, protocol).facts


COLUMNS = {
    "publications": "publisher",
    "deliveries": "node",
    "drops": "node",
    "interests": "node",
    "states": "node",
    "requests": "node",
}


def test_every_fact_of_a_node_is_one_step(facts):
    steps = {node: trace_node(facts, node) for node in range(facts.run.nodes)}
    for of in steps.values():
        assert [step.time for step in of] == sorted(step.time for step in of)
    count = sum(len(facts[table]) for table in COLUMNS) + len(facts["transmissions"])
    count += sum(to >= 0 for to in facts["transmissions"]["to"].to_pylist())
    count += sum(not math.isnan(time) for time in facts["requests"]["answered"].to_pylist())
    assert sum(map(len, steps.values())) == count
    mine = [row for row in facts["transmissions"].to_pylist() if row["node"] == 1]
    sent = [step for step in steps[1] if step.what == "sends"]
    assert [(step.time, step.kind) for step in sent] == [(row["time"], row["kind"]) for row in mine]


def test_a_part_of_the_time_is_asked_for_and_an_unknown_node_refused(facts):
    whole = trace_node(facts, 1)
    part = trace_node(facts, 1, 5.0, 9.0)
    assert part == [step for step in whole if 5.0 <= step.time <= 9.0] and 0 < len(part) < len(whole)
    with pytest.raises(UserError, match=f"the run has nodes 0 to {facts.run.nodes - 1}"):
        trace_node(facts, facts.run.nodes)


def test_what_the_router_drops_and_what_the_link_loses_are_told_apart(facts):
    steps = [step for node in range(facts.run.nodes) for step in trace_node(facts, node)]
    assert "collided" not in {step.detail for step in steps if step.what == "drops"}
    assert "duplicate" not in {step.detail for step in steps if step.what == "loses"}
