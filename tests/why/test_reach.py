"""Where everyone was, who could hear whom, and how far word could have come: exactly, and so provably."""

from fractions import Fraction
from itertools import pairwise
from math import inf
from random import Random
from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.contacts import EDGE, find_contacts
from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks
from roamcast.scenario.model import Scenario
from roamcast.sim import kernel
from roamcast.sim.run import simulate
from roamcast.why.proofs.reachability import Reachability

RANGE = 250.0
DURATION = 60.0


def tracks(*paths):
    """Everyone's path as [(time, x, y), ...], walked straight from point to point."""
    rows = [
        (node, start, end, *before, *after)
        for node, path in enumerate(paths)
        for (start, *before), (end, *after) in pairwise(path)
    ]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(c, f.type) for f, c in zip(TABLES["legs"], columns, strict=True)]
    return Tracks(pa.Table.from_arrays(arrays, schema=TABLES["legs"]), len(paths))


def still(x, y):
    return [(0.0, x, y), (DURATION, x, y)]


coordinates = st.one_of(st.integers(0, 700), st.floats(0, 700))


@st.composite
def paths(draw):
    """Walks of a few legs; some stand, some share their moments of turning, some walk side by side."""
    moments = draw(st.lists(st.floats(1, 59).map(lambda t: round(t, 3)), min_size=4, max_size=4, unique=True))
    found = []
    for _ in range(draw(st.integers(2, 4))):
        turns = sorted(draw(st.sets(st.sampled_from(moments), max_size=3)))
        times = [0.0, *turns, DURATION]
        if found and draw(st.booleans()) and draw(st.booleans()):
            dx = draw(st.sampled_from([RANGE, RANGE + 1, RANGE - 1]))
            found.append([(t, x + dx, y) for t, x, y in found[-1]])
        else:
            found.append([(t, float(draw(coordinates)), float(draw(coordinates))) for t in times])
    return found


def exactly(path, time):
    """Where a walker is, in fractions."""
    for (start, x0, y0), (end, x1, y1) in pairwise(path):
        if start <= time <= end:
            share = (Fraction(time) - Fraction(start)) / (Fraction(end) - Fraction(start))
            return tuple(Fraction(a) + share * (Fraction(b) - Fraction(a)) for a, b in ((x0, x1), (y0, y1)))
    raise ValueError(time)


def squared(a, b, time):
    (ax, ay), (bx, by) = exactly(a, time), exactly(b, time)
    return (ax - bx) ** 2 + (ay - by) ** 2


def moments(walks, contacts):
    """Times worth looking at: turns, both ends of contacts, and between."""
    edges = {t for path in walks for t, *_ in path} | {t for span in contacts for t in span}
    ordered = sorted(edges)
    return ordered + [(a + b) / 2 for a, b in pairwise(ordered)]


@given(paths())
def test_contacts_hold_every_moment_within_range_and_none_beyond_the_edge(walks):
    found = find_contacts(tracks(*walks), RANGE)
    for a in range(len(walks)):
        for b in range(a):
            spans = found.of(a, b)
            assert spans == found.of(b, a)
            assert all(end < start for (_, end), (start, _) in pairwise(spans))
            for time in moments((walks[a], walks[b]), spans):
                within = any(start <= time <= end for start, end in spans)
                distance = squared(walks[a], walks[b], time)
                if distance <= Fraction(RANGE) ** 2:
                    assert within
                if distance > Fraction(RANGE + 2 * EDGE) ** 2:
                    assert not within


def test_two_who_pass_each_other_meet_exactly_while_they_are_near():
    found = find_contacts(tracks(still(0.0, 0.0), [(0.0, -600.0, 150.0), (60.0, 600.0, 150.0)]), RANGE)
    [(start, end)] = found.of(0, 1)  # at 20 m/s, from 200 m before to 200 m after
    assert (start, end) == pytest.approx((20.0, 40.0), abs=1e-6)


def test_one_who_touches_the_edge_of_the_range_is_seen_and_one_beyond_it_is_not():
    for off, met in ((RANGE, True), (RANGE + EDGE / 2, True), (RANGE + 3 * EDGE, False)):
        passing = [(0.0, -600.0, off), (60.0, 600.0, off)]
        assert bool(find_contacts(tracks(still(0.0, 0.0), passing), RANGE).of(0, 1)) == met
        assert bool(find_contacts(tracks(still(0.0, 0.0), still(0.0, off)), RANGE).of(0, 1)) == met


def first_hearing(walks, contacts, source, since):
    """When word could have come to each, found by trying every contact until nothing changes."""
    first = [inf] * len(walks)
    first[source] = since
    changed = True
    while changed:
        changed = False
        for a in range(len(walks)):
            for b in range(len(walks)):
                for start, end in contacts.of(a, b) if a != b else ():
                    when = max(start, first[a])
                    if when <= end and when < first[b]:
                        first[b] = when
                        changed = True
    return first


def wander(seed):
    """Six who wander over an area wide enough that word must be carried, if it comes at all."""
    random = Random(seed)
    side = random.choice([500, 1500, 6000])
    return [
        [(t, random.uniform(0, side), random.uniform(0, side)) for t in (0.0, *sorted(turns), DURATION)]
        for turns in ([random.uniform(1, 59) for _ in range(3)] for _ in range(6))
    ]


def test_those_who_wander_hear_at_once_later_or_never():
    """Else the law below would be about nothing."""
    firsts = np.array(
        [Reachability(tracks(*wander(seed)), RANGE).first_hearing(0, 10.0) for seed in range(100)]
    )
    for share in ((firsts[:, 1:] == 10.0), (firsts > 10.0) & (firsts < inf), np.isinf(firsts)):
        assert share.any(axis=1).sum() > 20


@given(st.integers(0, 10**6), st.sampled_from([0.0, 10.0, 30.5]))
def test_word_comes_as_early_as_a_slow_search_finds(seed, since):
    walks = wander(seed)
    reach = Reachability(tracks(*walks), RANGE)
    slow = first_hearing(walks, reach.contacts, 0, since)
    assert reach.first_hearing(0, since).tolist() == slow
    for target, when in enumerate(slow):
        if when < inf:
            assert reach.meets(0, target, since, when)
        if since < when < inf:
            assert not reach.meets(0, target, since, np.nextafter(when, 0))
    joined = [{n} for n in range(len(walks))]
    for _ in walks:
        for a in range(len(walks)):
            for b in range(len(walks)):
                if a != b and any(start <= since <= end for start, end in reach.contacts.of(a, b)):
                    joined[a] |= joined[b]
    assert [n for n in range(len(walks)) if reach.together(0, n, since)] == sorted(joined[0])


def test_a_chain_of_meetings_is_a_path_in_time():
    # Node 1 leaves node 0 for node 2: word of before can travel from 0 to 2, word of after cannot.
    carrier = [(0.0, 200.0, 0.0), (10.0, 200.0, 0.0), (20.0, 800.0, 0.0), (DURATION, 800.0, 0.0)]
    reach = Reachability(tracks(still(0.0, 0.0), carrier, still(1000.0, 0.0)), RANGE)
    assert reach.meets(0, 2, 0.0, 30.0) and reach.meets(0, 2, 10.8, 30.0)
    assert not reach.meets(0, 2, 10.9, DURATION)  # 254 m away by then
    assert not reach.together(0, 2, 0.0)
    assert reach.distance(0, 1, 15.0) == pytest.approx(500.0)


WALK = Scenario.model_validate(
    {
        "name": "walk",
        "area": {"width": 800, "height": 400},
        "duration": 60,
        "nodes": {
            "posts": {"count": 3},
            "walkers": {"count": 9, "mobility": "waypoint", "speed": [1.0, 20.0], "pause": 2.0},
        },
    }
)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_legs_of_a_run_put_everyone_where_the_kernel_has_them(seed):
    facts = simulate(WALK, "flooding", seed)
    walked = Tracks(facts["legs"], WALK.count)
    walked.check(WALK.duration)
    assert len(facts["legs"]) > 1.5 * WALK.count
    world = kernel.build(WALK, seed)
    world.start()
    contacts = find_contacts(walked, WALK.radio.range)
    heard = 0
    for time in np.linspace(0, 59.9, 60):
        world.run_until(float(time))
        now = world.now()
        places = np.array(world.positions()).reshape(-1, 2)
        assert np.abs(walked.positions(now) - places).max() < 1e-9
        for node in range(WALK.count):
            near = {peer for peer, _, power in world.receivers(node) if power > 0}
            joined = {
                peer
                for peer in range(WALK.count)
                if peer != node and any(s <= now <= e for s, e in contacts.of(node, peer))
            }
            assert near == joined
            heard += len(near)
    assert heard > 500


def test_a_movement_file_with_orders_in_the_middle_of_a_walk_is_told_without_gaps(tmp_path):
    file = tmp_path / "walk.mov"
    orders = [(5, 300, 0, 10), (8, 300, 300, 30), (8, 0, 0, 5), (50, 10, 10, 1)]
    file.write_text(
        "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n"
        + "".join(f'$ns_ at {t} "$node_(0) setdest {x} {y} {v}"\n' for t, x, y, v in orders)
    )
    scenario = WALK.model_copy(
        update={
            "groups": {"all": WALK.groups["posts"].model_copy(update={"count": 1, "mobility": "file"})},
            "mobility": Scenario.model_fields["mobility"].annotation.__args__[0](ns2=file),
        }
    )
    facts = simulate(scenario, "flooding", 1)
    walked = Tracks(facts["legs"], 1)
    walked.check(scenario.duration)
    assert (walked.start[1:] == walked.end[:-1]).all() and (walked.end > walked.start).all()
    assert walked.position(0, 7.0).tolist() == pytest.approx([20.0, 0.0])
    assert walked.position(0, 10.0).tolist() == pytest.approx([20.0, 0.0])
    assert walked.position(0, 40.0).tolist() == pytest.approx([0.0, 0.0])
    assert facts.run.files.keys() == {"mobility.ns2"}


def test_two_hundred_walkers_for_ten_minutes_are_no_burden():
    crowd = WALK.model_copy(
        update={
            "duration": 600.0,
            "area": WALK.area.model_copy(update={"width": 2000.0, "height": 1000.0}),
            "groups": {"walkers": WALK.groups["walkers"].model_copy(update={"count": 200})},
        }
    )
    legs = kernel.movement(crowd, 1)
    end = np.append(legs.time[1:], 600.0)
    end[np.append(legs.node[1:] != legs.node[:-1], True)] = 600.0
    columns = [legs.node, legs.time, end, legs.x0, legs.y0, legs.x1, legs.y1]
    table = pa.Table.from_arrays([pa.array(c) for c in columns], names=TABLES["legs"].names)
    began = process_time()
    reach = Reachability(Tracks(table, 200), RANGE)
    for source in range(20):
        reach.first_hearing(source, 25.0 * source)
    assert len(reach.contacts.a) > 10_000
    assert process_time() - began < 20
