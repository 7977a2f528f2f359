import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from roamcast.scenario.read import ScenarioError, load
from roamcast.scenario.shipped import locate, shipped

ROOT = Path(__file__).parents[2]


def test_shipped_scenarios_are_found_by_name():
    assert {"shopping", "open-field"} <= shipped("scenarios").keys()
    assert load(locate("shopping")).name == "shopping"


def test_a_path_is_a_path_and_a_wrong_name_gets_a_hint(tmp_path):
    assert locate(str(tmp_path / "x.toml")) == tmp_path / "x.toml"
    with pytest.raises(ScenarioError, match="did you mean 'shopping'"):
        locate("shoping")


@pytest.mark.slow
def test_a_wheel_carries_the_scenarios(tmp_path):
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
    ]
    subprocess.run([*build, "-C", f"build-dir={tmp_path / 'build'}", str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for path in shipped("scenarios").values():
        assert f"roamcast/shipped/scenarios/{path.name}" in names
