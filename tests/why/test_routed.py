"""Explanations of events that should have come along a route set up by a flood of subscriptions."""

from roamcast.why.causes import Cause
from roamcast.why.presentation.explanation import explain_event

from .invented import STILL, asking, event, facts, losing

ROUTED = {"travel": "routed", "subscription_lease": 500.0}
ASKED = [asking(5.0, 2, -1), asking(5.2, 1, -1), asking(5.4, 0, -1)]
"The subscription of 2 goes to everyone, over 1 to the publisher 0."


def explain(**result):
    return explain_event(facts(STILL, traits=ROUTED, **result), 1, 2)


def test_a_wish_that_was_still_being_flooded_was_not_yet_known():
    late = [asking(9.8, 2, -1), asking(10.1, 1, -1), asking(10.5, 0, -1)]
    story = explain(sent=[*late, event(10.0, 0)], interests=[(9.8, 2, "/news", True)])
    assert story.cause == Cause.NOT_YET_KNOWN.key
    assert any("until t=10.500" in sentence for sentence in story.story)


def test_a_wish_that_was_never_told_has_laid_no_route():
    assert explain(sent=[asking(5.2, 1, -1), event(10.1, 0)]).cause == Cause.NO_PARENT.key


def test_what_the_publisher_let_go_is_told_by_its_reason():
    for reason, cause in (("unwanted", Cause.UNWANTED), ("expired", Cause.LAPSED)):
        assert explain(sent=ASKED, lost=[losing(10.0, 0, -1, reason)]).cause == cause.key


def test_a_frame_lost_on_the_way_is_found_where_the_event_came_nearest():
    routed = [*ASKED, event(10.1, 0), event(10.2, 1)]
    assert explain(sent=routed, lost=[losing(10.201, 2, 1, "collided")]).cause == Cause.COLLIDED.key
    assert explain(sent=[*ASKED, event(10.1, 0)], lost=[losing(10.101, 1, 0, "deaf")]).cause == Cause.DEAF.key


def test_a_relay_that_kept_still_in_the_last_resort_is_told():
    flood = [*ASKED, event(10.1, 0)]
    assert explain(sent=flood, lost=[losing(10.2, 1, -1, "suppressed")]).cause == Cause.SUPPRESSED.key


def test_what_was_passed_on_in_range_but_to_others_was_not_meant_for_it():
    story = explain(sent=[*ASKED, event(10.1, 0), event(10.2, 1)])
    assert story.cause == Cause.NOT_MEANT.key
