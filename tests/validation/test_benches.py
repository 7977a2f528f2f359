"""Every bench can be imported: what it measures changes its names now and then."""

import pkgutil
from importlib import import_module

import pytest

import bench
from roamcast.campaign.plan import make_plan
from roamcast.scenario.locality.hubs import lay_hubs
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
    assert len(lay_hubs(city, 101)) == nodes // 50


def test_there_are_benches():
    assert {"flooding", "match", "pipeline", "reactive", "tpsr"} <= set(NAMES)
