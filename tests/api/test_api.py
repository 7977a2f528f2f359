"""`import roamcast`: its names, what importing costs, and results that show themselves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import roamcast
from roamcast.routing import catalogue
from roamcast.routing.flooding import Flooding

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"
NAMES = {
    "Campaign",
    "EventType",
    "Facts",
    "Filter",
    "Mesh",
    "Message",
    "Router",
    "Scenario",
    "compare",
    "lake",
    "run",
}


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_the_public_names_are_these():
    assert set(roamcast.__all__) == NAMES and set(dir(roamcast)) >= NAMES
    for name in NAMES:
        assert callable(getattr(roamcast, name)), name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = roamcast.nothing


def test_importing_the_package_loads_nothing_of_it_but_itself():
    found = python(
        "import sys, json; before = set(sys.modules); import roamcast\n"
        "print(json.dumps(sorted(set(sys.modules) - before - set(sys.stdlib_module_names))))"
    )
    loaded = {
        name for name in json.loads(found.stdout) if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert loaded == {"roamcast"}


def test_importing_the_package_takes_less_than_a_tenth_of_a_second_of_processor_time():
    found = python(
        "import time; began = time.process_time(); import roamcast; print(time.process_time() - began)"
    )
    assert float(found.stdout) < 0.1


def test_a_name_of_the_lab_says_what_to_install():
    found = python("import sys; sys.modules['pyarrow'] = None; import roamcast; roamcast.Facts")
    assert "ImportError: roamcast.Facts needs pyarrow: pip install 'roamcast[lab]'" in found.stderr


def test_lake_stays_callable_whatever_was_imported_before(tmp_path):
    from roamcast.lake.snapshot import LakeError

    with pytest.raises(LakeError, match="no campaign was run here"):
        roamcast.lake(tmp_path)


@pytest.fixture(scope="module")
def result():
    return roamcast.run(SQUARE, "flooding", seed=1)


def test_a_run_shows_itself(result):
    assert repr(result).startswith("<RunResult square, flooding, seed 1: ")
    html = result._repr_html_()
    assert "delivered" in html and "processor time" not in html
    assert "deliveries" in result.facts._repr_html_()


def test_a_run_is_a_row_and_a_figure(result):
    frame = result.to_pandas()
    assert list(frame[["protocol", "seed"]].iloc[0]) == ["flooding", 1]
    assert frame["delivery_rate"].iloc[0] == result.measures["delivery_rate"]
    assert len(result.facts.to_pandas("deliveries")) == len(result.facts["deliveries"])
    figure = result.plot()
    delivered = figure.axes[0].lines[1].get_ydata()
    assert delivered[-1] == result.metrics.delivered
    assert figure._repr_png_().startswith(b"\x89PNG")


class Muffled(Flooding):
    """Floods nothing."""

    def receive(self, message, sender, signal):
        return None


def test_a_router_class_runs_and_is_named_after_itself():
    try:
        assert roamcast.run(SQUARE, Muffled).metrics.delivered == 0
        assert "muffled" in catalogue.names()
    finally:
        catalogue.remove("muffled")
    assert roamcast.run(SQUARE, Flooding).facts.run.protocol == "flooding"


def test_a_scenario_is_read_with_settings():
    scenario = roamcast.Scenario.read(SQUARE)
    assert roamcast.run(scenario).scenario is scenario
    assert roamcast.Scenario.read("shopping", {"duration": "400 s"}).duration == 400.0


@pytest.mark.spark
def test_a_comparison_and_a_campaign_show_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = roamcast.compare(SQUARE, ["flooding", "cbr"], seeds=2, out="out")
    assert set(found.to_pandas()["protocol"]) == {"flooding", "cbr"}
    assert "Delivery rate" in found._repr_html_() and "4 done" in repr(found)
    assert found.plot()._repr_png_().startswith(b"\x89PNG")
    again = roamcast.Campaign.read("out")
    assert again.to_pandas("metrics").equals(found.to_pandas("metrics"))
    campaign = roamcast.Campaign("petrovic", quick=True)
    assert campaign.count_runs() > 10 and "raft-cbr" in campaign._repr_html_()
