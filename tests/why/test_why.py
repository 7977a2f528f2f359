"""Why: small worlds written by hand, and what is told of the event that the last node missed."""

import pytest

from roamcast.facts.tables import FactsError
from roamcast.why.causes import Cause
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.names import name_publication, read_publication, read_request
from roamcast.why.presentation.tally import tally

from .invented import (
    ADDRESSED,
    ASKED,
    LINE,
    NEWS,
    PATIENT,
    STILL,
    TREE,
    asking,
    event,
    facts,
    legs,
    losing,
    table,
)

FAR = [(0, 0), (200, 0), (900, 0)]


def cause(result):
    events = tally(result).events
    [only] = events.causes
    assert only.times == events.missed == 1
    return Cause[only.cause.upper()]


def test_a_subscriber_that_was_never_in_reach_is_proven_unreachable():
    run = facts(legs((0.0, FAR)))
    assert cause(run) is Cause.UNREACHABLE
    assert explain_event(run, 1, 2).proven


def test_a_collision_at_the_subscriber():
    run = facts(
        STILL,
        sent=[*ASKED, event(10.1, 0), event(10.2, 1)],
        lost=[losing(10.204, 2, 1, "collided")],
        traits=TREE,
    )
    assert cause(run) is Cause.COLLIDED
    assert "t=10.204 node 2 lost the frame: collided" in explain_event(run, 1, 2).story


def test_the_question_climbs_to_where_the_event_was_last_seen():
    run = facts(STILL, sent=[*ASKED, event(10.1, 0)], lost=[losing(10.104, 1, 0, "deaf")], traits=TREE)
    assert cause(run) is Cause.DEAF
    assert "node 1 did not receive it" in explain_event(run, 1, 2).story


def test_a_wish_that_everyone_around_hears_is_climbed_like_one_that_one_hears():
    murmured = [asking(5.0, 2, -1), asking(6.0, 1, -1)]
    run = facts(STILL, sent=[*murmured, event(10.1, 0)], lost=[losing(10.104, 1, 0, "deaf")], traits=TREE)
    assert cause(run) is Cause.DEAF


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("expired", Cause.LAPSED),
        ("unwanted", Cause.UNWANTED),
        ("table_full", Cause.TABLE_FULL),
        ("hop_limit", Cause.HOP_LIMIT),
    ],
)
def test_what_a_relay_let_go_is_told_by_its_reason(reason, expected):
    run = facts(STILL, sent=[*ASKED, event(10.1, 0)], lost=[losing(10.104, 1, 0, reason)], traits=TREE)
    assert cause(run) is expected


def test_nobody_was_told():
    assert cause(facts(STILL, sent=[asking(50.0, 2, 1)], traits=TREE)) is Cause.NO_PARENT


def test_what_others_have_forgotten_is_as_good_as_untold():
    sent = [asking(1.0, 2, 1)]
    assert cause(facts(STILL, sent=sent, traits=TREE | {"subscription_lease": 5.0})) is Cause.NO_PARENT
    explanation = explain_event(facts(STILL, sent=sent, traits=TREE | {"subscription_lease": None}), 1, 2)
    assert "node 2 had sent its subscription to node 1 at t=1.0" in explanation.story


def test_the_link_gave_up_on_the_subscription():
    assert cause(facts(STILL, sent=[asking(5.0, 2, 1, failed=True)], traits=TREE)) is Cause.RETRY_LIMIT


def test_a_child_that_walked_away_from_its_parent():
    before = [(0, 0), (200, 0), (0, 200), (400, 0)]
    after = [(0, 0), (200, 0), (0, 200), (0, 440)]
    away = legs((0.0, before), (6.0, before), (9.0, after), (100.0, after))
    sent = [asking(5.0, 3, 1), asking(6.0, 1, 0), event(10.0, 0), event(10.1, 1)]
    assert cause(facts(away, sent=sent, nodes=4, traits=TREE)) is Cause.MOVED_AWAY


def test_a_parent_that_passed_it_on_but_not_to_its_child():
    sent = [*ASKED, event(10.1, 0), event(10.2, 1)]
    assert cause(facts(STILL, sent=sent, traits=TREE)) is Cause.NOT_MEANT
    fresh = [(0.0, 2, "/news[topic = 2]", True), (9.0, 2, "/news[topic = 1]", True)]
    assert cause(facts(STILL, sent=sent, traits=TREE, interests=fresh)) is Cause.NOT_YET_KNOWN


def test_a_subscriber_that_relayed_a_copy_for_others_is_told_why_none_was_for_it():
    # FT-CBR searches lost children by a flood; a relay of it does not deliver the event.
    lost = [losing(10.105, 2, 1, "collided")]
    run = facts(STILL, sent=[*ASKED, event(10.0, 0), event(10.1, 1), event(10.5, 2)], lost=lost, traits=TREE)
    assert cause(run) is Cause.COLLIDED
    assert (
        "t=10.500 node 2 relayed a copy that was addressed to other nodes only"
        in explain_event(run, 1, 2).story
    )


def test_a_flood_is_explained_where_it_stopped():
    line = [(200 * n, 0) for n in range(4)]
    still = legs((0.0, line))
    lost = [losing(10.105, 1, 0, "collided")]
    run = facts(still, sent=[event(10.1, 0)], lost=lost, nodes=4)
    assert cause(run) is Cause.COLLIDED
    story = explain_event(run, 1, 3).story
    assert "no node within range of node 3 sent it" in story and "2 hops away, it stopped:" in story
    kept = [losing(10.11, 2, 1, "suppressed")]
    run = facts(still, sent=[event(10.1, 0), event(10.105, 1)], lost=kept, nodes=4)
    assert cause(run) is Cause.SUPPRESSED


def test_a_flood_that_passed_by_before_the_subscriber_came_near():
    came = legs((0.0, FAR), (10.4, FAR), (10.5, LINE))
    late_relay = [event(10.1, 0), event(10.2, 1), event(11.0, 0)]
    assert cause(facts(came, sent=late_relay)) is Cause.MOVED_AWAY
    assert cause(facts(came, sent=late_relay[:2])) is Cause.APART


def test_copies_that_all_ended_alike_tell_the_cause_and_others_do_not():
    sent = [event(10.1, 0, 1)]
    queue = [losing(10.1, 1, 2, "queue_full")]
    assert cause(facts(STILL, sent=sent, lost=queue, traits=ADDRESSED)) is Cause.QUEUE_FULL
    ends = [losing(10.1, 1, -1, "no_route"), losing(10.2, 1, -1, "hop_limit")]
    run = facts(STILL, sent=sent, lost=ends, traits=ADDRESSED)
    assert cause(run) is Cause.UNEXPLAINED
    unclear = "one of these copies was for node 2; the facts do not record which"
    assert unclear in explain_event(run, 1, 2).story
    assert cause(facts(STILL, sent=sent, lost=ends[:1], traits=ADDRESSED)) is Cause.NO_ROUTE


def test_a_copy_of_which_no_row_tells_is_not_explained():
    result = tally(facts(STILL, sent=[event(10.1, 0, 1), asking(11.0, 0, 1)], traits=ADDRESSED)).events
    assert result.causes[0].cause == "no_parent"
    silent = [event(10.1, 0, 1), (11.0, 0, 1, "control", "Thanks", -1, False)]
    result = tally(facts(STILL, sent=silent, traits=ADDRESSED)).events
    assert result.causes[0].cause == "unexplained" and result.explained == 0


def test_a_patient_protocol_that_was_asked_too_late_and_one_that_could_have_known():
    late = legs((0.0, FAR), (40.0, FAR), (41.0, LINE))
    result = [asking(5.0, 2, 1)]

    def nod(time):
        return (time, 1, 2, "control", "Nod", -1, False)

    assert cause(facts(late, sent=result, traits=PATIENT)) is Cause.ASKED_LATE
    assert cause(facts(STILL, sent=result, traits=PATIENT)) is Cause.NOT_YET_KNOWN
    assert cause(facts(STILL, sent=[*result, nod(20.5)], traits=PATIENT)) is Cause.NOT_YET_KNOWN
    assert cause(facts(STILL, sent=[*result, nod(14.2)], traits=PATIENT)) is Cause.NOT_RECALLED
    known = [*result, nod(6.0)]
    assert cause(facts(STILL, sent=[*known, event(10.1, 0, 1)], traits=PATIENT)) is Cause.UNEXPLAINED
    trying = [event(10.0 + 30 * n, 0, 1) for n in range(3)]
    assert cause(facts(STILL, sent=[*known, *trying], traits=PATIENT)) is Cause.UNFINISHED
    stuck = [losing(10.3, 1, -1, "no_route")]
    assert cause(facts(STILL, sent=[*known, event(10.1, 0, 1)], lost=stuck, traits=PATIENT)) is Cause.NO_ROUTE
    failed = event(10.1, 0, 1, failed=True)
    assert cause(facts(STILL, sent=[*known, failed], traits=PATIENT)) is Cause.RETRY_LIMIT
    gone = legs((0.0, LINE), (11.0, LINE), (12.0, FAR))
    assert cause(facts(gone, sent=[*known, event(20.0, 0, 1)], traits=PATIENT)) is Cause.UNFINISHED
    assert cause(facts(STILL, sent=known, traits=PATIENT)) is Cause.UNEXPLAINED
    full = [losing(10.1, 0, -1, "table_full")]
    assert cause(facts(STILL, sent=known, lost=full, traits=PATIENT)) is Cause.TABLE_FULL


def test_an_event_that_waits_for_its_turn_behind_a_backlog():
    events = [(sequence, 10.0 + sequence, NEWS) for sequence in range(1, 60)]
    known = [asking(5.0, 2, 1), (6.0, 1, 2, "control", "Nod", -1, False), event(11.0, 0, 1)]
    ordered = PATIENT | {"ordered": True}

    def of(delivered, **more):
        run = facts(STILL, sent=known, events=events, delivered=delivered, traits=ordered, **more)
        return explain_event(run, 50, 2)

    slow = [(sequence, 2, 89.0 + sequence) for sequence in range(1, 11)]
    verdict = of(slow)
    assert verdict.cause == "backlog"
    assert verdict.story[-4:-1] == [
        "node 2 receives events in order, and 39 earlier ones were still undelivered",
        "node 0 had 49 outstanding deliveries at the end of the run",
        "it completed 10 deliveries in the 10 s before the end of the run",
    ]
    full = [(70.0, 0, -1, "event", "Parcel", 50, "table_full")]
    assert of(slow, lost=full).cause == "backlog"  # a full queue on the way is not the publisher's end of it
    assert of([*slow, (55, 2, 99.5)], lost=full).cause == "table_full"  # passed over: it was given up
    assert of([(1, 2, 80.0)]).cause != "backlog"  # nobody was at work any more


def test_a_copy_of_an_older_order_is_not_called_a_lapsed_subscription():
    known = [asking(5.0, 2, 1), (6.0, 1, 2, "control", "Nod", -1, False), event(10.1, 0, 1)]
    old = [losing(10.3, 2, 1, "expired")]
    assert cause(facts(STILL, sent=known, lost=old, traits=PATIENT)) is Cause.OUTDATED
    unwanted = [losing(10.3, 1, 0, "unwanted")]
    assert cause(facts(STILL, sent=known, lost=unwanted, traits=PATIENT)) is Cause.UNEXPLAINED


def test_an_event_given_up_for_another_tells_nothing_of_this_node():
    both = facts(STILL, lost=[losing(10.1, 0, -1, "expired")], traits=PATIENT)
    both.tables["expectations"] = table("expectations", (1, 1), (1, 2))
    both.tables["interests"] = table("interests", (0.0, 1, "/news", True), (0.0, 2, "/news", True))
    assert explain_event(both, 1, 2).cause == "unexplained"
    both.tables["drops"] = table("drops", *[losing(10.1, 0, -1, "expired")] * 2)
    assert explain_event(both, 1, 2).cause == "lapsed"


def test_a_copy_that_was_with_a_node_when_it_crashed():
    sent = [event(10.1, 0, 1), (11.0, 0, 1, "control", "Thanks", -1, False)]
    crashed = [(12.0, 1, "up", 0.0), (30.0, 1, "up", 1.0), (30.0, 1, "incarnation", 1.0)]
    assert cause(facts(STILL, sent=sent, states=crashed, traits=ADDRESSED)) is Cause.RELAY_OFF
    slept = crashed[:2]
    assert cause(facts(STILL, sent=sent, states=slept, traits=ADDRESSED)) is Cause.UNEXPLAINED


def test_a_copy_that_waited_in_vain_while_its_node_was_off_was_lost_to_the_outage():
    sent = [event(10.1, 0, 1), event(12.0, 1, 2, failed=True)]
    late = [losing(42.0, 1, 2, "expired")]
    off = [(11.0, 2, "up", 0.0), (60.0, 2, "up", 1.0)]
    assert cause(facts(STILL, sent=sent, lost=late, states=off, traits=ADDRESSED)) is Cause.SUBSCRIBER_OFF
    assert cause(facts(STILL, sent=sent, lost=late, traits=ADDRESSED)) is Cause.NO_ROUTE
    full = [losing(42.0, 1, 2, "table_full")]
    assert cause(facts(STILL, sent=sent, lost=full, states=off, traits=ADDRESSED)) is Cause.TABLE_FULL


def test_a_copy_that_no_row_ends_was_lost_with_its_publisher_or_waited_to_the_end():
    sent = [event(10.1, 0, 1)]
    crashed = [(20.0, 0, "up", 0.0), (25.0, 0, "up", 1.0), (25.0, 0, "incarnation", 1.0)]
    assert cause(facts(STILL, sent=sent, states=crashed, traits=ADDRESSED)) is Cause.PUBLISHER_OFF
    assert cause(facts(STILL, sent=sent, traits=ADDRESSED)) is Cause.UNEXPLAINED
    late = [(1, 80.0, NEWS)]
    assert cause(facts(STILL, sent=[event(80.1, 0, 1)], events=late, traits=ADDRESSED)) is Cause.UNFINISHED


def test_a_drop_that_names_another_node_that_missed_the_event_explains_nothing():
    sent = [event(10.1, 0, 1, failed=True)]
    run = facts(STILL, sent=sent, lost=[losing(10.2, 0, 1, "no_route")], traits=ADDRESSED)
    assert cause(run) is Cause.NO_ROUTE
    both = table("expectations", (1, 1), (1, 2))
    run.tables["expectations"] = both
    found = {each.node: each.cause for each in tally(run).events.causes}
    assert found == {1: "no_route", 2: "unexplained"}


def test_what_came_when_it_was_no_longer_wanted():
    wants = [(0.0, 2, "/news", True), (10.15, 2, "/news", False)]
    sent = [event(10.1, 0), event(10.2, 1), event(10.3, 2)]
    assert cause(facts(STILL, sent=sent, interests=wants)) is Cause.CHANGED
    assert cause(facts(STILL, sent=sent)) is Cause.UNEXPLAINED


def test_the_wish_that_matched_is_named_not_the_latest():
    wants = [(0.0, 2, "/news[topic < 5]", True), (4.0, 2, "/news[topic = 7]", True)]
    explanation = explain_event(facts(STILL, interests=wants), 1, 2)
    assert explanation.wanted == "/news[topic < 5]"
    assert "node 2 had subscribed to /news[topic < 5] at t=0.0" in explanation.story


def test_the_way_of_a_delivered_event_is_told_hop_by_hop():
    run = facts(STILL, sent=[*ASKED, event(10.1, 0), event(10.2, 1)], delivered=[(1, 2, 10.21)], traits=TREE)
    story = explain_event(run, 1, 2)
    assert story.outcome == "delivered"
    assert [line.split(" (")[0] for line in story.story[2:]] == [
        "t=10.100 node 0 sent it to its neighbours",
        "t=10.200 node 1 sent it to its neighbours",
        "t=10.210 node 2 received it, 0.210 s after its publication",
    ]
    events = tally(run).events
    assert (events.expected, events.missed, events.explained) == (1, 0, None)


def test_events_and_requests_have_names_for_people():
    assert read_publication("3/17") == read_request("3/17") == 3 << 32 | 17
    assert read_publication(name_publication(3 << 32 | 17)) == 3 << 32 | 17
    for text in ("third", "3/", "-1/4", "3/4/5", "٣/٤", "3/99999999999", ""):
        with pytest.raises(FactsError, match="publisher/sequence"):
            read_publication(text)
    with pytest.raises(FactsError, match="node/number"):
        read_request("third")


def test_questions_about_what_is_not_there_are_answered_with_what_is():
    with pytest.raises(FactsError, match="the run has 0/1 to 0/1"):
        explain_event(facts(STILL), 2, 1)
    with pytest.raises(FactsError, match="the run has no publications"):
        explain_event(facts(STILL, events=[]), 2, 1)
    with pytest.raises(FactsError, match="nodes 0 to 2"):
        explain_event(facts(STILL), 1, 7)


def test_facts_that_do_not_tell_where_everyone_was_prove_nothing():
    gap = [(0, 0.0, 100.0, 0, 0, 0, 0), (1, 0.0, 40.0, 0, 0, 0, 0), (1, 41.0, 100.0, 0, 0, 0, 0)]
    for rows in ([], gap[:1], gap[:2], gap, [gap[0], gap[2]]):
        with pytest.raises(FactsError, match=r"legs: the legs of node . do not cover the run"):
            tally(facts(table("legs", *rows), nodes=2))
