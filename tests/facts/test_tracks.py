"""Where everyone was, and when two were within range, at the ends of legs and between them."""

from random import Random

import pyarrow as pa
import pytest

from roamcast.facts.contacts import find_contacts
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import FactsError
from roamcast.facts.tracks import Tracks


def tracks(*legs, nodes=2):
    columns = list(zip(*legs, strict=True))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, TABLES["legs"], strict=True)]
    return Tracks(pa.Table.from_arrays(arrays, schema=TABLES["legs"]), nodes)


STANDS = (1, 0.0, 40.0, 0.0, 0.0, 0.0, 0.0)
WALKS = ((0, 10.0, 20.0, 0.0, 0.0, 100.0, 50.0), (0, 20.0, 40.0, 100.0, 50.0, 100.0, 50.0))
FIRST = (0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0)


def test_a_node_is_on_its_leg_and_stands_before_the_first_and_after_the_last():
    found = tracks(*WALKS, STANDS)
    at = {time: found.position(0, time).tolist() for time in (5.0, 10.0, 12.0, 20.0, 30.0, 99.0)}
    assert at == {
        **{5.0: [0.0, 0.0], 10.0: [0.0, 0.0], 12.0: [20.0, 10.0]},
        **{20.0: [100.0, 50.0], 30.0: [100.0, 50.0], 99.0: [100.0, 50.0]},
    }
    assert found.positions(12.0).tolist() == [[20.0, 10.0], [0.0, 0.0]]


def test_legs_tell_where_everyone_was_at_all_times_or_are_refused():
    tracks(FIRST, *WALKS, STANDS).check(40.0)
    for legs, node in (
        ((*WALKS, STANDS), 0),
        ((FIRST, WALKS[1], STANDS), 0),
        ((FIRST, *WALKS), 1),
    ):
        with pytest.raises(FactsError, match=f"the legs of node {node} do not cover the run"):
            tracks(*legs).check(40.0)
    with pytest.raises(FactsError, match="the legs of node 0 do not cover the run"):
        tracks(FIRST, *WALKS, STANDS).check(40.5)


def test_a_contact_lasts_from_entering_the_range_to_leaving_it():
    passing = (0, 0.0, 40.0, -200.0, 30.0, 200.0, 30.0)
    contacts = find_contacts(tracks(passing, STANDS), 50.0, edge=0.0)
    assert contacts.of(1, 0) == contacts.of(0, 1) == [pytest.approx((16.0, 24.0))]
    assert find_contacts(tracks(passing, STANDS), 29.0).of(0, 1) == []
    halves = ((0, 0.0, 20.0, -200.0, 30.0, 0.0, 30.0), (0, 20.0, 40.0, 0.0, 30.0, 200.0, 30.0))
    assert find_contacts(tracks(*halves, STANDS), 50.0, edge=0.0).of(0, 1) == [pytest.approx((16.0, 24.0))]
    apart = (*halves, (1, 0.0, 40.0, 0.0, 0.0, 0.0, 0.0), (2, 0.0, 40.0, 0.0, 60.0, 0.0, 60.0))
    three = find_contacts(tracks(*apart, nodes=3), 50.0, edge=0.0)
    assert three.of(2, 0) == [pytest.approx((16.0, 24.0))] and three.of(1, 2) == []


@pytest.mark.parametrize("at_once", [1, 30, 97])
def test_contacts_are_the_same_however_many_legs_are_looked_at_together(monkeypatch, at_once):
    random = Random(3)
    legs = []
    for node in range(6):
        x, y = random.uniform(0, 200), random.uniform(0, 200)
        for start in range(0, 40, 10):
            there = random.uniform(0, 200), random.uniform(0, 200)
            legs.append((node, float(start), start + 10.0, x, y, *there))
            x, y = there
    whole = find_contacts(tracks(*legs, nodes=6), 60.0)
    assert len(whole.a) > 10
    monkeypatch.setattr("roamcast.facts.contacts._AT_ONCE", at_once)
    monkeypatch.setattr("roamcast.facts.near._AT_ONCE", at_once)
    parts = find_contacts(tracks(*legs, nodes=6), 60.0)
    for one, other in zip(
        (whole.a, whole.b, whole.start, whole.end), (parts.a, parts.b, parts.start, parts.end), strict=True
    ):
        assert one.tolist() == other.tolist()
