"""Where nobody keeps still, TPSR and P-PUBS keep the promise of a healed network: the swarm again."""

import msgspec
import pytest

from roamcast.routing.router import Drop
from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.judge import judge
from roamcast.testing.swarm.play import play

MANY = {"copies": 1000}
EVERYONE_REPEATS = {"tpsr": {"subscription": MANY, "last_resort": MANY}, "p-pubs": MANY}


def history(seed, protocol):
    drawn = draw(seed, protocol)
    return msgspec.structs.replace(drawn, parameters=EVERYONE_REPEATS[protocol], cramped=False)


@pytest.mark.parametrize("protocol", EVERYONE_REPEATS)
@pytest.mark.parametrize("seed", [2, 3])
def test_in_a_healed_network_everyone_gets_what_it_wants(protocol, seed):
    finding = judge(history(seed, protocol))
    assert finding is None, (finding.law, finding.description)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", EVERYONE_REPEATS)
def test_in_many_healed_networks_everyone_gets_what_it_wants(protocol):
    for seed in range(100, 200):
        finding = judge(history(seed, protocol))
        assert finding is None, (seed, finding.law, finding.description)


def test_the_promise_is_asked_of_events_that_nobody_kept_back():
    record = play(history(2, "tpsr"))
    assert record.probes and record.subscriptions
    assert not any(drop.reason is Drop.SUPPRESSED for drop in record.drops)
