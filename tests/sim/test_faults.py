"""Faults of nodes in the simulated world, and their facts."""

from collections import defaultdict
from math import inf

import pytest

from roamcast.routing import catalogue
from roamcast.routing.faults import FaultKind
from roamcast.scenario.model import Scenario
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.run import simulate

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


def street(faults, **changes):
    return Scenario.model_validate(STREET | changes | {"faults": faults})


def play(faults, protocol="flooding", seed=1, **changes):
    return simulate(street(faults, **changes), protocol, seed)


def rows(facts, table, *columns):
    return list(zip(*(facts[table][column].to_pylist() for column in columns), strict=True))


def crash(node, start, down=None, **more):
    outage = {"at": [start], **more} | ({"down": down} if down else {})
    return {"x": {"nodes": [node], "crash": outage}}


def states_of(facts):
    states = rows(facts, "states", "time", "name", "value")
    return [(round(time, 6), name, value) for time, name, value in states]


def test_without_faults_nothing_is_told_of_them():
    facts = play({})
    assert len(facts["states"]) == 0
    assert not {"radio_off", "unsent"} & facts.run.frames.keys()


def test_a_crashed_publisher_is_silent_and_counts_from_one_in_its_next_incarnation():
    facts = play(crash(SHOP, 10, 5))
    published = rows(facts, "publications", "publication", "time")
    assert [time for _, time in published if 10 <= time < 15] == []
    sequences = [id & 0xFFFFFFFF for id, _ in published]
    assert sequences == [*range(1, 11), *(1 << 24 | n for n in range(1, 46))]
    assert rows(facts, "deliveries", "publication") == [(id,) for id, _ in published]
    assert states_of(facts) == [(10, "up", 0), (15, "up", 1), (15, "incarnation", 1)]


def test_a_crashed_subscriber_wants_nothing_until_it_returns():
    facts = play(crash(READER, 10, 5))
    changes = [(round(time, 6), begins) for time, begins in rows(facts, "interests", "time", "begins")]
    assert changes == [(0, True), (10, False), (15, True)]
    times = dict(rows(facts, "publications", "publication", "time"))
    expected = [round(times[id], 6) for (id,) in rows(facts, "expectations", "publication")]
    assert expected == [n + 0.5 for n in range(60) if not 10 <= n < 15]
    assert len(facts["deliveries"]) == len(expected)


def test_a_relay_whose_radio_is_off_hears_nothing_and_what_it_would_send_is_told():
    facts = play({"x": {"nodes": [SHOP], "radio": {"at": [10], "down": 5}}})
    delivered = [round(time) for (time,) in rows(facts, "deliveries", "time")]
    assert len(delivered) == 55
    assert not [time for time in delivered if 10 < time < 15]
    drops = rows(facts, "drops", "time", "node", "cause")
    assert [(round(t, 2), n) for t, n, cause in drops if cause == "radio_off"] == [
        (10.5 + n, SHOP) for n in range(5)
    ]
    assert facts.run.frames["unsent"] == 5
    assert states_of(facts) == [(10, "radio", 0), (15, "radio", 1)]


def test_who_arrives_late_and_who_leaves_are_there_only_in_between():
    facts = play({"x": {"nodes": [RELAY], "arrive": (20, 20), "leave": (40, 40)}})
    times = [time for (time,) in rows(facts, "deliveries", "time")]
    assert len(times) == 20
    assert 20 < min(times) < max(times) < 40
    assert states_of(facts) == [(0, "up", 0), (20, "up", 1), (40, "up", 0)]


def test_a_sleeper_goes_on_where_it_stopped():
    facts = play(crash(READER, 10, 5, memory="kept"))
    assert len(facts["interests"]) == 1  # it wants it all the time
    assert len(facts["expectations"]) == 60
    assert len(facts["deliveries"]) == 55
    assert states_of(facts) == [(10, "up", 0), (15, "up", 1)]
    silent = play(crash(SHOP, 10, 5, memory="kept"))
    assert [id & 0xFFFFFFFF for (id,) in rows(silent, "publications", "publication")] == list(range(1, 56))


def test_outages_that_overlap_are_one_and_a_radio_stays_off_through_a_crash():
    faults = {
        "a": {"nodes": [RELAY], "crash": {"at": [10], "down": 10}},
        "b": {"nodes": [RELAY], "crash": {"at": [15], "down": 10}},
        "c": {"nodes": [RELAY], "radio": {"at": [5], "down": 25}},
    }
    facts = play(faults)
    assert states_of(facts) == [
        *((5, "radio", 0), (10, "up", 0)),
        *((25, "up", 1), (25, "incarnation", 1), (30, "radio", 1)),
    ]
    times = [time for (time,) in rows(facts, "deliveries", "time")]
    assert [time for time in times if 5 < time < 30] == []
    assert len(times) == 35


@pytest.mark.parametrize(
    ("crash", "sleep", "expected"),
    [
        ((10, 10), (15, 20), [(10, "up", 0), (35, "up", 1), (35, "incarnation", 1)]),
        ((15, 5), (10, 20), [(10, "up", 0), (30, "up", 1), (30, "incarnation", 1)]),
        ((10, 30), (15, 5), [(10, "up", 0), (40, "up", 1), (40, "incarnation", 1)]),
        ((10, 10), (20, 10), [(10, "up", 0), (30, "up", 1), (30, "incarnation", 1)]),
    ],
)
def test_a_node_with_a_crash_and_a_sleep_that_overlap_starts_when_both_are_over(crash, sleep, expected):
    faults = {
        "a": {"nodes": [RELAY], "crash": {"at": [crash[0]], "down": crash[1]}},
        "b": {"nodes": [RELAY], "crash": {"at": [sleep[0]], "down": sleep[1], "memory": "kept"}},
    }
    facts = play(faults)
    assert states_of(facts) == expected
    times = [time for (time,) in rows(facts, "deliveries", "time")]
    assert [time for time in times if expected[0][0] < time < expected[1][0]] == []
    assert len(times) == 60 - (expected[1][0] - expected[0][0])


def test_faults_are_a_function_of_scenario_and_seed():
    faults = {
        "relays": {"group": "relay", "crash": {"every": 10, "down": 2}},
        "readers": {"group": "reader", "radio": {"every": 5, "down": 5, "after": 20, "until": 40}},
    }
    scenario = street(faults)
    drawn = draw_faults(scenario, 1)
    assert drawn == draw_faults(scenario, 1) != draw_faults(scenario, 2)
    assert drawn == sorted(drawn, key=lambda fault: fault.time)
    assert {fault.node for fault in drawn} == {RELAY, READER}
    assert all(20 <= fault.time < 40 for fault in drawn if fault.kind is FaultKind.RADIO_OFF)
    fewer = {"x": {"group": "relay", "count": 1, "arrive": (5, 9)}}
    (late,) = draw_faults(street(fewer), 3)
    assert late.kind is FaultKind.ARRIVE
    assert 5 <= late.time <= 9


ROUGH = {
    "relays": {"group": "walkers", "crash": {"every": 15, "down": 4}},
    "silent": {"group": "walkers", "count": 8, "radio": {"every": 20, "down": 3}},
    "sleepy": {"nodes": [3, 4], "crash": {"every": 12, "down": 3, "memory": "kept"}},
    "late": {"nodes": [5], "arrive": (7, 7)},
    "gone": {"nodes": [6], "leave": (30, 30)},
}


def rough(seed, protocol):
    scenario = Scenario.model_validate(
        {
            "name": "rough",
            "location": True,
            "area": {"width": 500, "height": 300},
            "duration": 50,
            "nodes": {"walkers": {"count": 14, "mobility": "waypoint", "speed": (1, 10)}},
            "workload": {
                "zones": {"side": 100},
                "publish": {"walkers": {"count": 5, "every": 0.7, "gaps": "exponential"}},
                "subscribe": {"walkers": {"locality": 0.3}},
            },
            "faults": ROUGH,
        }
    )
    return simulate(scenario, protocol, seed)


def outages(facts, *names):
    """By node, when one of its states `names` was 0."""
    found, since = defaultdict(list), {}
    for time, node, name, value in rows(facts, "states", "time", "node", "name", "value"):
        if name in names:
            if value == 0:
                since.setdefault((node, name), time)
            else:
                found[node].append((since.pop((node, name)), time))
    for (node, _), time in since.items():
        found[node].append((time, inf))
    return found


def during(found, node, time, slack=1e-9):
    return any(start + slack < time < end - slack for start, end in found[node])


@pytest.mark.parametrize("protocol", catalogue.names())
@pytest.mark.parametrize("seed", [1, 2])
def test_laws_of_a_rough_world(protocol, seed):
    facts = rough(seed, protocol)
    down, silent = outages(facts, "up"), outages(facts, "up", "radio")
    assert sum(map(len, down.values())) > 20
    sleepers = {3, 4}  # these go on wanting while they sleep, and may crash in their sleep
    for table in ("publications", "deliveries", "interests"):
        who = "publisher" if table == "publications" else "node"
        seen = rows(facts, table, who, "time")
        assert len(seen) > 20
        early = [node for node, time in seen if during(down, node, time)]
        assert not early or (table == "interests" and set(early) <= sleepers), table
    assert not [row for row in rows(facts, "transmissions", "node", "time") if during(silent, *row)]
    assert len(set(rows(facts, "publications", "publication"))) == len(facts["publications"])
    times = dict(rows(facts, "publications", "publication", "time"))
    for id, node in rows(facts, "expectations", "publication", "node"):
        assert node in sleepers or not during(down, node, times[id])
    wanting = defaultdict(set)
    for node, wanted, begins in rows(facts, "interests", "node", "wanted", "begins"):
        assert (wanted in wanting[node]) is not begins
        (wanting[node].add if begins else wanting[node].remove)(wanted)
    assert not wanting[6]  # it has left
    frames = facts.run.frames
    outcomes = ("received", "collided", "captured", "weak", "deaf", "radio_off")
    assert sum(frames[outcome] for outcome in outcomes) == frames["sensed"]
    assert frames["radio_off"] > 10
    assert rough(seed, protocol).digest() == facts.digest()
