"""The trail: when messages were over, who had an event, and what counts as what."""

import msgspec
import pytest

from roamcast.facts.tables import FactsError, MessageKind
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.trail.trail import PROPAGATION, Trail

from .invented import ADDRESSED, ASKED, LINE, STILL, asking, event, facts, legs, losing

AIRTIME = 0.004


def test_a_broadcast_is_over_with_its_frame_and_a_unicast_when_its_sender_goes_on():
    sent = [event(10.0, 0), event(10.5, 0, 1), asking(12.0, 0, 1), event(11.0, 1, 2), event(11.5, 2)]
    trail = Trail(facts(STILL, sent=sent))
    ends = {(each.node, each.time): each.end for each in trail.sent[1]}
    assert ends == {
        (0, 10.0): pytest.approx(10.0 + AIRTIME + PROPAGATION),
        (0, 10.5): 12.0,
        (1, 11.0): 100.0,
        (2, 11.5): pytest.approx(11.5 + AIRTIME + PROPAGATION),
    }
    assert trail.last_sent(1) == 100.0
    assert Trail(facts(STILL)).last_sent(1) == 10.0


def test_no_path_is_not_said_of_a_link_that_may_still_have_been_trying():
    far = [(0, 0), (200, 0), (900, 0)]
    came = legs((0.0, far), (11.0, far), (11.5, LINE))
    trying = [event(10.1, 0, 1), event(10.2, 1, 2, failed=True)]
    on = [(13.0, node, -1, "control", "Thanks", -1, False) for node in (0, 1)]
    assert explain_event(facts(came, sent=[*trying, *on], traits=ADDRESSED), 1, 2).cause == "retry_limit"
    soon = [(10.9, node, -1, "control", "Thanks", -1, False) for node in (0, 1)]
    assert explain_event(facts(came, sent=[*trying, *soon], traits=ADDRESSED), 1, 2).cause == "apart"


def test_holders_are_those_who_sent_delivered_or_let_it_go_not_those_who_lost_a_frame():
    lost = [losing(10.2, 2, 1, "collided"), losing(10.3, 3, 1, "unwanted")]
    still = legs((0.0, [*LINE, (600, 0), (800, 0)]))
    run = facts(still, sent=[event(10.1, 1)], lost=lost, delivered=[(1, 4, 11.0)], nodes=5)
    assert Trail(run).holders[1] == {0, 1, 3, 4}


def test_where_no_role_is_told_the_category_must_do():
    run = facts(STILL, sent=[*ASKED, event(10.1, 0)])
    untold = {"Parcel": MessageKind("event"), "Thanks": MessageKind("control")}
    run.run = msgspec.structs.replace(run.run, kinds=untold)
    trail = Trail(run)
    assert len(trail.sent[1]) == 1 and trail.subscriptions.keys() == {1, 2}


def test_an_acknowledgement_that_names_an_event_is_not_taken_for_it():
    thanks = (10.2, 2, 1, "control", "Thanks", 1, False)
    trail = Trail(facts(STILL, sent=[event(10.1, 0), thanks]))
    assert [each.node for each in trail.sent[1]] == [0]


def test_facts_without_the_radio_range_explain_nothing():
    run = facts(STILL)
    run.run = msgspec.structs.replace(run.run, range=None)
    with pytest.raises(FactsError, match="the radio range is missing"):
        Trail(run)
