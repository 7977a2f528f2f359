import math
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.schema import EventType
from roamcast.routing.router import Position
from roamcast.scenario.model import Area
from roamcast.scenario.read import load
from roamcast.scenario.workload import Zones
from roamcast.scenario.zones import ZoneGrid
from roamcast.sim.interest import subscribers
from roamcast.sim.oracle import Oracle
from roamcast.sim.run import simulate
from roamcast.sim.workload import plan

SCENARIOS = Path(__file__).parents[2] / "scenarios"
GRID = ZoneGrid(Area(width=1000, height=500), Zones(side=250))


def shopping(*overrides):
    return load(SCENARIOS / "shopping.toml", overrides)


def test_zones_are_numbered_from_the_corner_eastwards_then_northwards():
    assert len(GRID) == 8
    assert [GRID.zone_at(x, y) for x, y in [(0, 0), (249, 249), (250, 0), (999, 0), (0, 250)]] == [
        1,
        1,
        2,
        4,
        5,
    ]
    assert GRID.zone_at(1000, 500) == 8


@given(st.floats(0, 1000), st.floats(0, 500))
def test_every_place_has_exactly_the_interest_of_its_zone(x, y):
    zone = GRID.zone_at(x, y)
    assert [n for n in range(1, 9) if GRID.filter(zone).matches(GRID.event(n))] == [zone]


def test_interest_follows_position():
    someone = subscribers(shopping(), 1)[0]
    assert someone.filters_at(Position(10, 10), 0) == (GRID.filter(1),)
    assert someone.filters_at(Position(990, 490), 1) == (GRID.filter(8),)


def test_ten_subscribers_are_among_the_twenty_of_the_same_seed():
    ten = {s.node for s in subscribers(shopping("workload.subscribe.walkers.count=10"), 4)}
    twenty = {s.node for s in subscribers(shopping("workload.subscribe.walkers.count=20"), 4)}
    assert len(ten) == 10
    assert len(twenty) == 20
    assert ten < twenty


def test_locality_gives_a_share_of_subscribers_one_interest_for_ever():
    chosen = subscribers(shopping("workload.subscribe.walkers.locality=0.3"), 2)
    alike = [s for s in chosen if not s.follows]
    assert len(alike) == 15
    assert len({s.filters_at(Position(x, 10), x) for s in alike for x in (1, 600)}) == 1


def test_bias_leans_to_the_own_zone_and_is_the_same_at_each_telling():
    someone = subscribers(load(SCENARIOS / "open-field.toml"), 1)[0]
    looks = [someone.filters_at(Position(10, 10), look) for look in range(400)]
    assert looks == [someone.filters_at(Position(10, 10), look) for look in range(400)]
    at_home = Counter(looks).most_common(1)[0][1] / len(looks)
    assert 0.74 < at_home < 0.88  # 0.8 + 0.2/16, give or take three deviations


def test_the_oracle_expects_whoever_wants_it_now_except_the_publisher():
    oracle = Oracle()
    oracle.add(1, GRID.filter(3))
    oracle.add(2, GRID.filter(3))
    oracle.add(2, GRID.filter(3))
    oracle.add(5, GRID.filter(4))
    assert oracle.expected(GRID.event(3), publisher=0) == [1, 2]
    assert oracle.expected(GRID.event(3), publisher=2) == [1]
    oracle.remove(2, GRID.filter(3))
    oracle.remove(1, GRID.filter(3))
    assert oracle.expected(GRID.event(3), publisher=0) == [2]
    oracle.remove(2, GRID.filter(3))
    assert oracle.expected(GRID.event(3), publisher=0) == []
    assert oracle.expected(EventType("other", {})(), publisher=0) == []


@given(
    st.floats(0, 1000),
    st.floats(0, 500),
    st.floats(0, 6.28),
    st.floats(0.1, 20),
    st.floats(0.1, 5),
    st.integers(0, 3),
)
def test_a_look_is_left_out_only_where_nothing_can_have_changed(x, y, heading, speed, tick, look):
    someone = subscribers(shopping(), 1)[0]._replace(pace=speed, tick=tick, phase=tick / 3)
    following = someone.next_poll(Position(x, y), look)
    assert following > look
    for left_out in range(look + 1, following):
        gone = speed * (someone.time_of(left_out) - someone.time_of(look))
        there = Position(x + gone * math.cos(heading), y + gone * math.sin(heading))
        if 0 <= there.x <= 1000 and 0 <= there.y <= 500:
            assert someone.filters_at(there, left_out) == someone.filters_at(Position(x, y), look)


def test_who_stands_still_looks_once_and_who_leans_looks_every_time():
    someone = subscribers(shopping(), 1)[0]
    assert someone._replace(pace=0.0).next_poll(Position(1, 1), 0) is None
    assert someone._replace(bias=0.5).next_poll(Position(125, 125), 7) == 8
    assert someone._replace(pace=math.inf).next_poll(Position(125, 125), 7) == 8


def test_every_event_of_the_market_matches_sixty_percent_of_the_subscriptions():
    scenario = load(SCENARIOS / "cd-market.toml")
    for seed in (1, 2):
        wanted = [filter for interest in subscribers(scenario, seed) for filter in interest.fixed]
        assert len(wanted) == len(set(wanted)) == 50
        planned = plan(scenario, seed).publications
        assert len(planned) == 2000
        assert set(Counter(p.publisher for p in planned).values()) == {100}
        for event in {p.event for p in planned}:
            assert sum(filter.matches(event) for filter in wanted) == 30


def test_fewer_subscribers_are_dealt_the_same_cards_and_more_begin_again():
    scenario = load(SCENARIOS / "cd-market.toml", ["workload.subscribe.market.count=60"])
    dealt = [interest.fixed for interest in subscribers(scenario, 1)]
    assert {len(hand) for hand in dealt} == {1}
    assert sorted(Counter(dealt).values()) == [1] * 40 + [2] * 10


CROSSING = """\
name = "crossing"
area = { width = "1000 m", height = "100 m" }
duration = "100 s"
mobility = { ns2 = "walk.mov" }
[nodes.shops]
count = 2
at = [["0 m", "0 m"], ["900 m", "0 m"]]
[nodes.walkers]
count = 1
mobility = "file"
[workload]
zones = { side = "250 m" }
[workload.subscribe."*"]
"""

WALK = """\
$node_(0) set X_ 10
$node_(0) set Y_ 50
$ns_ at 1.0 "$node_(0) setdest 990 50 10"
"""


def crossing(tmp_path, added=""):
    (tmp_path / "s.toml").write_text(CROSSING + added)
    (tmp_path / "walk.mov").write_text(WALK)
    return load(tmp_path / "s.toml")


def zone_changes(scenario, node):
    interests = simulate(scenario, "flooding", 1)["interests"].to_pylist()
    return [(round(row["time"]), row["wanted"]) for row in interests if row["node"] == node and row["begins"]]


def test_a_walker_of_a_movement_file_changes_zones_beside_a_static_group(tmp_path):
    changes = zone_changes(crossing(tmp_path), node=2)
    assert [wanted for _, wanted in changes] == [f"/coupon[zone={zone}]" for zone in (1, 2, 3, 4)]
    assert [interest.pace for interest in subscribers(crossing(tmp_path), 1)] == [0.0, 0.0, math.inf]


def test_a_subscriber_that_wakes_looks_once(tmp_path):
    slept = 'crash = { at = ["20 s"], down = "70 s", memory = "kept" }\n'
    scenario = crossing(tmp_path, f"tick = '0.1 s'\nbias = 0.5\n[faults.asleep]\nnodes = [2]\n{slept}")
    changes = simulate(scenario, "flooding", 1)["interests"].to_pylist()
    times = Counter(row["time"] for row in changes if row["node"] == 2)
    assert sum(20 < time < 90 for time in times) == 0
    assert sum(time > 90 for time in times) > 10
    assert max(times.values()) == 2  # one filter ends, another begins
