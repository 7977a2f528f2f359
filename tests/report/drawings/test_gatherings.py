"""The map of communities shows who belonged to whom at its moment, and counts the orphans."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from roamcast.metrics.community_snapshot import community_snapshot
from roamcast.report.drawings.communities import community_snapshots, draw_communities


def walkers(rows, nodes=5):
    """Facts of nodes that walk along a line, one place a second, and say to whom they belong."""
    legs = [
        {
            "node": node,
            "start": 0.0,
            "end": 100.0,
            "x0": 10.0 * node,
            "y0": 0.0,
            "x1": 10.0 * node,
            "y1": 100.0,
        }
        for node in range(nodes)
    ]
    states = [{"time": t, "node": n, "name": name, "value": v} for t, n, name, v in rows]
    tables = {"legs": pa.Table.from_pylist(legs), "states": pa.Table.from_pylist(states)}
    return _Told(SimpleNamespace(nodes=nodes, warmup=20.0, duration=100.0), tables)


class _Told(dict):
    def __init__(self, run, tables):
        super().__init__(tables)
        self.run = run


ROWS = [
    *((0.0, node, "community", float(node)) for node in range(5)),
    *((30.0, node, "community", 1.0) for node in (0, 2)),
    (40.0, 3, "forwarding", 1.0),
    (80.0, 3, "community", 4.0),
]


def test_the_map_shows_the_moment_halfway_and_what_was_said_until_then():
    shown = community_snapshot(walkers(ROWS), "basic")
    assert shown.moment == 60.0
    assert shown.belongs == {0: 1, 1: 1, 2: 1, 3: 3, 4: 4}
    assert np.allclose(shown.places[2], (20.0, 60.0))
    assert shown.describe() == "basic: 3 communities, 2 of them orphans"


def test_orphans_are_communities_of_fewer_than_three():
    assert community_snapshot(walkers(ROWS), "basic", 90.0).orphans == 1
    assert community_snapshot(walkers(ROWS[:5]), "all alone").orphans == 5


def test_a_run_without_communities_has_no_map():
    assert community_snapshot(walkers([(0.0, 1, "forwarding", 1.0)]), "odmrp") is None


def test_each_community_has_its_title_and_lines_to_its_principal():
    drawn = draw_communities(
        [community_snapshot(walkers(ROWS), "basic"), community_snapshot(walkers(ROWS), "enhanced", 90.0)]
    )
    assert "basic: 3 communities, 2 of them orphans" in drawn
    assert "enhanced: 2 communities, 1 of them orphans" in drawn
    assert drawn.count("#d1495b") > 0


def test_a_figure_that_is_not_about_orphans_has_no_map():
    figure = SimpleNamespace(y=[["delivery"]], sweep="speed")
    campaign = SimpleNamespace(figures={"figure-1": figure})
    assert community_snapshots(SimpleNamespace(campaign=campaign), "figure-1") == []
