from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from roamcast.errors import UserError
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from roamcast.sim.workload import plan

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def shopping(*overrides):
    return load(SCENARIOS / "shopping.toml", overrides)


def test_bursts_of_eight_say_one_thing_about_each_zone():
    planned = plan(shopping(), 1).publications
    burst = planned[:8]
    assert len({p.time for p in burst}) == 1
    assert [p.event.get("zone") for p in burst] == list(range(1, 9))
    assert planned[8].time == pytest.approx(burst[0].time + 2.5)


def test_the_rate_is_that_of_the_paper_and_the_last_seconds_are_quiet():
    planned = plan(shopping(), 1).publications
    assert len(planned) == 790 / 2.5 * 8
    assert planned[-1].time < 790


def test_exponential_gaps_keep_the_mean_rate_of_each_of_ten_publishers():
    planned = plan(load(SCENARIOS / "open-field.toml"), 3).publications
    by_publisher = Counter(p.publisher for p in planned)
    assert len(by_publisher) == 10
    assert len(planned) == pytest.approx(590 * 0.5 * 10, rel=0.1)
    assert sorted(planned, key=lambda p: p.time) == planned


def test_a_plan_depends_on_the_seed_and_not_on_protocol_or_subscribers():
    assert plan(shopping(), 1) == plan(shopping("workload.subscribe.walkers.count=10"), 1)
    assert plan(shopping(), 1) == plan(shopping("protocol.flooding.jitter=1 ms"), 1)
    assert plan(shopping(), 1) != plan(shopping(), 2)


def test_each_publisher_advertises_what_it_will_say():
    made = plan(shopping(), 1)
    (advertised,) = made.advertisements
    assert advertised.node == 0
    assert all(advertised.filter.matches(p.event) for p in made.publications)


SCHEDULED = """\
name = "s"
area = { width = "300 m", height = "200 m" }
duration = "60 s"
workload.schedule = "plan.csv"
[nodes.all]
count = 3
"""


def scheduled(tmp_path, csv, types=""):
    (tmp_path / "s.toml").write_text(SCHEDULED + types)
    (tmp_path / "plan.csv").write_text(csv)
    return plan(load(tmp_path / "s.toml"), 1)


def test_a_schedule_is_played_as_it_is_written(tmp_path):
    made = scheduled(
        tmp_path, "time,publisher,size,type,level\n1.5,2,100,alert,3\n1.5,0,99,,\n7,2,100,alert,4\n"
    )
    assert [(p.time, p.publisher, p.size) for p in made[0]] == [
        (1.5, 2, 100),
        (1.5, 0, 99),
        (7, 2, 100),
    ]
    assert made.publications[0].event.get("level") == 3
    assert [a.node for a in made.advertisements] == [0, 2]


TYPED = """[workload.types.alert]
code = "string"
level = "integer"
urgent = "boolean"
day = "date"
"""


def test_a_cell_is_read_as_the_declared_kind_of_its_field(tmp_path):
    csv = "time,publisher,size,type,code,level,urgent,day\n1,2,100,alert,007,07,1,2005-03-08\n"
    (event,) = [p.event for p in scheduled(tmp_path, csv, TYPED).publications]
    assert dict(event.items()) == {"code": "007", "level": 7, "urgent": True, "day": date(2005, 3, 8)}
    with pytest.raises(UserError, match=r"plan.csv:3: alert/level: 'high' is not an integer"):
        scheduled(tmp_path, f"{csv}2,2,100,alert,true,high,1,2005-03-08\n", TYPED)


@pytest.mark.parametrize(
    ("csv", "complaint"),
    [
        ("time,publisher,size\n2,0,9\n1,0,9\n", "plan.csv:3: not sorted: 1 s comes after 2 s"),
        ("time,publisher\n", "plan.csv:1: no column 'size'"),
        ("", "plan.csv:1: no column 'time'"),
        ("time,publisher,size\n1,7,9\n", "plan.csv:2: publisher: node 7 is outside the range 0 to 2"),
        ("time,publisher,size\n1,x,9\n", "plan.csv:2: publisher: 'x' is not a number"),
        ("time,publisher,size\nnan,0,9\n", "plan.csv:2: time: 'nan' is not finite"),
        ("time,publisher,size\n99,0,9\n", "plan.csv:2: time: 99 s is outside the run of 60 s"),
        ("time,publisher,size\n1,0,0\n", "plan.csv:2: size: 0 bytes"),
        ("time,publisher,size\n1,0\n", "plan.csv:2: 2 cells under 3 columns"),
        ('time,publisher,size\n1,0,"9\n', "plan.csv"),
    ],
)
def test_a_bad_line_of_a_schedule_is_named(tmp_path, csv, complaint):
    with pytest.raises(UserError) as caught:
        scheduled(tmp_path, csv)
    assert complaint in str(caught.value)


def test_an_event_larger_than_a_frame_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"workload.publish.shop.size: 1,000,000 B exceed the maximum"):
        shopping("workload.publish.shop.size=1 MB")
    with pytest.raises(UserError, match=r"mac.max_message = 500 B"):
        shopping("mac.max_message=500 B")
    limited = SCHEDULED.replace("[nodes.all]", 'mac.max_message = "98 B"\n[nodes.all]')
    (tmp_path / "s.toml").write_text(limited)
    (tmp_path / "plan.csv").write_text("time,publisher,size\n1,0,98\n2,0,99\n")
    with pytest.raises(UserError, match=r"plan.csv:3: size: 99 B exceed the maximum message size"):
        load(tmp_path / "s.toml")


def test_a_routers_message_larger_than_a_frame_is_dropped_and_told():
    street = {
        "name": "street",
        "area": {"width": 300, "height": 10},
        "duration": 20,
        "nodes": {"all": {"count": 3, "at": [(0, 0), (100, 0), (200, 0)]}},
        "workload": {
            "types": {"news": {}},
            "publish": {"all": {"count": 1, "every": 5, "size": 20, "content": {"type": "news"}}},
        },
    }
    sizes = {}
    for most in (65_535, 30):
        scenario = Scenario.model_validate(street | {"mac": {"max_message": most}})
        facts = simulate(scenario, "dsdv-unicast", 1)
        sizes[most] = max(facts["transmissions"]["size"].to_pylist(), default=0)
        causes = Counter(facts["drops"]["cause"].to_pylist())
        assert causes["too_large"] == facts.run.frames.get("too_large", 0)
        assert (causes["too_large"] > 0) is (most == 30)
    assert sizes[30] <= 30 < sizes[65_535]
