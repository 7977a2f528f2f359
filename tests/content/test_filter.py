import math
import operator
import pickle
from datetime import date

import pytest

from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType

CD = EventType(
    "CD",
    {
        "@id": Integer(),
        "@timestamp": Date(),
        "category": Enumeration.of("pop", "jazz", "classic"),
        "artist/name": String(),
        "artist/alive": Boolean(),
        "price": Decimal(min=10),
    },
    optional=("@timestamp", "artist/alive"),
)
KIND_OF_BLUE = CD({"artist": {"name": "Davis"}, "@id": 5, "category": "jazz", "price": 12})


def test_python_and_xpath_build_the_same_filter():
    assert (CD.price < 20) & (CD.category == "jazz") == Filter.parse('/CD[category="jazz" and price<20]', CD)
    assert CD.artist.name.startswith("Da") == Filter.parse('/CD/artist[starts-with(name, "Da")]', CD)
    assert CD.artist.name.like("D*s") == Filter.parse('/CD[artist/name="D*s"]', CD)
    assert CD.id.isin([1, 2, 3]) == Filter.parse("/CD[@id=1 or @id=2 or @id=3]", CD)
    assert (CD["@timestamp"] < date(2005, 1, 1)) == Filter.parse("/CD[@timestamp<'2005-01-01']", CD)
    assert ~CD.timestamp.exists() == Filter.parse("/CD[not(@timestamp)]", CD)


def test_an_event_is_read_by_path_and_a_missing_field_is_none():
    assert KIND_OF_BLUE["artist/name"] == "Davis"
    assert KIND_OF_BLUE["category"] == "jazz"
    assert KIND_OF_BLUE["@timestamp"] is None
    assert KIND_OF_BLUE.get("id") == 5
    assert KIND_OF_BLUE.get("label", "none") == "none"
    assert CD(KIND_OF_BLUE.to_mapping()) == KIND_OF_BLUE


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"@id": 1, "category": "jazz", "price": 12}, "'artist/name' is missing"),
        ({"@id": True}, "CD/@id: True is not an integer"),
        ({"price": 9.99}, "CD/price: 9.99 is not between 10"),
        ({"category": "jaz"}, "did you mean 'jazz'"),
        ({"artist": "Davis"}, "contains other fields"),
        ({"artst/name": "x"}, "did you mean 'artist/name'"),
        ({"artist/name": "\x00"}, "cannot be written in XML"),
        ({"price": float("nan")}, "not a finite number"),
    ],
)
def test_an_event_that_is_not_of_its_type_is_refused(values, complaint):
    with pytest.raises(ContentError, match=complaint):
        CD(values)


def test_events_and_filters_survive_pickle_json_and_bytes():
    wanted = (CD.price < 20) & ~CD.artist.name.contains("x")
    assert pickle.loads(pickle.dumps(wanted)) == wanted
    assert pickle.loads(pickle.dumps(KIND_OF_BLUE)) == KIND_OF_BLUE
    assert Event.from_json(KIND_OF_BLUE.to_json(), {"CD": CD}) == KIND_OF_BLUE
    assert Filter.from_bytes(wanted.to_bytes(), CD) == wanted
    assert wanted.matches(pickle.loads(pickle.dumps(KIND_OF_BLUE)))


def test_json_says_everything_once():
    assert Event.from_json('{"CD":{"@id":5,"category":"jazz","artist":{"name":"Davis"},"price":12}}', CD)
    for twice in ('"@id":5,"@id":6', '"@id":5,"id":6', '"@id":5,"price":11,"price":12'):
        with pytest.raises(ContentError, match="twice"):
            Event.from_json(f'{{"CD":{{{twice},"category":"jazz","artist":{{"name":"D"}}}}}}', CD)


def test_two_declarations_of_one_type_are_one_type():
    assert EventType("CD", CD.fields) is CD
    assert EventType("CD", {"price": Decimal()}) is not CD


def test_a_filter_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        assert 10 < CD.price < 20


@pytest.mark.parametrize(
    ("wrong", "error", "complaint"),
    [
        (lambda: CD.price and CD.category == "jazz", TypeError, "no truth value: compare it"),
        (lambda: not CD.price, TypeError, "no truth value"),
        (lambda: CD.price < 20 & CD.category == "jazz", TypeError, "each comparison in parentheses"),
        (lambda: ~CD.price, TypeError, "not a filter yet"),
        (lambda: (CD.price < 20) & True, TypeError, "with another filter, not with True"),
        (lambda: (CD.price < 20) | CD.id, TypeError, "with another filter, not with <field id"),
        (lambda: CD.price in [12, 13], TypeError, "no truth value"),
        (lambda: CD.price < CD.category, ContentError, "their types differ"),
        (lambda: CD.category.isin("pop"), ContentError, "expected a list"),
        (lambda: CD.artist.name.like(3), ContentError, "3 is not a string"),
        (lambda: CD.price < math.inf, ContentError, "inf is not a number"),
    ],
)
def test_a_slip_in_python_is_told_and_never_gives_another_filter(wrong, error, complaint):
    with pytest.raises(error, match=complaint):
        wrong()


def test_operands_may_be_reversed_and_bounds_written_in_two():
    assert operator.gt(20, CD.price) == (CD.price < 20)
    assert operator.eq("jazz", CD.category) == Filter.parse('/CD[category="jazz"]', CD)
    assert ~(CD.price < 20) == (CD.price >= 20)
    assert len({CD.price < 20, ~(CD.price >= 20), operator.gt(20, CD.price)}) == 1
    assert CD.id.isin(range(3000)) == (CD.id >= 0) & (CD.id < 3000)


def test_an_attribute_cannot_be_required_where_its_element_is_not():
    with pytest.raises(ContentError, match="'p/@u' must be optional"):
        EventType("T", {"p": Decimal(), "p/@u": String()}, optional=("p",))


def test_filters_of_two_types_do_not_mix():
    other = Filter.everything(EventType("DVD", {"price": Decimal()}))
    assert not Filter.everything(CD).covers(other)
    assert not Filter.everything(CD).intersects(other)
    assert Filter.everything(CD).covers(Filter.nothing(other.type))
    with pytest.raises(ContentError, match="cannot be combined"):
        other.merge(Filter.everything(CD))


def test_bounds_of_the_type_take_part_in_covering():
    assert (CD.price >= 10).covers(Filter.everything(CD))
    assert not (CD.price > 10).covers(Filter.everything(CD))
    assert (CD.price < 5).empty
    assert ((CD.price < 15) | (CD.price >= 15)).equivalent(Filter.everything(CD))


def test_the_hash_of_a_filter_is_the_same_in_every_process():
    assert hash(CD.id == 5) == hash(CD.id == 5)
    assert hash(EventType("t", {"n": Integer()}).n == 5) == 1354723557373302896
