from pathlib import Path

import pytest

from roamcast.facts.tables import Facts
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


@pytest.fixture(scope="session")
def shopping(tmp_path_factory):
    """Folders of the facts of 90 s of the shopping district, by protocol."""
    world = load(SHOPPING, ["duration='90 s'", "warmup='30 s'"])
    folders = {}
    for protocol in ("cbr", "clone"):
        folders[protocol] = tmp_path_factory.mktemp(protocol)
        simulate(world, protocol, 1, folder=folders[protocol])
    return folders


@pytest.fixture(scope="session")
def facts(shopping):
    """The facts of CBR."""
    return Facts.read(shopping["cbr"])
