"""What each Spark task of the grouping does with a batch, without Spark."""

import pyarrow as pa

from roamcast.content.errors import ContentError
from roamcast.content.field_type import Decimal, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.features import embed
from roamcast.content.schema import EventType
from roamcast.pipeline.matching.clustering import (
    count_groups,
    cover_group,
    embed_batches,
    end_batches,
    join_ends,
    parse_batches,
    to_groups,
    weigh_columns,
)

OFFER = EventType("offer", {"price": Integer(0, 1000), "what": String(), "lat": Decimal(), "lon": Decimal()})


def parsed(*texts):
    bodies = pa.RecordBatch.from_pydict({"id": list(range(len(texts))), "body": list(texts)})
    (batch,) = parse_batches({"offer": OFFER}, [bodies])
    return batch


def ends_of(*batches):
    return join_ends(
        tuple(row.values()) for batch in end_batches(OFFER, batches) for row in batch.to_pylist()
    )


def test_a_filter_is_read_to_its_type_and_bytes_or_refused_with_a_reason():
    good, bad = parsed("/offer[price > 3]", "/offer[nonsense > 3]").to_pylist()
    assert Filter.from_bytes(good.pop("coded"), OFFER) == (OFFER.price > 3)
    assert good == {"id": 0, "type": "offer", "why": None}
    assert "nonsense" in bad.pop("why")
    assert bad == {"id": 1, "type": None, "coded": None}


def test_the_ends_of_a_field_are_the_outermost_of_all_batches():
    one = parsed("/offer[price >= 20 and price <= 30]", "/offer[price > 24 and what = 'tea']")
    other = parsed("/offer[price >= 5 and price <= 25]")
    assert ends_of(one) == {0: (20, 30), 1: (0, 1)}
    assert ends_of(one, other) == ends_of(other, one) == {0: (5, 30), 1: (0, 1)}
    assert ends_of(other) == {0: (5, 25)}


def test_a_circle_is_two_fields():
    place = parsed("/offer[within(., circle(48, 16, '5 km'))]")
    (south, north), (west, east) = ends_of(place).values()
    assert south < 48 < north and west < 16 < east


def test_a_filter_that_nothing_matches_is_in_no_group():
    batch = parsed("/offer[price > 5]", "/offer[price > 5 and price < 3]", "/offer[price = 9]")
    ends = ends_of(batch)
    (found,) = embed_batches(OFFER, ends, [batch])
    assert found["id"].to_pylist() == [0, 2]
    assert found["coded"].to_pylist() == [(OFFER.price > 5).to_bytes(), (OFFER.price == 9).to_bytes()]
    for row, filter in zip(found["features"].to_pylist(), (OFFER.price > 5, OFFER.price == 9), strict=True):
        assert row == embed(OFFER, 0, filter, ends[0]).tolist()


def test_filters_that_ask_nothing_have_a_vector_all_the_same():
    (found,) = embed_batches(OFFER, {}, [parsed("/offer", "/offer")])
    assert found["features"].to_pylist() == [[0.0], [0.0]]


def test_there_are_k_groups_or_as_many_as_fields_if_vectors_differ_so_much():
    assert count_groups(None, 3, filters=10, vectors=10) == 3
    assert count_groups(None, 3, filters=2, vectors=10) == 2
    assert count_groups(None, 0, filters=9, vectors=10) == 1
    assert count_groups(7, 3, filters=2, vectors=10) == 7
    assert count_groups(7, 3, filters=9, vectors=5) == 5
    assert count_groups(None, 3, filters=3, vectors=2) == 2


def test_the_columns_of_a_field_weigh_alike_the_root_of_their_mean_deviation():
    assert weigh_columns([4.0, 0.0, 8.0, 16.0, 1.0], [3, 1, 1]) == [2.0, 2.0, 2.0, 4.0, 1.0]
    assert weigh_columns([9.0], [1]) == [3.0]


def test_a_group_is_its_members_in_order_and_a_filter_that_covers_them():
    texts = ["/offer[price > 5]", "/offer[price = 9]", "/offer[price > 20 and price < 30]"]
    coded = [Filter.parse(text, OFFER).to_bytes() for text in texts]
    group = pa.table({"id": [30, 10, 20, 11], "coded": [coded[2], coded[1], coded[0], coded[1]]})
    (row,) = cover_group(OFFER, group).to_pylist()
    assert row["members"] == [10, 11, 20, 30]
    assert Filter.from_bytes(row["coded"], OFFER) == (OFFER.price > 5)
    groups = to_groups({(10, 20): OFFER.price > 5, (3, 40): OFFER.price == 9})
    assert [(each.members, each.filter) for each in groups] == [
        ((3, 40), OFFER.price == 9),
        ((10, 20), OFFER.price > 5),
    ]


def test_the_reason_for_refusing_a_filter_is_not_longer_than_it_may_be(monkeypatch):
    def refuse(*_):
        raise ContentError("x" * 1000)

    monkeypatch.setattr("roamcast.pipeline.matching.clustering.read_filter", refuse)
    assert parsed("/offer")["why"].to_pylist() == ["x" * 300]
