"""The core (content, wire, routing, testing) needs msgspec, pydantic and numpy alone, and no kernel."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = {"cryptography", "msgspec", "numpy", "pydantic", "rich", "typer"}
"Live nodes need cryptography; their commands typer and rich."


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def test_the_core_imports_alone_and_every_golden_dialogue_is_the_same_without_the_kernel():
    completed = run(Path(__file__).with_name("without_lab.py"))
    assert completed.returncode == 0, completed.stderr
    found = json.loads(completed.stdout)
    assert not found["kernel"] and not found["differ"]
    assert found["modules"] > 250 and found["dialogues"] > 50


def test_the_core_asks_for_six_libraries():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {each.partition(">")[0] for each in project["dependencies"]} == CORE


def test_the_command_without_the_lab_says_what_to_install():
    hide = "import sys; sys.modules['typer'] = None; from roamcast.cli import main; main()"
    completed = run("-c", hide)
    assert completed.returncode == 2
    assert completed.stderr == "roamcast: the command needs typer: pip install 'roamcast[lab]'\n"


def megabytes(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_wheel_and_sdist_install_in_empty_environments_and_work(tmp_path):
    """Installs the wheel with the libraries of the core, and the sdist with those of the lab."""
    made = tmp_path / "dist"
    build = run("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", made, ROOT)
    assert build.returncode == 0, build.stderr[-3000:]
    sdist = (
        "import os, sys; os.chdir(sys.argv[1]); "
        "from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[2]))"
    )
    built = run("-c", sdist, ROOT, made)
    assert built.returncode == 0, built.stderr[-3000:]
    [wheel], [source] = made.glob("*.whl"), made.glob("*.tar.gz")

    def install(name, *what):
        folder = tmp_path / name
        assert run("-m", "venv", folder).returncode == 0
        python = folder / "bin" / "python"
        before = megabytes(folder)
        record = subprocess.run(
            [python, "-m", "pip", "install", "-q", *map(str, what)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert record.returncode == 0, record.stderr[-3000:]
        return python, megabytes(folder) - before

    def call(python, *arguments):
        record = subprocess.run(
            [python, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert record.returncode == 0, record.stderr[-3000:]
        return record.stdout

    core, size = install("core", wheel)
    assert size < 130, f"the core takes {size:.0f} MB"
    story = (
        "from roamcast.content.filter import Filter; from roamcast.content.schema import EventType\n"
        "from roamcast.testing import Mesh; from roamcast.routing.catalogue import find\n"
        "news = EventType('news', {}); mesh = Mesh.line(3, find('flooding'))\n"
        "mesh.subscribe(2, Filter.everything(news)); mesh.publish(0, news()); mesh.run(for_=1)\n"
        "print(len(mesh.delivered))"
    )
    assert call(core, "-c", story) == "1\n"
    lab, whole = install("lab", f"{source}[lab]")
    short = ("--set", "duration=130 s", "--set", "warmup=60 s")
    record = json.loads(call(lab, lab.with_name("roamcast"), "run", "shopping", *short, "--json"))
    assert record["publications"] > 0
    print(f"core {size:.1f} MB, lab {whole:.1f} MB, wheel {wheel.stat().st_size / 1e6:.2f} MB")
