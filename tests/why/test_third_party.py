"""Routers that `why` has never heard of get answers, by the roles and traits that they declare."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.routing.router import (
    Category,
    Dissemination,
    Drop,
    Message,
    ProtocolTraits,
    Publication,
    Role,
    Router,
)
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.tally import tally

PACKAGE = Path(__file__).parents[2] / "src" / "roamcast"
PAGE = Path(__file__).parents[2] / "docs" / "routers.md"


class Yearning(Message, number=190, category=Category.CONTROL, role=Role.SUBSCRIPTION):
    """Everything is wanted here; filed under control, where nobody would look for a subscription."""


class Bucket(Message, number=191, category=Category.EVENT, role=Role.EVENT):
    """An event, handed from node to node."""

    publication: Publication


class Brigade(Router):
    """A bucket brigade: node n tells n - 1 every 2 s that it wants all and is handed it; even topics leak."""

    messages = (Yearning, Bucket)

    @classmethod
    def traits(cls, parameters):
        return ProtocolTraits(travel=Dissemination.TREE, subscription_lease=3.0)

    def start(self):
        self.heard = -10.0
        self.host.call_later(0.1 * self.host.node + 0.01, self.yearn)

    def yearn(self):
        if self.host.node > 0:
            self.host.send(Yearning(), self.host.node - 1)
        self.host.call_later(2.0, self.yearn)

    def publish(self, publication):
        self.hand_on(Bucket(publication))

    def hand_on(self, bucket):
        if self.host.now() - self.heard > 3.0:
            self.host.drop(bucket, Drop.EXPIRED)
        else:
            self.host.broadcast(bucket)

    def receive(self, message, sender, signal):
        if type(message) is Yearning:
            self.heard = self.host.now()
            return None
        if sender != self.host.node - 1:
            return Drop.NOT_MINE
        if self.matches(message.publication.event):
            self.host.deliver(message.publication)
            return None
        if message.publication.event["topic"] % 2 == 0:
            return Drop.TABLE_FULL
        self.hand_on(message)
        return None


def line(count, **changes):
    return Scenario.model_validate(
        {
            "name": "line",
            "area": {"width": 2000, "height": 100},
            "duration": 60,
            "nodes": {
                "first": {"count": 1, "at": [(0, 0)]},
                "between": {"count": count - 2, "at": [(200 * n, 0) for n in range(1, count - 1)]},
                "last": {"count": 1, "at": [(200 * (count - 1), 0)]},
            },
            "workload": {
                "publish": {
                    "first": {
                        "every": 2,
                        "phase": 1,
                        "content": {"type": "news", "values": {"topic": [1, 2, 3]}},
                    }
                },
                "subscribe": {"last": {"interest": ["/news"]}},
            },
        }
        | changes
    )


def test_a_brigade_is_climbed_by_its_wishes_to_the_bucket_that_leaked(added):
    added("brigade", Brigade)
    run = simulate(line(4), "brigade", 1)
    events = tally(run).events
    assert 3 < events.missed < events.expected
    assert [each.cause for each in events.causes] == ["table_full"]
    publisher, sequence = map(int, events.causes[0].about.split("/"))
    story = explain_event(run, publisher << 32 | sequence, 3).story
    assert any("node 2 did not receive it" in sentence for sentence in story)
    assert any("node 1: a table or buffer was full" in sentence for sentence in story)


def test_a_brigade_whose_link_in_the_middle_is_gone(added):
    added("brigade", Brigade)
    run = simulate(line(4, faults={"x": {"nodes": [2], "crash": {"at": [30]}}}), "brigade", 1)
    causes = {each.cause: each for each in tally(run).events.causes}
    assert causes.keys() == {"cut_off"}
    assert causes["cut_off"].times == causes["cut_off"].proven == 15


@pytest.fixture
def gossip(monkeypatch, added):
    """The router of the page, as it stands there."""
    module = ModuleType("gossip_of_the_page")
    exec(re.findall(r"```python[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)[0], vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    added("gossip", module.Gossip)


def test_gossip_that_somebody_kept_to_himself(gossip):
    run = simulate(line(5), "gossip", 1)
    events = tally(run).events
    assert 5 < events.missed < events.expected
    causes = {each.cause: each.times for each in events.causes}
    assert events.explained == 1 and causes["suppressed"] > events.missed / 2


def test_why_knows_no_router_message_or_parameter_by_name():
    text = "\n".join(path.read_text() for path in sorted((PACKAGE / "why").glob("*.py")))
    words = set(re.findall(r"\w+", text))
    # Reasons, traits, categories, facts and what a link does belong to every router; that a parameter is
    # called the same is no matter.
    spoken = {
        *(reason.name.lower() for reason in Drop),
        *ProtocolTraits.__struct_fields__,
        "requests",
        "timeout",
    }
    spoken.update(category.name.lower() for category in Category)
    for name in own_protocols():
        router = catalogue.find(name)
        known = {router.__name__, *(message.__name__ for message in router.messages)}
        assert not known & words, name
        parameters = set(router.parameters_type.model_fields) - spoken
        assert not parameters & set(re.findall(r"[\"'](\w+)[\"']", text)), name
    assert "parameters" not in words
