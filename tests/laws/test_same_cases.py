"""`make test` is the same every time: generated cases are derandomised, and searched at random on request."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
SHOW = "import tests.conftest; from hypothesis import settings; print(settings().derandomize)"


@pytest.mark.skipif("ROAMCAST_SEARCH" in os.environ, reason="make validate searches at random")
def test_generated_cases_are_the_same_each_time():
    assert settings().derandomize


def test_a_search_at_random_is_asked_for_by_name():
    for search, expected in (("", "True\n"), ("1", "False\n")):
        environment = os.environ | {"ROAMCAST_SEARCH": search}
        found = subprocess.run(
            [sys.executable, "-c", SHOW],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout == expected


def test_make_test_does_not_search_and_make_validate_does():
    def recipe(target):
        made = subprocess.run(
            ["make", "--dry-run", "--always-make", target],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return [line for line in made.stdout.splitlines() if "-m pytest" in line]

    assert not any("ROAMCAST_SEARCH" in line for line in recipe("test"))
    assert all("ROAMCAST_SEARCH=1" in line and "hypothesis" in line for line in recipe("validate"))
