"""How much longer a node waits for what it sees around it."""

from types import SimpleNamespace

import pytest

from roamcast.routing.tpsr.conditions import LEAST, MEMORY, MOST, USUAL_NEIGHBOURS, WEIGHT, LocalConditions


def crowd(neighbours, clock):
    conditions = LocalConditions(SimpleNamespace(now=lambda: clock[0]))
    for neighbour in range(neighbours):
        conditions.hear(neighbour)
    return conditions


def test_the_wait_follows_the_neighbours_heard_lately_within_its_bounds():
    clock = [0.0]
    assert crowd(0, clock).scale() == LEAST
    assert crowd(22, clock).scale() == pytest.approx(22 / USUAL_NEIGHBOURS)
    assert crowd(500, clock).scale() == MOST
    conditions = crowd(22, clock)
    clock[0] = MEMORY + 1
    assert conditions.scale() == LEAST


def test_the_wait_grows_with_the_share_of_jobs_that_had_to_be_sent_again():
    conditions = crowd(22, [0.0])
    usual = conditions.scale()
    conditions.observe(True)
    assert conditions.scale() == pytest.approx(usual * (1 + WEIGHT))
    for _ in range(400):
        conditions.observe(True)
    assert conditions.scale() == pytest.approx(2 * usual)
    for _ in range(400):
        conditions.observe(False)
    assert conditions.scale() == pytest.approx(usual)
