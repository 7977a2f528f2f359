"""RAFT-CBR in the radio world: what it misses in the shopping district, nobody could have delivered.

A subscription that is still on its way when an event is published, and an event whose path lasted for a few
seconds only, are told apart from losses; there must be next to none of them.
"""

from pathlib import Path

import pytest

from roamcast.facts.story import tally
from roamcast.facts.why import PROVEN, Cause
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
# Positions every second make the proof fine; a quiet last minute leaves late events the time to arrive.
SETTINGS = ['sample="1 s"', 'quiet="60 s"']


def misses(seed, settings):
    causes, expected = tally(simulate(load(SHOPPING, settings), "raft-cbr", seed))
    return {each.cause: each.times for each in causes}, expected


def check(seeds, settings):
    expected, unproven = 0, 0
    for seed in seeds:
        causes, all_expected = misses(seed, settings)
        assert causes.keys() <= {*PROVEN, Cause.NOT_YET_KNOWN, Cause.UNFINISHED}, f"seed {seed}: {causes}"
        expected += all_expected
        unproven += sum(times for cause, times in causes.items() if cause not in PROVEN)
    assert unproven < 0.001 * expected


def test_five_minutes_of_the_district():
    check([2], [*SETTINGS, 'duration="300 s"', 'warmup="100 s"'])


@pytest.mark.slow
def test_ten_seeds_of_the_district():
    check(range(1, 11), SETTINGS)
