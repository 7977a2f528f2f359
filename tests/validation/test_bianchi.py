"""The analysis of a saturated cell against a slot-by-slot simulation of the same rules, a few lines long."""

from random import Random

import pytest

from validation import bianchi


def play(stations, access, events, seed=1):
    """The slow twin: every station counts its own slots; successes a second."""
    random = Random(seed)
    stage = [0] * stations
    left = [random.randrange(access.windows[0]) for _ in range(stations)]
    time = good = 0.0
    for _ in range(events):
        slots = min(left)
        senders = [n for n in range(stations) if left[n] == slots]
        left = [slot - slots for slot in left]
        time += slots * bianchi.SLOT + (access.success if len(senders) == 1 else access.collision)
        good += len(senders) == 1
        for n in senders:
            stage[n] = 0 if len(senders) == 1 else (stage[n] + 1) % len(access.windows)
            left[n] = random.randrange(access.windows[stage[n]])
    return good / time


def test_airtimes_are_those_of_the_standard():
    assert bianchi.airtime(512, 1e6) == pytest.approx(4.720e-3)
    assert bianchi.airtime(512, 2e6) == pytest.approx(2.456e-3)
    assert pytest.approx(364e-6) == bianchi.EIFS
    assert bianchi.retry_windows() == (31, 63, 127, 255, 511, 1023, 1023)


def test_a_station_alone_is_the_arithmetic_by_hand():
    assert bianchi.saturate(1, bianchi.unicast(512, rts=False)).per_second == pytest.approx(1 / 3120e-6)


@pytest.mark.parametrize("stations", [2, 5, 20])
def test_broadcast_agrees_with_its_slow_twin(stations):
    access = bianchi.broadcast(512)
    expected = play(stations, access, 40_000)
    assert bianchi.saturate(stations, access).per_second == pytest.approx(expected, rel=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("stations", [5, 20, 50])
@pytest.mark.parametrize("rts", [False, True])
def test_unicast_agrees_with_its_slow_twin(stations, rts):
    access = bianchi.unicast(512, rts=rts)
    expected = play(stations, access, 60_000)
    assert bianchi.saturate(stations, access).per_second == pytest.approx(expected, rel=0.02)
