"""Every bench can be imported: what it measures changes its names now and then."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from random import Random

import pytest

import bench
from roamcast.campaign.plan import make_plan
from roamcast.scenario.locality.hubs import place_hubs
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate

NAMES = sorted(each.name for each in pkgutil.iter_modules(bench.__path__) if not each.name.startswith("_"))


@pytest.mark.parametrize("name", NAMES)
def test_a_bench_finds_what_it_measures(name):
    assert import_module(f"bench.{name}").__doc__


def test_the_tiny_runs_of_growth_can_be_planned():
    from bench.growth import tiny

    assert len(make_plan(tiny(2_000)).runs) == 2_000


@pytest.mark.parametrize("nodes", [200, 800, 3_200, 12_800])
def test_the_city_can_grow(nodes):
    from bench.city import PROTOCOLS, settings

    city = load(locate("city"), settings(nodes))
    assert city.count == nodes
    assert nodes / (city.area.width * city.area.height) == pytest.approx(50e-6, rel=1e-3)
    for protocol in PROTOCOLS:
        assert city.parameters(protocol)
    assert len(place_hubs(city, 101)) == nodes // 50


def test_there_are_benches():
    assert {"flooding", "match", "pipeline", "reactive", "tpsr"} <= set(NAMES)


LARGE_PARENT = """
import subprocess, sys
held = bytearray(400 << 20)
child = "from bench.memory import peak_memory; print(peak_memory())"
print(subprocess.run([sys.executable, "-c", child], check=True, capture_output=True, text=True).stdout)
"""


def test_the_peak_memory_of_a_child_is_its_own_not_its_parents():
    done = subprocess.run([sys.executable, "-c", LARGE_PARENT], check=True, capture_output=True, text=True)
    assert 1 << 20 < int(done.stdout) < 200 << 20


def test_benches_run_in_processes_of_their_own():
    listing = "import sys, bench.__main__ as m; print(*m.names()); assert 'roamcast' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", listing], check=True, capture_output=True, text=True)
    assert {"flooding", "growth", "long_run"} <= set(done.stdout.split())
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "none-such"], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1 and "failed: none-such" in ended.stderr


def test_a_run_of_the_scale_bench_has_phases_and_the_load_of_all_sizes(tmp_path):
    from bench.scale import measure, write_scenario

    world = load(write_scenario(tmp_path, 300, "moving", 30))
    assert world.count == 300 and world.count / (world.area.width * world.area.height) == pytest.approx(
        140e-6
    )
    assert len(world.content.scheduled) / world.count / (world.duration - 2) == pytest.approx(1 / 15 / 20)
    found = measure(60, "static", 2)
    assert found["sent"] > 30 and found["delivered"] > 30 and found["memory"] > 1 << 20
    assert min(found[phase] for phase in ("set-up", "simulation", "facts", "metrics")) >= 0


@pytest.mark.parametrize("fanout", [2, 3, 8, 40])
def test_a_hierarchy_of_summaries_admits_what_its_lowest_level_admits(fanout):
    from bench.summary_hierarchy import SummaryHierarchy, quotes
    from roamcast.content.summary import EventDigest, Summary

    filters, events = quotes(Random(3), 40, 150)
    leaves = [Summary.of(filters[n : n + 2]) for n in range(0, 40, 2)]
    tree = SummaryHierarchy(leaves, fanout)
    fewer = 0
    for digest in map(EventDigest.of, events):
        flat = [place for place, summary in enumerate(leaves) if summary.admits(digest)]
        found, compared = tree.admitting(digest)
        assert found == flat
        assert set(flat) <= set(tree.brokers_by_top(digest))
        fewer += compared < len(leaves)
    assert len(tree.levels[-1]) <= fanout
    if 2 < fanout < 20:
        assert fewer > 0


def test_a_measured_row_replaces_that_of_the_same_nodes_and_movement():
    from bench.scale import PHASES, replace_rows, row

    found = dict.fromkeys(PHASES, 1.0) | {"sent": 2e6, "memory": 3 << 30}
    new = row(1_000_000, "moving", found)
    assert new == "| 1,000,000 | moving | 2,000,000 | 1.0 | 1.0 | 1.0 | 1.0 | 2.0 | 50 % | 3,072 |"
    page = "| nodes | movement |\n| --- | --- |\n| 1,000,000 | static | 1 |\n| 1,000,000 | moving | 2 |\nend"
    assert replace_rows(page, [new]) == page.replace("| 1,000,000 | moving | 2 |", new)
    with pytest.raises(ValueError, match="0 rows of"):
        replace_rows(page, [row(200, "moving", found)])
