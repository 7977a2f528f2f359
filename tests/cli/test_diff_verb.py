import json
from pathlib import Path

import pytest
from in_process import roamcast

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """The same short run twice, and the one of another seed."""
    folder = tmp_path_factory.mktemp("runs")
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        ended = roamcast(
            "run", GOLDEN / "square.toml", "--seed", seed, "--facts", folder / name,
            *("--set", "duration='8 s'", "--json"),
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
    return folder


def test_two_runs_of_one_seed_are_equal(seeds):
    ended = roamcast("diff", seeds / "one", seeds / "again")
    assert (ended.returncode, ended.stdout) == (0, "equal: both runs have the same facts\n")
    record = json.loads(roamcast("diff", seeds / "one", seeds / "again", "--json").stdout)
    assert record == {"equal": True, "run": [], "counts": [], "code": [], "tables": []}


def test_two_seeds_part_at_a_row_that_is_shown(seeds):
    ended = roamcast("diff", seeds / "one", seeds / "other")
    assert ended.returncode == 1
    assert "seed  1 / 2" in ended.stdout
    assert "publications: row 0 is the first that differs" in ended.stdout
    asked = roamcast("diff", seeds / "one", seeds / "other", "--json")
    record = json.loads(asked.stdout)
    assert asked.returncode == 1 and record["equal"] is False
    assert record["run"] == [{"key": "seed", "ours": 1, "theirs": 2}]
    parting = next(each for each in record["tables"] if each["table"] == "publications")
    assert parting["ours"]["time"] != parting["theirs"]["time"]
    assert "time" in parting["columns"]


def test_a_setting_that_differs_is_named_by_its_place_in_the_scenario(seeds, tmp_path):
    ended = roamcast(
        "run", GOLDEN / "square.toml", "--facts", tmp_path / "far", "--json",
        *("--set", "duration='8 s'", "--set", "radio.range='200 m'"),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    record = json.loads(roamcast("diff", seeds / "one", tmp_path / "far", "--json").stdout)
    assert {"key": "resolved.radio.range", "ours": 250.0, "theirs": 200.0} in record["run"]
    assert "legs" not in [parting["table"] for parting in record["tables"]]


def test_what_is_no_run_is_told_in_a_line(seeds, tmp_path):
    for other, expected in ((tmp_path / "nothing", "no such folder"), (tmp_path, "no run.json")):
        ended = roamcast("diff", seeds / "one", other)
        assert ended.returncode == 2 and expected in ended.stderr and "Traceback" not in ended.stderr
