"""Keys by which nodes crash, fall silent, arrive late and leave, and keys by which they ask."""

import pytest

from roamcast.scenario.read import load

from .test_read import MINIMAL, complaint, scenario

CRASHING = "[faults.relays]\ngroup = 'all'\ncrash = { every = '60 s', down = '20 s' }\n"
ASKING = "[workload.types.news]\n[workload.request.all]\nevery = '10 s'\ninterest = ['/news']\n"


def test_faults_and_requests_are_read_with_their_units(tmp_path):
    s = scenario(
        tmp_path,
        MINIMAL + CRASHING + ASKING + "[faults.two]\nnodes = [1]\narrive = '5 s'\n"
        "leave = { min = '20 s', max = '30 s' }\nradio = { at = ['7 s'], down = '1 s' }",
    )
    assert (s.faults["relays"].crash.every, s.faults["relays"].crash.down) == (60, 20)
    assert s.faults["two"].arrive == (5, 5)
    assert s.faults["two"].leave == (20, 30)
    assert s.faults["two"].radio.at == [7]
    assert s.workload.request["all"].timeout == 30


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (CRASHING.replace("'all'", "'al'"), "s.toml:8: faults.relays.group: no group of nodes has this name"),
        (
            CRASHING.replace("every = '60 s', ", ""),
            'no start times; add every = "60 s" (random) or at = ["60 s"]',
        ),
        (CRASHING.replace(", down = '20 s'", ""), "need a duration, such as down"),
        (CRASHING.replace("'60 s'", "60"), "s.toml:9: faults.relays.crash.every: 60 has no unit"),
        (CRASHING.replace("'60 s'", "'0 s'"), "faults.relays.crash.every: should be greater than 0"),
        (CRASHING.replace("'60 s'", "'1 ns'").replace("'20 s'", "'1 ns'"), "more than 1000000 outages"),
        (CRASHING.replace("crash =", "crush ="), "faults.relays.crush: unknown key; did you mean 'crash'?"),
        (CRASHING + "count = 4", "s.toml:10: faults.relays.count: 4, but the group has only 3 nodes"),
        (CRASHING + "nodes = [1]", "expected either group"),
        ("[faults.x]\nnodes = [3]\nleave = '5 s'", "faults.x.nodes: node 3 is outside the range 0 to 2"),
        ("[faults.x]\nnodes = [1]", "no fault is given; add crash, radio, arrive or leave"),
        ("[faults.x]\nnodes = [1]\ncount = 1\nleave = '1 s'", "count needs a group"),
        (
            "[faults.x]\nnodes = [1]\nleave = { min = '5 s', max = '4 s' }",
            "leave.min must not be later than leave.max",
        ),
        (ASKING.replace("request.all", "request.al"), "workload.request.al: no group of nodes has this name"),
        (ASKING.replace("['/news']", "['/nws']"), "s.toml:10: workload.request.all.interest: "),
        (ASKING.replace("['/news']", "'zone'"), "workload.request.all.interest: there are no zones"),
        (ASKING.replace("['/news']", "[]"), "workload.request.all.interest: "),
        (ASKING.replace("10 s", "1 ns"), "workload.request.all.every: more than 10000000 requests"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path, added, expected):
    assert expected in complaint(tmp_path, MINIMAL + added)


def test_a_scenario_with_faults_and_requests_survives_its_json(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(MINIMAL + CRASHING + ASKING)
    result = load(file)
    assert type(result).model_validate_json(result.model_dump_json(by_alias=True)) == result
