"""A studio in a folder with one scenario, asked through its HTTP interface."""

import pytest

from tests.studio.client import SHOPPING, make_client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the studio, with a scenario and a hostile one."""
    place = tmp_path_factory.mktemp("studio")
    text = SHOPPING.read_text()
    (place / "mine.toml").write_text(text)
    return place


@pytest.fixture(scope="module")
def client(folder):
    with make_client(folder) as client:
        yield client


@pytest.fixture
def text():
    return SHOPPING.read_text()
