"""What is called proven is proven: nothing that did arrive could have been proven not to."""

import numpy as np
import pytest

from roamcast.facts.contacts import EDGE
from roamcast.routing import catalogue
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.causes import Cause
from roamcast.why.explainer import Explainer
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.tally import tally
from roamcast.why.trail.trail import Trail

from .invented import STILL, facts, legs

WALK = {
    "name": "walk",
    "location": True,
    "area": {"width": 900, "height": 600},
    "duration": 60,
    "nodes": {"all": {"count": 14, "mobility": "waypoint", "speed": (5, 20)}},
    "workload": {
        "publish": {"all": {"count": 3, "every": 2, "content": {"type": "news"}}},
        "subscribe": {"all": {"count": 8, "interest": ["/news"]}},
    },
    "faults": {
        "crashes": {"group": "all", "crash": {"every": 40, "down": 6}},
        "naps": {"group": "all", "count": 6, "radio": {"every": 20, "down": 5}},
    },
}


@pytest.mark.parametrize("protocol", catalogue.names())
def test_no_event_that_arrived_is_proven_not_to_have_had_a_way(protocol):
    trail = Trail(simulate(Scenario.model_validate(WALK), protocol, 3))
    assert trail.outages and len(trail.delivered) > 200
    explainer = Explainer(trail)
    for (publication, node), time in trail.delivered.items():
        published = trail.published[publication]
        for until in (trail.run.duration, trail.last_sent(publication), time):
            proof = explainer._prove(publication, node, published, until)
            assert proof is None, (proof, publication, node, time)


EXPLAINED = {"gpsr-unicast": 0.95}
"Its drops tell whom a copy was for."


@pytest.mark.parametrize("protocol", catalogue.names())
def test_every_miss_gets_an_answer_that_a_person_can_read(protocol):
    run = simulate(Scenario.model_validate(WALK), protocol, 4)
    events = tally(run).events
    assert events.missed == sum(each.times for each in events.causes) > 0
    assert events.explained > EXPLAINED.get(protocol, 0.8)
    for each in events.causes:
        publisher, sequence = map(int, each.about.split("/"))
        story = explain_event(run, publisher << 32 | sequence, each.node)
        assert story.cause == each.cause and story.wanted == "/news"
        assert story.story[-1].startswith("so it was lost: ")


def at(distance):
    return legs((0.0, [(0, 0), (100, 0), (100 + distance, 0)]))


def test_no_path_is_said_only_if_none_existed_with_the_edge_counted_in():
    for distance, expected in (
        (250 + 3 * EDGE, Cause.UNREACHABLE),
        (250 + EDGE / 2, Cause.AT_THE_EDGE),
        (250.0, Cause.AT_THE_EDGE),
        (250 - EDGE / 2, Cause.AT_THE_EDGE),
    ):
        explanation = explain_event(facts(at(distance)), 1, 2)
        assert explanation.cause == expected.key and explanation.proven, distance
    assert "not certain" in explain_event(facts(at(250.0)), 1, 2).story[-2]
    assert not explain_event(facts(at(250 - 3 * EDGE)), 1, 2).proven


def test_a_subscriber_that_was_off_to_the_end_and_one_that_returned():
    off = [(9.0, 2, "radio", 0.0)]
    explanation = explain_event(facts(STILL, states=off), 1, 2)
    assert explanation.cause == "subscriber_off" and explanation.proven
    assert "node 2 had its radio off from t=9.0 to the end of the run" in explanation.story
    back = [*off, (60.0, 2, "radio", 1.0)]
    sent = [(10.1, 0, -1, "event", "Parcel", 1, False), (10.2, 1, -1, "event", "Parcel", 1, False)]
    explanation = explain_event(facts(STILL, states=back, sent=sent), 1, 2)
    assert explanation.cause == "subscriber_off" and explanation.proven


def test_relays_that_were_off_left_no_path():
    explanation = explain_event(facts(STILL, states=[(5.0, 1, "up", 0.0)]), 1, 2)
    assert explanation.cause == "cut_off" and explanation.proven
    assert "node 1 was down from t=5.0 to the end of the run" in explanation.story


def test_what_a_router_calls_its_own_states_is_no_outage():
    result = Trail(facts(STILL, states=[(5.0, 1, "principal", 0.0), (6.0, 1, "hops", 3.0)]))
    assert not result.outages and result.up is result.reach
    assert np.isfinite(result.up.first_hearing(0, 10.0)).all()
