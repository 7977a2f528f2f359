"""Each paper has a notebook, and each notebook runs."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_every_campaign_has_its_notebook_as_it_is_written():
    spec = importlib.util.spec_from_file_location("write", ROOT / "notebooks" / "write.py")
    write = sys.modules["write"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(write)
    assert {path.stem for path in NOTEBOOKS} == {path.stem for path in (ROOT / "campaigns").glob("*.toml")}
    for paper in write.PAPERS:
        kept = (ROOT / "notebooks" / f"{paper.name}.ipynb").read_text()
        assert kept == write.render(paper), "run: python notebooks/write.py"


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="make validate installs it")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=900, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code[1:]), "every cell but the first shows something"
    assert "image/png" in json.dumps(code[2].outputs)
