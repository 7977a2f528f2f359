"""A pack holds what the files of a run's folder hold, byte for byte or not at all."""

from pathlib import Path

import pytest

from roamcast.facts.pack import MOST_ROWS, PACK, count_rows, unpack
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
SHORT = ["duration=8 s", "warmup=0 s", "quiet=0 s", "nodes.walkers.count=12"]
SHORT += ["workload.subscribe.walkers.count=8"]


def test_a_short_run_is_packed_and_is_the_same_run(tmp_path):
    scenario = load(SHOPPING, SHORT)
    packed_facts = simulate(scenario, "cbr", 3, folder=tmp_path / "packed", packed=True)
    simulate(scenario, "cbr", 3, folder=tmp_path / "files")
    assert [file.name for file in (tmp_path / "packed").iterdir()] == [PACK]
    file = tmp_path / "packed" / PACK
    about, tables = unpack(file.read_bytes())
    assert about == (tmp_path / "files" / "run.json").read_text()
    kept = Facts.read(tmp_path / "files")
    filled = {name for name in TABLES if len(kept[name])}
    assert tables.keys() == filled > {"legs", "transmissions"}
    for name in filled:
        assert tables[name].equals(kept[name]), name
    assert count_rows(file) == sum(len(kept[name]) for name in TABLES)
    assert packed_facts.digest() == kept.digest()


def test_a_longer_run_has_its_files_all_the_same(tmp_path):
    scenario = load(SHOPPING, ["duration=120 s", "warmup=0 s"])
    packed_facts = simulate(scenario, "flooding", 3, folder=tmp_path / "asked", packed=True)
    assert sum(len(packed_facts[name]) for name in TABLES) > MOST_ROWS
    simulate(scenario, "flooding", 3, folder=tmp_path / "files")
    files = {file.name: file.read_bytes() for file in (tmp_path / "files").iterdir()}
    assert {file.name: file.read_bytes() for file in (tmp_path / "asked").iterdir()} == files


@pytest.mark.parametrize("cut", [1, 400])
def test_a_pack_that_is_not_whole_is_refused(tmp_path, cut):
    simulate(load(SHOPPING, SHORT), "flooding", 3, folder=tmp_path, packed=True)
    whole = (tmp_path / PACK).read_bytes()
    for other in (whole[:-cut], whole + b"x" * cut):
        with pytest.raises(ValueError, match="truncated or damaged"):
            unpack(other)
