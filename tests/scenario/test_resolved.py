"""A scenario spelled out says all of it, in plain data, and is the same scenario when it is read again."""

import json
from pathlib import Path

import pytest

from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load
from roamcast.scenario.resolved import digest_files, resolve
from roamcast.scenario.shipped import shipped
from roamcast.sim.run import simulate

ROOT = Path(__file__).parents[2]
FILES = [*shipped("scenarios").values(), *(ROOT / "tests" / "golden").glob("*.toml")]


def _named(result):
    """The keys of the files that a spelled-out scenario names, in parts, each with the file's name."""
    workload = result["workload"]
    if result["mobility"] is not None:
        yield ("mobility", "ns2"), result["mobility"]["ns2"]
    if workload["schedule"] is not None:
        yield ("workload", "schedule"), workload["schedule"]
    for number, name in enumerate(workload["schema"]):
        yield ("workload", "schema", number), name
    for group, publishing in workload["publish"].items():
        if isinstance(publishing["content"], dict):
            for number, name in enumerate(publishing["content"].get("documents", [])):
                yield ("workload", "publish", group, "content", "documents", number), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_spelled_out_is_plain_and_reads_back_as_the_same(file):
    scenario = load(file)
    plain = resolve(scenario)
    record = json.loads(json.dumps(plain))
    # It runs where the files that it names are; their names have lost their folder.
    with_files = {path.name: path for path in file.parent.rglob("*") if path.is_file()}
    for key, name in _named(record):
        *outer, last = key
        inner = record
        for part in outer:
            inner = inner[part]
        inner[last] = str(with_files[name])
    again = Scenario.model_validate(record)
    assert again.content.types == scenario.content.types
    assert resolve(again) == plain


DATED = """\
name = "dated"
area = { width = "400 m", height = "300 m" }
duration = "20 s"
[nodes.all]
count = 4
[workload.zones]
side = "100 m"
[workload.publish.all]
every = "5 s"
content = { type = "note", values = { day = [2005-03-08, 2005-03-09], level = [1, 2.5], loud = true } }
[workload.subscribe.all]
interest = ["/note[day = '2005-03-09']", "/coupon[zone = 3]"]
"""


def test_types_that_were_inferred_are_declared_and_the_run_is_the_same(tmp_path):
    file = tmp_path / "dated.toml"
    file.write_text(DATED)
    record = json.loads(json.dumps(resolve(load(file))))
    assert record["workload"]["types"] == {
        "coupon": {"zone": {"kind": "integer", "min": 1, "max": 12}},
        "note": {"day": "date", "level": "decimal", "loud": "boolean"},
    }
    ours, theirs = (
        simulate(scenario, "flooding", 1) for scenario in (load(file), Scenario.model_validate(record))
    )
    assert len(ours["expectations"]) > 10
    assert ours.digest() == theirs.digest()


def test_files_are_named_without_folders_and_known_by_their_content():
    relay = load(ROOT / "tests" / "golden" / "relay.toml")
    result = resolve(relay)
    assert (result["mobility"]["ns2"], result["workload"]["schedule"]) == ("relay.mov", "relay.csv")
    digests = digest_files(relay)
    assert digests.keys() == {"mobility.ns2", "workload.schedule"}
    assert all(len(digest) == 64 for digest in digests.values()) and len(set(digests.values())) == 2
    assert digest_files(load(ROOT / "tests" / "golden" / "square.toml")) == {}


def test_the_facts_of_a_run_tell_its_scenario_and_are_the_same_in_every_folder(tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        for name in ("relay.toml", "relay.mov", "relay.csv"):
            (tmp_path / folder / name).write_bytes((ROOT / "tests" / "golden" / name).read_bytes())
    here, there = (simulate(load(tmp_path / f / "relay.toml"), "flooding", 1) for f in ("here", "there"))
    assert here.run == there.run
    assert here.run.resolved["area"] == {"width": 900.0, "height": 400.0}
    assert here.run.kinds["Flood"].category == "event"
