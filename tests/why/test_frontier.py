"""The search for the border of a flood, beside a search in rings from each node that missed the event."""

from collections import Counter

import pytest

from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.why.causes import Cause
from roamcast.why.dissemination.frontier import FloodBorder, FloodSearch
from roamcast.why.explainer import Explainer
from roamcast.why.trail.trail import Trail

FIELD = """
name = "field"
duration = "20 s"
area = {{ width = "{side} m", height = "{side} m" }}
[nodes.all]
count = 50
mobility = "waypoint"
speed = {{ min = "1 m/s", max = "{speed} m/s" }}
[workload.publish.all]
count = 10
every = "0.5 s"
content = {{ type = "news" }}
[workload.subscribe.all]
count = 50
interest = ["/news"]
[faults.relays]
group = "all"
crash = {{ every = "8 s", down = "4 s" }}
"""


def search_in_rings(trail, border, publication, node):
    """Return the nodes nearest to `node` at which copies stopped, and how many hops away they are."""
    interval = trail.published[publication], trail.last_sent(publication)
    holders = trail.holders[publication]
    seen, ring, hops = {node}, [node], 0
    while ring:
        sources = [each for each in ring if border.find_reasons([each])]
        if sources:
            return sources, hops
        around = set().union(*(trail.up.neighbours(each, *interval) for each in ring))
        ring, hops = sorted(around - holders - seen), hops + 1
        seen |= set(ring)
    return [], 0


@pytest.mark.parametrize(("side", "speed", "seed"), [(600, 2, 1), (1200, 20, 2), (2000, 5, 3), (2000, 20, 4)])
def test_a_search_from_the_border_finds_what_a_search_in_rings_finds(tmp_path, side, speed, seed):
    file = tmp_path / "field.toml"
    file.write_text(FIELD.format(side=side, speed=speed))
    trail = Trail(simulate(load(file), "flooding", seed))
    search, far = FloodSearch(trail), 0
    for publication in sorted(trail.published)[::4]:
        border = FloodBorder(trail, publication)
        for node in set(range(trail.run.nodes)) - trail.holders[publication]:
            sources, hops = search_in_rings(trail, border, publication, node)
            found = search.find(publication, node)
            far += hops > 1
            if not sources:
                assert found.cause is Cause.UNEXPLAINED
                continue
            causes = [cause for cause, _ in border.find_reasons(sources)]
            assert causes.count(found.cause) == max(map(causes.count, causes))
            unheard = [f"no node within range of node {node} sent it"] if hops else []
            assert found.story[: len(unheard)] == unheard
            if hops:
                assert found.story[1].startswith(f"{hops} hop")
    assert far or side == 600


def test_an_event_in_a_queue_at_the_end_of_a_run_is_sent_or_dropped_in_a_longer_run(tmp_path):
    overloaded = FIELD.format(side=800, speed=2).replace('every = "0.5 s"', 'every = "0.05 s"')
    overloaded = overloaded.partition("[faults")[0]
    trails = []
    for duration, quiet in ((3, 0), (40, 37)):
        file = tmp_path / f"{duration}.toml"
        file.write_text(
            overloaded.replace('duration = "20 s"', f'duration = "{duration} s"\nquiet = "{quiet} s"')
        )
        trails.append(Trail(simulate(load(file), "flooding", 1)))
    short, long = trails
    waiting = [
        (publication, node)
        for publication, holders in short.holders.items()
        for node in holders
        if short.waits_at_end(publication, node)
    ]
    assert len(waiting) > 100
    for publication, node in waiting:
        stops = long.stops(publication)
        assert node in stops.copies or node in stops.ended
    explainer = Explainer(short)
    causes = Counter(explainer.explain(*miss).cause for miss in short.misses())
    assert causes[Cause.UNFINISHED] > 100
    assert causes[Cause.UNEXPLAINED] == 0


def test_a_receiver_that_forwards_nothing_is_not_taken_for_one_with_a_full_queue():
    settings = ('duration="100 s"', 'warmup="20 s"', 'quiet="10 s"')
    trail = Trail(simulate(load(locate("shopping"), settings), "odmrp", 5))
    pairs = [(publication, node) for publication, holders in trail.holders.items() for node in holders]
    silent = [pair for pair in pairs if pair[1] not in trail.stops(pair[0]).copies]
    assert silent
    assert not any(trail.waits_at_end(*pair) for pair in pairs)
