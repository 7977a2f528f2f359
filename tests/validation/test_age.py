"""The validation page is of the current behaviour, and a change of behaviour is noticed."""

from pathlib import Path

import pytest

from validation import ours
from validation.age import behaviour, digest, outdated, tell
from validation.kept import Job
from validation.ns2 import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
CURRENT = {"pair": "01234567", "dsr": "89abcdef"}


def test_the_page_was_measured_with_the_current_behaviour_of_every_row():
    old = outdated(PAGE.read_text(encoding="utf-8"), behaviour())
    assert old is None, old


def test_a_page_of_another_behaviour_names_the_families_and_the_command():
    assert outdated(f"Behaviour of our side: {tell(CURRENT)}.", CURRENT) is None
    message = outdated(f"Behaviour of our side: {tell(CURRENT | {'dsr': '89abcdee'})}.", CURRENT)
    assert message is not None
    assert "behaviour of dsr:" in message
    assert "python -m validation" in message
    assert outdated("no digest", CURRENT) is not None


def test_another_result_is_another_digest_but_other_names_of_causes_are_not():
    def run(**changes):
        known = {"delivery": 0.5, "delay": 0.1, "transmissions": 7, "drops": {"no_route": 2, "expired": 1}}
        return digest([Job(lambda: Outcome(**known | changes), (), {})])

    assert run() == run(drops={"gone": 1, "lost": 2}) == run(cpu_seconds=3.0)
    assert len({run(), run(delay=0.1000001), run(transmissions=8), run(drops={"no_route": 3})}) == 4


@pytest.mark.parametrize("changes", [{"rts": 0}, {"rates": (1e6, 1e6)}])
def test_a_run_with_another_option_has_another_digest(changes):
    places, known = [(0.0, 0.0), (100.0, 0.0)], {"rts": 3000, "rates": (2e6, 1e6)}
    first, second = (Job(ours.flows, (places, [[0, 1]], 1.0, 1), known | more) for more in ({}, changes))
    assert digest([first]) == digest([first]) != digest([second])
