"""The arithmetic of a run equals its slow twin on generated facts, in any order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_facts import invent
from metric_twins import measure_neighbours, measure_pairs, measure_requests

from roamcast.pipeline import arithmetic
from roamcast.pipeline.answers import matcher

times = st.floats(0, 100).map(lambda t: round(t, 3))
ids = st.integers(0, 6).map(lambda i: (i % 2) << 32 | i)
nodes = st.integers(0, 4)
publications = st.dictionaries(ids, st.tuples(times, st.integers(0, 2)), max_size=7)
expectations = st.lists(st.tuples(ids, nodes), max_size=20)
deliveries = st.lists(st.tuples(ids, nodes, times), max_size=25)
interests = st.lists(
    st.tuples(times, nodes, st.integers(0, 2), st.booleans()), max_size=15, unique_by=lambda i: i[:3]
)


def rows_of(published, expected, delivered, interested=()):
    """The same facts as the twins read them."""
    return {
        "publications": [
            {"publication": p, "time": t, "event": f'{{"coupon":{{"zone":{z}}}}}'}
            for p, (t, z) in published.items()
        ],
        "expectations": [{"publication": p, "node": n} for p, n in expected],
        "deliveries": [{"publication": p, "node": n, "time": t} for p, n, t in delivered],
        "interests": [
            {"time": t, "node": n, "wanted": f"/coupon[zone = {z}]", "begins": b} for t, n, z, b in interested
        ],
    }


def columns(rows, *kinds):
    lists = zip(*rows, strict=True) if rows else ([] for _ in kinds)
    return tuple(np.array(list(column), kind) for column, kind in zip(lists, kinds, strict=True))


def approx(expected):
    return {k: None if v is None else pytest.approx(v, rel=1e-12, abs=1e-12) for k, v in expected.items()}


def pairs(published, expected, delivered, warmup):
    return arithmetic.measure_pairs(
        columns([(p, t) for p, (t, _) in published.items()], np.int64, np.float64),
        columns(expected, np.int64, np.int64),
        columns(delivered, np.int64, np.int64, np.float64),
        warmup,
    )


@given(publications, expectations, deliveries, st.sampled_from([0.0, 50.0]), st.randoms())
def test_pairs_equal_their_twin_in_any_order(published, expected, delivered, warmup, random):
    found = pairs(published, expected, delivered, warmup)
    assert found == approx(measure_pairs(rows_of(published, expected, delivered), warmup))
    random.shuffle(expected)
    random.shuffle(delivered)
    assert pairs(published, expected, delivered, warmup) == found


@given(publications, deliveries, interests, st.sampled_from([0.0, 50.0]))
def test_requests_equal_their_twin(published, delivered, interested, warmup):
    rows = rows_of(published, [], delivered, interested)
    said = {p["publication"]: p["event"] for p in rows["publications"]}
    found = arithmetic.measure_requests(
        [(i["time"], i["node"], i["wanted"], i["begins"]) for i in rows["interests"]],
        [(t, n, said[p]) for p, n, t in delivered if p in said],
        warmup,
        matcher(),
    )
    assert found == approx(measure_requests(rows, warmup))


@pytest.mark.parametrize("warmup", [0.0, 40.0, 100.0])
@pytest.mark.parametrize("seed", range(12))
def test_neighbours_equal_their_twin(seed, warmup):
    legs = invent(seed)["legs"]
    expected = measure_neighbours({"legs": legs.to_pylist()}, warmup, 250.0)
    found = arithmetic.count_neighbours(legs, 250.0, warmup)
    assert found == (None if expected is None else pytest.approx(expected))


def test_an_event_in_the_facts_matches_a_filter_in_the_facts():
    matches = matcher()
    event = '{"CD":{"@id":5,"artist":{"name":"Davis"},"live":true,"price":"19.90"}}'
    assert matches('/CD[artist/name="Davis"]', event) and matches("/CD[price<20 and @id=5]", event)
    assert (
        not matches("/CD[price>20]", event)
        and not matches("/LP", event)
        and not matches("not [an xpath", event)
    )
