"""A router's error names protocol, node, simulated time and message."""

import pytest

from roamcast.routing import catalogue
from roamcast.routing.flooding import Flooding
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
def named(monkeypatch):
    def give(router):
        monkeypatch.setitem(catalogue.BUILT_IN, "test", f"{__name__}:{router.__name__}")
        return "test"

    return give


def test_an_error_over_a_message_names_all_of_it(named):
    with pytest.raises(RouterFailed) as caught:
        simulate(WORLD, named(Late), 1)
    error = caught.value
    assert error.protocol == "test" and error.node in (0, 1, 2) and 2.0 < error.time < 3.0
    told = str(error)
    assert f"test failed on node {error.node} at 2." in told
    assert "over Flood" in told and "ZeroDivisionError: integer" in told and "(test_failure.py:" in told
    assert "Traceback" in error.traceback and "_look" in error.traceback
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_an_error_in_a_timer_and_at_the_start_name_node_and_time(named):
    with pytest.raises(RouterFailed, match=r"test failed on node 1 at 3\.250000 s: KeyError"):
        simulate(WORLD, named(Timer), 1)
    with pytest.raises(RouterFailed, match=r"test failed .*at 0\.000000 s: TypeError: no"):
        simulate(WORLD, named(Unborn), 1)
