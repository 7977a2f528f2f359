"""Why: every story here is a small world run for real, and explained from its facts."""

from itertools import pairwise

import pyarrow as pa
import pytest

from roamcast.facts.schema import TABLES
from roamcast.why.story import name_publication, read_publication, tally, tell
from roamcast.facts.tables import Facts, FactsError, Run
from roamcast.why.why import Cause


def legs(*samples):
    """Everyone walks straight from one (time, [(x, y) of each node]) to the next, then stands to 100 s."""
    samples = [*samples, (100.0, samples[-1][1])] if samples[-1][0] < 100 else samples
    rows = [
        (node, start, end, *map(float, before[node]), *map(float, after[node]))
        for node in range(len(samples[0][1]))
        for (start, before), (end, after) in pairwise(samples)
    ]
    return table("legs", *rows)


def table(name, *rows):
    schema = TABLES[name]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        if pa.types.is_dictionary(field.type):
            arrays.append(pa.array(column, pa.string()).dictionary_encode().cast(field.type))
        else:
            arrays.append(pa.array(column, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def facts(places, *, sent=(), lost=(), delivered=(), interests=None, nodes=3, parameters=None):
    """One event, published by node 0 at t=10 and expected at the last node."""
    run = Run(
        scenario="s", protocol="p", parameters=parameters or {}, seed=1, version="0", nodes=nodes,
        duration=100.0, warmup=0.0, range=250.0, frames={}, drops={}, happenings=0,
    )  # fmt: skip
    wants = interests if interests is not None else [(0.0, nodes - 1, "/news", True)]
    tables = {
        "publications": table("publications", (1, 10.0, 0, 512, "{}")),
        "expectations": table("expectations", (1, nodes - 1)),
        "deliveries": table("deliveries", *delivered),
        "transmissions": table(
            "transmissions",
            *[
                (t, n, to, category, kind, e, 512, 1, failed, 0.004)
                for t, n, to, category, kind, e, failed in sent
            ],
        ),
        "drops": table("drops", *lost),
        "interests": table("interests", *wants),
        "requests": table("requests"),
        "states": table("states"),
        "tables": table("tables"),
        "legs": places,
    }
    return Facts(run, tables)


LINE = [(0, 0), (200, 0), (400, 0)]
STILL = legs((0.0, LINE), (50.0, LINE), (100.0, LINE))
ASKED = [
    (5.0, 2, 1, "subscription", "Subscription", -1, False),
    (6.0, 1, 0, "subscription", "Subscription", -1, False),
]


def event(time, node):
    return (time, node, -1, "event", "TreeEvent", 1, False)


def asking(time, node, to, failed=False):
    return (time, node, to, "subscription", "Subscription", -1, failed)


def cause(told):
    [only] = tally(told)[0]
    assert only.times == 1
    return only.cause


def test_a_subscriber_that_was_never_in_reach_is_proven_unreachable():
    far = [(0, 0), (200, 0), (900, 0)]
    assert cause(facts(legs((0.0, far), (100.0, far)))) is Cause.UNREACHABLE


def test_a_collision_at_the_subscriber():
    told = facts(
        STILL,
        sent=[
            *ASKED,
            (10.1, 0, -1, "event", "TreeEvent", 1, False),
            (10.2, 1, -1, "event", "TreeEvent", 1, False),
        ],
        lost=[(10.204, 2, 1, "event", "TreeEvent", 1, "collided")],
    )
    assert cause(told) is Cause.COLLIDED
    story = tell(told, 1, 2)
    assert "t=10.204 node 2 lost the frame: collided" in story


def test_the_question_climbs_to_where_the_event_was_last_seen():
    told = facts(
        STILL,
        sent=[*ASKED, event(10.1, 0)],
        lost=[(10.104, 1, 0, "event", "TreeEvent", 1, "deaf")],
    )
    assert cause(told) is Cause.DEAF
    assert "node 1 never had it" in tell(told, 1, 2)


def test_a_lapsed_subscription_at_a_relay():
    told = facts(
        STILL,
        sent=[*ASKED, event(10.1, 0)],
        lost=[(10.104, 1, 0, "event", "TreeEvent", 1, "expired")],
    )
    assert cause(told) is Cause.LAPSED


def test_nobody_was_told():
    assert (
        cause(facts(STILL, sent=[(50.0, 2, 1, "subscription", "Subscription", -1, False)])) is Cause.NO_PARENT
    )


def test_the_link_gave_up_on_the_subscription():
    told = facts(STILL, sent=[asking(5.0, 2, 1, failed=True)])
    assert cause(told) is Cause.RETRY_LIMIT


def test_a_child_that_walked_away_from_its_parent():
    before = [(0, 0), (200, 0), (0, 200), (400, 0)]
    after = [(0, 0), (200, 0), (0, 200), (0, 440)]
    away = legs((0.0, before), (6.0, before), (9.0, after), (100.0, after))
    sent = [asking(5.0, 3, 1), asking(6.0, 1, 0), event(10.0, 0), event(10.1, 1)]
    assert cause(facts(away, sent=sent, nodes=4)) is Cause.MOVED_AWAY


def test_a_patient_protocol_that_was_asked_too_late_and_one_that_could_have_known():
    parameters = {"ping_wait": 10.0, "recall": 10.0}
    far = [(0, 0), (200, 0), (900, 0)]
    late = legs((0.0, far), (40.0, far), (41.0, LINE), (100.0, LINE))
    assert cause(facts(late, parameters=parameters)) is Cause.ASKED_LATE
    assert cause(facts(STILL, parameters=parameters)) is Cause.NOT_YET_KNOWN
    acknowledged = [(5.0, 1, 2, "control", "SubscribeAck", -1, False)]
    assert cause(facts(STILL, parameters=parameters, sent=acknowledged)) is Cause.UNFINISHED


def test_the_way_of_a_delivered_event_is_told_hop_by_hop():
    told = facts(
        STILL,
        sent=[
            *ASKED,
            (10.1, 0, -1, "event", "TreeEvent", 1, False),
            (10.2, 1, -1, "event", "TreeEvent", 1, False),
        ],
        delivered=[(1, 2, 10.21)],
    )
    story = tell(told, 1, 2)
    assert [line.split(" (")[0] for line in story[2:]] == [
        "t=10.100 node 0 sent it to its neighbours",
        "t=10.200 node 1 sent it to its neighbours",
        "t=10.210 node 2 got it, 0.210 s after",
    ]
    assert tally(told) == ([], 1)


def test_publications_have_a_name_for_people():
    assert read_publication("3/17") == 3 << 32 | 17
    assert read_publication(name_publication(3 << 32 | 17)) == 3 << 32 | 17
    with pytest.raises(FactsError, match="publisher/sequence"):
        read_publication("third")


def test_questions_about_what_is_not_there_are_answered_with_what_is():
    with pytest.raises(FactsError, match="there are 0/1 to 0/1"):
        tell(facts(STILL), 2, 1)
    with pytest.raises(FactsError, match="nodes 0 to 2"):
        tell(facts(STILL), 1, 7)


def test_facts_that_do_not_tell_where_everyone_was_prove_nothing():
    gap = [(0, 0.0, 100.0, 0, 0, 0, 0), (1, 0.0, 40.0, 0, 0, 0, 0), (1, 41.0, 100.0, 0, 0, 0, 0)]
    for rows in ([], gap[:1], gap[:2], gap, [gap[0], gap[2]]):
        with pytest.raises(FactsError, match="do not tell where node"):
            tally(facts(table("legs", *rows), nodes=2))
