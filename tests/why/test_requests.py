"""Requests that were not satisfied, and one that was."""

from math import nan

import pytest

from roamcast.facts.tables import FactsError
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.presentation.explanation import explain_request
from roamcast.why.presentation.tally import tally

from .invented import NEWS, STILL, asking, event, facts, legs, losing

OTHER = '{"news":{"topic":7}}'
FAR = legs((0.0, [(0, 0), (200, 0), (900, 0)]))


def ask(places=STILL, outcome="expired", answered=nan, publication=-1, **world):
    """Node 2 asks at t=8 for the news on topic 1, and waits for 5 s."""
    row = (2 << 32 | 1, 2, 8.0, "/news[topic = 1]", outcome, answered, publication, answered > 0)
    return facts(places, requests=[row], interests=[], **world)


def cause(result):
    [only] = tally(result).requests.causes
    story = explain_request(result, 2 << 32 | 1)
    assert (story.cause, only.times, only.about, only.node) == (only.cause, 1, "2/1", 2)
    assert story.wanted == "/news[topic = 1]"
    return story.cause, story.proven


def test_nobody_published_what_was_asked_for():
    assert cause(ask(events=[(1, 10.0, OTHER)])) == ("unpublished", True)
    assert cause(ask(events=[])) == ("unpublished", True)
    assert cause(ask(events=[(1, 13.5, NEWS)])) == ("unpublished", True)
    earlier = ask(events=[(1, 3.0, NEWS)])
    assert cause(earlier) == ("unpublished", False)
    assert "1 had been published before" in "\n".join(explain_request(earlier, 2 << 32 | 1).story)


def test_no_path_led_to_whoever_asked():
    assert cause(ask(FAR)) == ("unreachable", True)
    came = legs(
        (0.0, [(0, 0), (200, 0), (900, 0)]),
        (20.0, [(0, 0), (200, 0), (900, 0)]),
        (21.0, [(0, 0), (200, 0), (400, 0)]),
    )
    assert cause(ask(came)) == ("unreachable", True)


def test_a_copy_was_lost_on_the_way():
    sent = [event(10.1, 0), event(10.2, 1)]
    result = ask(sent=sent, lost=[losing(10.205, 2, 1, "collided")])
    assert cause(result) == ("collided", False)


def test_of_several_matches_one_that_had_a_way_is_told():
    events = [(1, 10.0, NEWS), (2, 12.0, NEWS)]
    came = legs(
        (0.0, [(0, 0), (200, 0), (900, 0)]),
        (11.0, [(0, 0), (200, 0), (900, 0)]),
        (11.5, [(0, 0), (200, 0), (400, 0)]),
    )
    second = [(12.1, 0, -1, "event", "Parcel", 2, False)]
    lost = [(12.105, 1, 0, "event", "Parcel", 2, "deaf")]
    result = ask(came, events=events, sent=[event(10.1, 0), *second], lost=lost)
    assert cause(result) == ("deaf", False)


SERVED = {"travel": "addressed", "served_by": "shepherd"}


def refusing(time, node, peer, reason):
    return (time, node, peer, "subscription", "Murmur", -1, reason)


def served(**world):
    """Node 1 asks and receives for node 2."""
    return cause(ask(traits=SERVED, states=[(1.0, 2, "shepherd", 1.0)], **world))[0]


def test_a_node_that_another_serves_missed_what_became_of_that_ones_copy():
    wished = [asking(8.1, 2, 1), asking(8.2, 1, 0)]
    assert served(sent=wished, lost=[losing(10.1, 0, 1, "hop_limit")]) == "hop_limit"
    assert served(sent=wished, lost=[losing(10.1, 0, 7, "hop_limit")]) == "unexplained"
    assert served(sent=[*wished, event(10.1, 0, 1)], lost=[losing(10.2, 1, 0, "unwanted")]) == "unwanted"
    assert served(sent=[*wished, event(10.1, 0, 1), event(10.2, 1, 2, failed=True)]) == "retry_limit"
    assert served(sent=[*wished, event(10.1, 0, 1), event(10.2, 1, 0)]) == "not_meant"
    assert served(sent=[*wished, event(10.1, 0, -1)]) == "moved_away"


def test_or_what_became_of_the_wish():
    own = [asking(8.1, 2, 1)]
    assert served(sent=[event(10.1, 0, 7)]) == "no_parent"
    assert served(sent=own) == "no_parent"
    assert served(sent=[asking(8.1, 2, 1, failed=True)]) == "retry_limit"
    assert served(sent=own, lost=[refusing(8.2, 1, -1, "no_route")]) == "no_route"
    both = [*own, asking(8.2, 1, 0)]
    assert served(sent=both, lost=[refusing(8.4, 2, 0, "hop_limit")]) == "hop_limit"
    assert served(sent=both, lost=[refusing(8.4, 2, 7, "hop_limit")]) == "unexplained"
    assert served(sent=[*own, asking(11.0, 1, 0)]) == "not_yet_known"


def test_a_subscription_that_was_sent_again_is_not_to_blame():
    sent = [asking(8.1, 2, 1), asking(9.0, 1, 0)]
    refused = refusing(8.2, 1, -1, "no_route")
    assert served(sent=sent, lost=[refused]) == "unexplained"
    assert served(sent=sent, lost=[refused, losing(10.1, 0, 7, "queue_full")]) == "queue_full"
    other = [losing(10.1, 0, 7, "queue_full"), losing(10.2, 0, 7, "no_route")]  # the second was for node 7
    assert served(sent=sent, lost=[refused, *other]) == "queue_full"
    assert served(sent=sent, lost=[refused, *other, losing(10.3, 2, 0, "hop_limit")]) == "unexplained"


def test_the_node_was_off_or_crashed():
    assert cause(ask(states=[(9.0, 2, "radio", 0.0)])) == ("subscriber_off", True)
    assert cause(ask(outcome="abandoned", states=[(9.0, 2, "up", 0.0)])) == ("subscriber_off", True)


def test_the_answer_came_late():
    result = ask(delivered=[(1, 2, 13.25)])
    assert cause(result) == ("late", True)
    assert "0.250 s after that" in "\n".join(explain_request(result, 2 << 32 | 1).story)


def test_what_took_so_long_until_a_request_was_satisfied():
    result = ask(outcome="satisfied", answered=12.5, publication=1, delivered=[(1, 2, 12.5)])
    story = explain_request(result, 2 << 32 | 1)
    assert (story.outcome, story.cause) == ("satisfied", "")
    assert story.story[1:] == [
        "t=10.000 a matching event was published as 0/1, 2.000 s after the request",
        "t=12.500 node 2 received it, 4.500 s after the request",
    ]
    assert tally(result).requests.missed == 0 and tally(result).requests.expected == 1


def test_a_request_that_is_not_there():
    with pytest.raises(FactsError, match="the run has 1, for example 2/1"):
        explain_request(ask(), 7)
    with pytest.raises(FactsError, match="the run has no requests"):
        explain_request(facts(STILL), 7)


@pytest.mark.parametrize("protocol", ["flooding", "cbr", "raft-cbr", "dsdv-unicast"])
def test_every_request_of_a_real_market_gets_an_answer(protocol):
    market = {
        "name": "market",
        "area": {"width": 900, "height": 600},
        "duration": 60,
        "nodes": {"all": {"count": 12, "mobility": "waypoint", "speed": (1, 5)}},
        "workload": {
            "publish": {
                "all": {
                    "count": 3,
                    "every": 3,
                    "content": {"type": "offer", "values": {"item": list(range(10))}},
                }
            },
            "request": {
                "all": {
                    "count": 8,
                    "every": 4,
                    "timeout": 6,
                    "interest": ["/offer[item < 4]", "/offer[item = 9]"],
                }
            },
        },
        "faults": {"x": {"group": "all", "crash": {"every": 20, "down": 3}}},
    }
    run = simulate(Scenario.model_validate(market), protocol, 2)
    requests = tally(run).requests
    outcomes = run["requests"]["outcome"].to_pylist()
    assert requests.expected == len(outcomes) > 50
    assert (
        requests.missed
        == sum(each.times for each in requests.causes)
        == len(outcomes) - outcomes.count("satisfied")
        > 10
    )
    causes = {each.cause: each.times for each in requests.causes}
    assert {"unpublished", "subscriber_off"} <= causes.keys()
    assert causes["subscriber_off"] >= outcomes.count("abandoned") > 0
    assert requests.explained > 0.8
