"""Overhead leaves out the messages whose role is BEACONS, of built-in and of third-party routers."""

from pathlib import Path

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.measuring.incremental import IncrementalMetrics
from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.routing.router import Role
from roamcast.routing.router_file import add_file
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

GOLDEN = Path(__file__).parents[1] / "golden"
SQUARE, STREET = GOLDEN / "square.toml", GOLDEN / "street.toml"

LIGHTHOUSE = '''
from roamcast.routing.flooding import Flooding
from roamcast.wire.message import Category, Message, Role

class Hello(Message, number=200, category=Category.ROUTING, role=Role.BEACON):
    """A node is there."""

class Lighthouse(Flooding):
    """Floods, and says hello every second."""

    messages = (*Flooding.messages, Hello)

    def start(self):
        super().start()
        self.hello()

    def hello(self):
        self.host.broadcast(Hello())
        self.host.call_later(1.0, self.hello)

    def receive(self, message, sender, signal):
        return None if type(message) is Hello else super().receive(message, sender, signal)
'''


@pytest.fixture
def lighthouse(tmp_path):
    """A router in a file that sends beacons."""
    file = tmp_path / "lighthouse.py"
    file.write_text(LIGHTHOUSE)
    name = add_file(f"{file}:Lighthouse")
    yield name
    catalogue.remove(name)


def test_beacons_of_a_third_party_router_are_no_overhead(lighthouse):
    facts = simulate(load(SQUARE), lighthouse, 1)
    found = metric_input(facts)
    kinds = found.transmissions.kinds
    assert kinds["Hello"] > 100 and kinds["Flood"] > 100
    values = evaluate(found, ["overhead", "overhead_weighted", "messages"])
    assert values["overhead"] == kinds["Flood"] and values["messages"] == kinds.total()
    assert values["overhead_weighted"] == 10 * kinds["Flood"]


def test_a_campaign_knows_the_beacons_of_a_third_party_router(lighthouse):
    asked = {
        "title": "beacons",
        "scenario": SQUARE,
        "seeds": 1,
        "protocols": {"lighthouse": {}, "flooding": {}},
        "sweeps": {"one": {"protocols": ["lighthouse", "flooding"]}},
    }
    plan = make_plan(Campaign.model_validate(asked))
    settings = IncrementalMetrics(None, plan, MetricConstants()).settings
    assert {run.router: settings[run.id].beacons for run in plan.runs} == {
        "lighthouse": {"Hello"},
        "flooding": frozenset(),
    }


def test_announcements_that_odmrp_floods_are_overhead():
    found = metric_input(simulate(load(STREET), "odmrp", 1))
    assert found.transmissions.kinds["Announcement"] > 0
    assert evaluate(found, ["overhead"])["overhead"] == found.transmissions.kinds.total()


def test_no_built_in_beacon_goes_beyond_the_neighbours():
    messages = {message for name in own_protocols() for message in catalogue.find(name).messages}
    beacons = {message for message in messages if not message.envelope and message.role is Role.BEACON}
    assert {beacon.__name__ for beacon in beacons} == {"Beacon", "CommunityBeacon", "MostCovering"}
    assert all(beacon.dedup_field is None for beacon in beacons), (
        "a message with a key is known again when flooded"
    )
