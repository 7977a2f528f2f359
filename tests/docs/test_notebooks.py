"""Each paper has a notebook, and each notebook runs."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def write():
    spec = importlib.util.spec_from_file_location("write", ROOT / "notebooks" / "write.py")
    module = sys.modules["write"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(cell):
    """What a reader sees of a cell, pictures as such."""
    return [
        "picture"
        if "image/png" in output.get("data", {})
        else output.get("text") or output["data"]["text/plain"]
        for output in cell["outputs"]
    ]


def test_every_campaign_has_its_notebook_as_it_is_written(write):
    assert {path.stem for path in NOTEBOOKS} == {path.stem for path in (ROOT / "campaigns").glob("*.toml")}
    for paper in write.PAPERS:
        kept = json.loads((ROOT / "notebooks" / f"{paper.name}.ipynb").read_text())
        assert write.strip(kept) == write.notebook(paper), "run: python notebooks/write.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    code = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code[1:]), "every cell but the first shows something"
    assert sum("picture" in shown(cell) for cell in code) == 2
    assert "Traceback" not in path.read_text() and str(ROOT) not in path.read_text()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_still_shows_what_is_stored(write, path, tmp_path):
    pytest.importorskip("nbclient", reason="make validate installs it")
    kept = json.loads(path.read_text())
    again = write.execute(write.spell(write.strip(kept)), tmp_path)
    for cell, other in zip(kept["cells"], again["cells"], strict=True):
        if cell["cell_type"] == "code":
            assert shown(other) == shown(cell), "run: python notebooks/write.py"
