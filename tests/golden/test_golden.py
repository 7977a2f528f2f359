"""Two small runs whose facts are known: a change here is a change of results, and must be meant.

If it is meant, write the new digests with `python tests/golden/test_golden.py` and say in the change why
results differ.
"""

import json
from pathlib import Path

import pytest

import roamcast

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
RUNS = {"square": "flooding", "relay": "dsdv-unicast"}
SEED = 11


def digests(name):
    return roamcast.run(HERE / f"{name}.toml", RUNS[name], SEED).facts.digests()


@pytest.mark.parametrize("name", RUNS)
def test_the_facts_of_a_known_run_have_not_changed(name):
    assert digests(name) == json.loads(DIGESTS.read_text())[name]


def test_the_known_runs_are_worth_knowing():
    square = roamcast.run(HERE / "square.toml", RUNS["square"], SEED).metrics
    assert square.delivered > 100
    assert square.frames["collided"] > 100
    relay = roamcast.run(HERE / "relay.toml", RUNS["relay"], SEED).metrics
    assert 0 < relay.delivered < relay.expected
    assert relay.frames["ack"] > 50
    assert relay.frames["retry_limit"] > 0


if __name__ == "__main__":
    DIGESTS.write_text(json.dumps({name: digests(name) for name in RUNS}, indent=2) + "\n")
