"""Nodes whose positions are not known are placed by the hops between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, RunManifest, from_rows
from roamcast.replay.layout import SIDE, place_by_links
from roamcast.replay.recording import Recording


def make_facts(nodes, links, failed=()):
    run = RunManifest(
        scenario="live", protocol="cbr", parameters={}, seed=0, version="", nodes=nodes, duration=9.0,
        warmup=0.0, frames={}, drops={}, events_processed=0,
    )  # fmt: skip
    rows = [
        (1.0 + n, a, b, "event", "Event", -1, 10, 1, (a, b) in failed, 0.0) for n, (a, b) in enumerate(links)
    ]
    tables = {name: schema.empty_table() for name, schema in TABLES.items()}
    return Facts(run, tables | {"transmissions": from_rows("transmissions", rows)})


def places(facts):
    legs = place_by_links(facts)
    assert legs["node"].to_pylist() == list(range(facts.run.nodes))
    return np.column_stack([legs["x0"].to_numpy(), legs["y0"].to_numpy()])


def test_a_chain_is_drawn_as_a_line_in_its_order():
    found = places(make_facts(4, [(2, 0), (0, 3), (3, 1)]))
    assert sorted(range(4), key=lambda node: found[node][0]) in ([2, 0, 3, 1], [1, 3, 0, 2])
    apart = np.diff(np.sort(found[:, 0]))
    assert apart.min() > 0.8 * apart.max()


def test_a_unicast_that_failed_is_no_link():
    linked = places(make_facts(3, [(0, 1), (1, 2), (0, 2)]))
    broken = places(make_facts(3, [(0, 1), (1, 2), (0, 2)], failed={(0, 2)}))
    share = [
        np.linalg.norm(each[0] - each[2]) / np.linalg.norm(each[0] - each[1]) for each in (linked, broken)
    ]
    assert share[1] > 1.5 > 1.2 > share[0]


@given(
    st.integers(1, 12).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(-1, nodes - 1))),
        )
    )
)
def test_all_nodes_are_inside_and_apart(case):
    nodes, links = case
    found = places(make_facts(nodes, links))
    assert ((found >= 0) & (found <= SIDE)).all()
    assert all(np.linalg.norm(found[a] - found[b]) > 1 for a in range(nodes) for b in range(a))


def test_a_recording_without_legs_says_that_positions_are_not_known():
    from roamcast.replay.packing import Packer

    result = Recording(make_facts(3, [(0, 1), (1, 2)])).pack(Packer())
    assert result["ground"]["placed"] is False and result["ground"]["area"] == [SIDE, SIDE]
    assert result["legs"]["node"]["rows"] == 3
