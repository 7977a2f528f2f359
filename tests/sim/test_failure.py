"""A router's error names protocol, node, simulated time and message."""

import sys
from typing import Any, ClassVar

import pytest

from roamcast.routing.flooding import Flooding
from roamcast.routing.router import Publication
from roamcast.scenario.model import Scenario
from roamcast.sim.failure import RouterFailed
from roamcast.sim.run import simulate

WORLD = Scenario.model_validate(
    {
        "name": "pair",
        "area": {"width": 100.0, "height": 100.0},
        "duration": 30.0,
        "nodes": {"both": {"count": 3, "at": [[10.0, 10.0], [20.0, 10.0], [30.0, 10.0]]}},
        "workload": {
            "publish": {
                "both": {
                    "count": 1,
                    "every": 5.0,
                    "phase": 2.0,
                    "content": {"type": "alert", "values": {"level": 3}},
                }
            }
        },
    }
)


class Late(Flooding):
    """Fails over the first message that it hears."""

    def receive(self, message, sender, signal):
        return self._look(message)

    def _look(self, message):
        return 1 // (message.hops - message.hops)


class Timer(Flooding):
    """Fails in a timer."""

    def start(self):
        super().start()
        if self.host.node == 1:
            self.host.call_later(3.25, self.tick)

    def tick(self):
        raise KeyError("nothing there")


class Unborn(Flooding):
    """Fails before it is there."""

    def __init__(self, host, parameters=None):
        raise TypeError("no")


@pytest.fixture
def named(added):
    def give(router):
        added("test", router)
        return "test"

    return give


def test_an_error_over_a_message_names_all_of_it(named):
    with pytest.raises(RouterFailed) as caught:
        simulate(WORLD, named(Late), 1)
    error = caught.value
    assert error.protocol == "test" and error.node in (0, 1, 2) and 2.0 < error.time < 3.0
    message = str(error)
    assert f"test failed on node {error.node} at 2." in message
    assert (
        "over Flood" in message and "ZeroDivisionError: integer" in message and "(test_failure.py:" in message
    )
    assert "Traceback" in error.traceback and "_look" in error.traceback
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_an_error_in_a_timer_and_at_the_start_name_node_and_time(named):
    with pytest.raises(RouterFailed, match=r"test failed on node 1 at 3\.250000 s: KeyError"):
        simulate(WORLD, named(Timer), 1)
    with pytest.raises(RouterFailed, match=r"test failed .*at 0\.000000 s: TypeError: no"):
        simulate(WORLD, named(Unborn), 1)


class Wrong(Flooding):
    """Returns a value that is no Drop, if it hears something."""

    value: ClassVar[Any] = None

    def receive(self, message, sender, signal):
        return self.value


class Inventing(Flooding):
    """Delivers what nobody published."""

    def receive(self, message, sender, signal):
        known = message.publication
        self.host.deliver(Publication(known.publisher, known.sequence + 1, known.event))


class Meddling(Flooding):
    """Uses the host of node 2, whichever node it is on."""

    hosts: ClassVar[dict[int, Any]] = {}
    at_publishing: ClassVar[bool] = False

    def __init__(self, host, parameters=None):
        super().__init__(host, parameters)
        self.hosts[host.node] = host

    def publish(self, publication):
        if self.at_publishing:
            self._meddle(publication)
        super().publish(publication)

    def receive(self, message, sender, signal):
        self._meddle(message.publication)

    def _meddle(self, publication):
        other = (self.host.node + 1) % 3
        self.hosts[other].deliver(publication)


class Silent(Flooding):
    """Declares no messages, and sends some."""

    messages = ()


class Quitting(Flooding):
    """Ends the process that it is in."""

    def receive(self, message, sender, signal):
        sys.exit(0)


@pytest.mark.parametrize("value", ["oops", 3.0, True, 0, 40, -1, 1 << 70, [1]])
def test_a_wrong_value_of_receive_names_node_time_and_value(named, monkeypatch, value):
    monkeypatch.setattr(Wrong, "value", value)
    with pytest.raises(RouterFailed, match=r"test failed on node \d at 2\.\d+ s: ") as caught:
        simulate(WORLD, named(Wrong), 1)
    assert "expected None or a Drop" in str(caught.value) or "expected a Drop" in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("router", "message"),
    [
        (Inventing, r"it delivered publication \d+ of node \d, which nobody has published"),
        (Meddling, r"it used the host of node \d"),
        (Silent, r"it sends <class '.*Flood'>, a kind of message that its `messages` do not declare"),
        (Quitting, r"over Flood\(.*SystemExit: 0 \(test_failure.py:"),
    ],
)
def test_a_broken_contract_names_protocol_node_and_time(named, router, message):
    with pytest.raises(RouterFailed, match=rf"test failed on node \d at 2\.\d+ s.*{message}") as caught:
        simulate(WORLD, named(router), 1)
    assert caught.value.node in (0, 1, 2)


def test_another_nodes_host_is_not_used_while_publishing_either(named, monkeypatch):
    monkeypatch.setattr(Meddling, "at_publishing", True)
    with pytest.raises(RouterFailed, match=r"at 2\.000000 s: it used the host of node \d"):
        simulate(WORLD, named(Meddling), 1)


def test_a_drop_for_no_known_reason_is_the_routers_failure(named):
    with pytest.raises(RouterFailed, match="it gave 50 as its reason to drop a message"):
        simulate(WORLD, named(Dropping), 1)


class Dropping(Flooding):
    """Drops what it hears for a reason of its own."""

    def receive(self, message, sender, signal):
        self.host.drop(message, 50)
