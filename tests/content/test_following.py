"""Groupings that follow: everyone in one group at every moment, covered, whatever comes and goes."""

from random import Random
from time import process_time

import pytest

from bench.loads import Realistic
from roamcast.content.grouping.bounded_cover import BoundedCover
from roamcast.content.grouping.graph import graph_groups
from roamcast.content.grouping.incremental import METHODS, make_incremental

from . import generate


@pytest.mark.parametrize("method", METHODS)
def test_everyone_is_in_one_group_whose_filter_covers_it_at_every_moment(method):
    r = Random(f"following/{method}")
    following, there = make_incremental(method), {}
    types = [generate.event_type(r), generate.event_type(r)]
    for _ in range(50):
        key = r.randrange(14)
        if r.random() < 0.35:
            following.remove(key)
            there.pop(key, None)
        else:
            there[key] = generate.filter(r, r.choice(types))
            following.add(key, there[key])
        found = {}
        for type in types:
            for label, members, filter in following.groups(type):
                for member in members:
                    assert member not in found
                    found[member] = label
                    assert following.label(member) == label
                    event = generate.near(r, type, there[member])
                    assert filter.matches(event) or not there[member].matches(event)
        assert found.keys() == {key for key, filter in there.items() if not filter.empty}
        assert len(following) == len(set(found.values()))


def test_the_graph_that_follows_has_the_channels_of_the_graph():
    r = Random("graph follows")
    following, there, type = make_incremental("graph"), {}, generate.event_type(r)
    for _ in range(40):
        key = r.randrange(12)
        if r.random() < 0.3:
            following.remove(key)
            there.pop(key, None)
        else:
            there[key] = generate.filter(r, type)
            following.add(key, there[key])
        assert len(following.groups(type)) == len(graph_groups(list(there.values())))


@pytest.mark.parametrize("method", ["kmeans", "graph", "signature"])
def test_a_group_that_keeps_its_members_keeps_its_number(method):
    r, load = Random(3), Realistic(3)
    following = make_incremental(method)
    for key in range(60):
        following.add(key, load.filter(r))
    before = {key: following.label(key) for key in range(60)}
    following.add("one more", load.filter(r))
    kept = sum(following.label(key) == label for key, label in before.items())
    assert kept > 40


def test_one_more_among_many_costs_k_means_the_same_however_many_there_are():
    r, load = Random(4), Realistic(4)
    following = make_incremental("kmeans", 8)
    spent = []
    for key in range(600):
        start = process_time()
        following.add(key, load.filter(r))
        spent.append(process_time() - start)
    # Sums, since a clock that ticks seldom says 0 of most.
    assert sum(spent[400:]) < 4 * sum(spent[100:300])


def test_a_tight_cover_covers_within_its_bytes_and_is_the_union_while_that_fits():
    r, load = Random(5), Realistic(5)
    filters = [load.filter(r) for _ in range(120)]
    events = [load.event(r) for _ in range(300)]
    for budget in (200, 800):
        cover = BoundedCover.of(filters, budget)
        assert len(cover.to_bytes()) <= budget
        assert all(cover.matches(e) or not any(f.matches(e) for f in filters) for e in events)
    exact = BoundedCover.of(filters, 1 << 15)
    assert all(exact.matches(e) == any(f.matches(e) for f in filters) for e in events)
