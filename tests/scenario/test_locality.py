"""Hubs, topics and areas: where people gather, and what they want there."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.router import Position
from roamcast.scenario.locality.hubs import place_hubs
from roamcast.scenario.locality.topics import AreaMap
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load
from roamcast.sim.kernel import movement
from roamcast.sim.requests import requesters
from roamcast.sim.workload import plan


def city(**changes):
    values = {
        "name": "town",
        "area": {"width": 1000, "height": 1000},
        "duration": 200,
        "location": True,
        "hubs": {"count": 3, "side": 250},
        "nodes": {
            "walkers": {"count": 30, "mobility": "waypoint", "speed": (1, 2), "home": "hubs"},
            "drivers": {"count": 10, "mobility": "waypoint", "speed": (5, 9)},
        },
        "workload": {
            "topics": {"count": 12},
            "areas": {"quarters": 2, "hubs": [0, 3, 4]},
            "publish": {"*": {"count": 4, "every": 5, "gaps": "exponential", "content": "own-topics"}},
            "request": {"*": {"publishers": False, "every": 3, "interest": "topic", "skew": 0.8}},
        },
    }
    for keys, value in changes.items():
        *path, last = keys.split("__")
        at = values
        for key in path:
            at = at[key]
        at[last] = value
    return Scenario.model_validate(values)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_hubs_lie_in_the_area_and_do_not_overlap(seed):
    hubs = place_hubs(city(), seed)
    assert len(hubs) == 3 and hubs == place_hubs(city(), seed) != place_hubs(city(), seed + 1)
    for place, hub in enumerate(hubs):
        assert 0 <= hub.x <= 750 and 0 <= hub.y <= 750
        assert not any(hub.overlaps(other) for other in hubs[:place])


def test_a_large_city_finds_room_for_its_hubs_up_to_nearly_half_of_the_area():
    for count, side in ((40, 80), (100, 68)):
        large = city(hubs__count=count, hubs__side=side, workload__areas={"quarters": 2})
        hubs = place_hubs(large, 5)
        assert len(hubs) == count and hubs == place_hubs(large, 5)
        for place, hub in enumerate(hubs):
            assert 0 <= hub.x <= 1000 - side and 0 <= hub.y <= 1000 - side
            assert not any(hub.overlaps(other) for other in hubs[:place])


def test_those_at_home_in_hubs_stay_there_and_are_dealt_out_evenly():
    hubs, legs = place_hubs(city(), 7), movement(city(), 7)
    for node, x, y in zip(legs.node, legs.x1, legs.y1, strict=True):
        if node < 30:
            assert hubs[node // 10].contains(x, y)


def test_topics_are_dealt_out_to_the_publishers_and_each_has_its_own_times():
    planned = plan(city(), 3)
    offered = {each.node: each.filter for each in planned.advertisements}
    assert len(offered) == 4
    said = Counter((each.publisher, each.event["topic"]) for each in planned.publications)
    assert len(said) == 12 and Counter(node for node, _ in said) == dict.fromkeys(offered, 3)
    assert all(offered[each.publisher].matches(each.event) for each in planned.publications)
    assert 25 < sum(said.values()) / 12 < 55


def test_who_publishes_does_not_ask_where_that_is_said():
    publishers = {each.node for each in plan(city(), 3).advertisements}
    asking = {each.node for each in requesters(city(), 3)}
    assert asking == set(range(40)) - publishers
    everyone = city(workload__request={"*": {"every": 3, "interest": "topic"}})
    assert {each.node for each in requesters(everyone, 3)} == set(range(40))


@pytest.mark.parametrize(
    ("rule", "offsets"),
    [("spread", [0, 1, 3, 5, 6, 8, 10]), ("literal", [0, 0, 0, 0, 0, 2, 0]), ("none", [0] * 7)],
)
def test_the_offset_of_an_area(rule, offsets):
    scenario = city(workload__areas={"quarters": 2, "hubs": [0, 3, 4], "offset": rule})
    areas = AreaMap(scenario.area, scenario.workload.areas, place_hubs(scenario, 1), 12)
    assert areas._offsets == offsets
    numbers = {areas.number_at(x, y) for x in range(0, 1001, 25) for y in range(0, 1001, 25)}
    assert numbers == set(range(7))


def test_the_first_topic_of_an_area_is_asked_for_most_by_zipfs_law():
    (asking, *_) = requesters(city(), 3)
    hub = place_hubs(city(), 3)[1]
    inside = Position(hub.x + 100, hub.y + 100)
    drawn = Counter(str(asking.filter_at(number, inside)) for number in range(4000))
    expected = [place**-0.8 for place in range(1, 13)]
    first = asking.topics._topics.filter(1 + 3 * 12 // 7)
    assert drawn.most_common(1)[0][0] == str(first)
    assert drawn[str(first)] / 4000 == pytest.approx(expected[0] / sum(expected), rel=0.1)


MISTAKES = {
    "there are no hubs": {"hubs": None, "workload__areas": None},
    "may cover at most half": {"hubs": {"count": 9, "side": 250}, "workload__areas": None},
    "extends outside": {"hubs": {"count": 3, "side": 250, "at": [(0, 0), (800, 0), (0, 300)]}},
    "expected 3 different numbers": {"workload__areas": {"quarters": 2, "hubs": [0, 0, 4]}},
    "expected numbers from 0 to 6": {"workload__areas": {"quarters": 2, "hubs": [0, 3, 9]}},
    "there are no topics": {"workload__topics": None, "workload__areas": None},
    "already includes every node": {
        "workload__request": {
            "*": {"every": 3, "interest": "topic"},
            "drivers": {"every": 3, "interest": "topic"},
        }
    },
    "only 40 nodes": {"workload__request": {"*": {"count": 50, "every": 3, "interest": "topic"}}},
}


@pytest.mark.parametrize("problem", MISTAKES)
def test_a_mistake_is_told(problem):
    with pytest.raises(ValueError, match=problem):
        city(**MISTAKES[problem])


def test_the_city_is_that_of_the_paper():
    scenario = load("scenarios/city.toml")
    assert (scenario.count, scenario.duration, scenario.warmup) == (200, 3500, 500)
    asked = requesters(scenario, Random(1).randrange(100))
    assert len(asked) == 195
