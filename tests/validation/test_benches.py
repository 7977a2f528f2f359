"""Every bench can be imported: what it measures changes its names now and then."""

import pkgutil
from importlib import import_module

import pytest

import bench
from roamcast.campaign.plan import make_plan

NAMES = sorted(each.name for each in pkgutil.iter_modules(bench.__path__) if not each.name.startswith("_"))


@pytest.mark.parametrize("name", NAMES)
def test_a_bench_finds_what_it_measures(name):
    assert import_module(f"bench.{name}").__doc__


def test_the_tiny_runs_of_growth_can_be_planned():
    from bench.growth import tiny

    assert len(make_plan(tiny(2_000)).runs) == 2_000


def test_there_are_benches():
    assert {"flooding", "match", "pipeline", "reactive", "tpsr"} <= set(NAMES)
