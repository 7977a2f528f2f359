"""A short swarm over all protocols; `make swarm` is the long one."""

import json

import pytest

from roamcast.cli.app import invoke
from roamcast.routing.reference import own_protocols
from roamcast.routing.router_file import add_file
from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.explore import explore
from roamcast.testing.swarm.judge import judge
from roamcast.testing.swarm.play import play

HISTORIES = {
    "flooding": 20,
    "cbr": 12,
    "ft-cbr": 8,
    "raft-cbr": 5,
    "p-pubs": 16,
    "tpsr": 5,
    "dsdv-unicast": 14,
    "aodv-unicast": 6,
    "dsr-unicast": 6,
    "odmrp": 6,
    "pubsub-odmrp": 3,
    "gpsr-unicast": 3,
    "grid-cbr": 1,
    "clone": 1,
}
"More of what takes little time."

FAILING = """
from roamcast.routing.flooding import Flooding

class Failing(Flooding):
    def publish(self, event):
        raise RuntimeError("no")
"""


@pytest.mark.parametrize("protocol", own_protocols())
def test_whatever_happens_the_laws_hold(protocol):
    for seed in range(HISTORIES[protocol]):
        finding = judge(draw(seed, protocol))
        assert finding is None, (seed, finding.law, finding.description)


def test_histories_contain_what_the_laws_are_about():
    records = [play(draw(seed, "flooding")) for seed in range(100, 124)]
    for rows in ("deliveries", "lost", "drops", "probes"):
        assert sum(bool(getattr(record, rows)) for record in records) > 12, rows
    assert sum(any(got.time > record.settled_at for got in record.deliveries) for record in records) > 12
    assert any(
        span.single and span.end < record.left_at for record in records for span in record.subscriptions
    )
    assert any(life.incarnation for record in records for life in record.incarnations)


def test_the_command_plays_one_history_of_a_seed(capsys):
    assert invoke(["swarm", "flooding", "--seed", "3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {"seed": 3, "histories": {"flooding": 1}, "findings": [], "violations": {}}


def test_every_history_that_breaks_a_law_is_counted_and_the_first_is_reported(tmp_path):
    file = tmp_path / "failing.py"
    file.write_text(FAILING)
    name = add_file(f"{file}:Failing")
    seen = []
    found = explore([name], 1, seconds=20.0, shrinking=0.0, most=3, report=seen.append)
    assert found.histories == {name: 3}
    assert found.violations[name]["unbroken"] == 3
    assert [finding.law for finding in seen].count("unbroken") == 1
    assert {finding.law for finding in found.findings} == found.violations[name].keys()


def test_a_protocol_that_is_not_known_is_the_users_mistake(capsys):
    assert invoke(["swarm", "floding"]) == 2
    assert "did you mean 'flooding'" in capsys.readouterr().err
