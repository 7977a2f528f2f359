"""Facts that have the right shape and speak of nodes or events that are not there are refused in a line."""

import msgspec
import pytest

from roamcast.facts.tables import FactsError
from roamcast.why.presentation.tally import tally

from .invented import ASKED, STILL, facts, legs, losing, table

LINE = [(0, 0), (200, 0), (400, 0)]


@pytest.mark.parametrize(
    ("name", "row", "result"),
    [
        ("expectations", (1, 9), "expectations: there is no node 9; the run has nodes 0 to 2"),
        ("expectations", (7, 2), "expectations: event 7 is not in the table publications"),
        ("deliveries", (7, 2, 11.0), "deliveries: event 7 is not in the table publications"),
        ("deliveries", (1, -1, 11.0), "deliveries: there is no node -1"),
        ("interests", (0.0, 5, "/news", True), "interests: there is no node 5"),
        ("interests", (0.0, 2, "/news[", True), "a filter in the facts cannot be read"),
        ("drops", losing(10.2, 3, 1, "collided"), "drops: there is no node 3"),
        ("states", (1.0, 4, "up", 0.0), "states: there is no node 4"),
        ("publications", (9 << 32 | 1, 10.0, 9, 512, "{}"), "names a publisher that the run does not have"),
        ("publications", (1, 10.0, 0, 512, "{"), "an event in the facts cannot be read"),
        (
            "requests",
            (1, 1, 1.0, "/news", "satisfied", 2.0, 77, True),
            "requests: event 77 is not in the table publications",
        ),
    ],
)
def test_rows_of_another_world(name, row, result):
    damaged = facts(STILL, sent=ASKED)
    damaged.tables[name] = table(name, row)
    if name == "publications" and row[0] != 1:
        damaged.tables["expectations"] = table("expectations")
    with pytest.raises(FactsError, match=result.replace("[", r"\[")):
        tally(damaged)


def test_a_leg_of_nobody():
    with pytest.raises(FactsError, match="legs: there is no node 3"):
        tally(facts(legs((0.0, [*LINE, (0, 0)]))))


def test_traits_that_are_no_times():
    for trait in ({"subscription_lease": "long"}, {"recall": [1]}, {"recall": True}):
        with pytest.raises(FactsError, match="expected a number of seconds"):
            tally(facts(STILL, traits=trait))


def test_a_scenario_that_does_not_say_how_long_one_waits():
    damaged = facts(STILL)
    workload = damaged.run.resolved["workload"] | {"request": {"all": {}}}
    damaged.run = msgspec.structs.replace(damaged.run, resolved=damaged.run.resolved | {"workload": workload})
    with pytest.raises(FactsError, match="the request timeouts"):
        tally(damaged)
