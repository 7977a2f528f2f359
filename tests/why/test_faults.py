"""Nodes that fail in a street for real: what is told of the events that were missed for it."""

import pytest

from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.tally import tally

STREET = {
    "name": "street",
    "area": {"width": 1000, "height": 100},
    "duration": 60,
    "nodes": {
        "shop": {"count": 1, "at": [(0, 0)]},
        "relay": {"count": 1, "at": [(200, 0)]},
        "reader": {"count": 1, "at": [(400, 0)]},
    },
    "workload": {
        "publish": {"shop": {"every": 1, "phase": 0.5, "content": {"type": "news"}}},
        "subscribe": {"reader": {"interest": ["/news"]}},
    },
}
SHOP, RELAY, READER = 0, 1, 2
PROTOCOLS = ["flooding", "cbr", "ft-cbr", "dsdv-unicast"]


def play(protocol, node, **fault):
    scenario = Scenario.model_validate(STREET | {"faults": {"x": {"nodes": [node], **fault}}})
    return simulate(scenario, protocol, 1)


def missed(result, start, end):
    """The causes of what was published in a time, after subscriptions had time to spread."""
    delivered = set(result["deliveries"]["publication"].to_pylist())
    publications = zip(
        result["publications"]["publication"].to_pylist(),
        result["publications"]["time"].to_pylist(),
        strict=True,
    )
    missed = [id for id, time in publications if start <= time < end and id not in delivered]
    return [explain_event(result, id, READER) for id in missed]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "fault",
    [{"radio": {"at": [30], "down": 10}}, {"crash": {"at": [30], "down": 10, "memory": "kept"}}],
    ids=["radio", "asleep"],
)
def test_a_subscriber_that_was_off_when_the_event_came(protocol, fault):
    stories = missed(play(protocol, READER, **fault), 30, 40)
    assert len(stories) >= 6  # DSDV's routers keep a few back until there is a route again
    assert {(story.cause, story.proven) for story in stories[:-1]} == {("subscriber_off", True)}
    text = "had its radio off" if "radio" in fault else "was down"
    assert any(f"node 2 {text} from t=30.0 to t=40.0" in line for line in stories[0].story)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_only_relay_was_down(protocol):
    stories = missed(play(protocol, RELAY, crash={"at": [30], "down": 10}), 30, 40)
    assert len(stories) >= 9
    assert {(story.cause, story.proven) for story in stories[:-1]} == {("cut_off", True)}
    assert any("node 1 was down from t=30.0 to t=40.0" in line for line in stories[0].story)


def test_a_publisher_whose_radio_was_off():
    stories = missed(play("flooding", SHOP, radio={"at": [30], "down": 10}), 30, 40)
    assert len(stories) == 10
    assert {story.cause for story in stories} == {"cut_off"}


def test_a_patient_protocol_delivers_what_its_relay_missed_and_tells_of_a_subscriber_that_forgot():
    assert not missed(play("raft-cbr", RELAY, crash={"at": [30], "down": 5}), 25, 40)
    stories = missed(play("raft-cbr", READER, radio={"at": [30]}), 30, 60)
    assert len(stories) == 30
    assert {(story.cause, story.proven) for story in stories} == {("subscriber_off", True)}


def test_without_faults_nobody_is_said_to_have_been_off():
    run = simulate(Scenario.model_validate(STREET | {"duration": 20}), "cbr", 1)
    assert not {each.cause for each in tally(run).events.causes} & {"subscriber_off", "cut_off", "relay_off"}
