"""Two fields compared: `/offer[price<limit]`, and what the order of fields says of each of them."""

import itertools
from random import Random

import pytest
from lxml import etree

from roamcast.content.covering import MinimalCover
from roamcast.content.errors import CodecError, ContentError, FilterError, FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.field_type import Date, Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.features import vectors
from roamcast.content.grouping.graph import graph_groups
from roamcast.content.match import MatchIndex
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import Summary
from roamcast.content.summary.fitting import within
from roamcast.content.xml.document import write_xml

OFFER = EventType(
    "offer",
    {
        "price": Decimal(),
        "limit": Decimal(),
        "n": Integer(0, 100),
        "by": String(),
        "to": String(),
        "due": Date(),
    },
    optional=("limit", "to"),
)


def wanted(text, type=OFFER):
    found = Filter.parse(text, type)
    assert Filter.parse(str(found), type) == found, text
    assert Filter.from_bytes(found.to_bytes(), type) == found, text
    return found


def test_a_price_below_its_limit():
    below = wanted("/offer[price<limit]")
    offer = {"price": 3, "n": 1, "by": "a", "due": "2026-11-16"}
    assert below.matches(OFFER(offer, limit=4))
    assert not below.matches(OFFER(offer, limit=3))
    assert not below.matches(OFFER(offer))
    assert wanted("/offer[not(price<limit)]").matches(OFFER(offer))
    assert below == (OFFER.price < OFFER.limit) == (OFFER.limit > OFFER.price)
    assert str(below) == "/offer[price<limit]"


def test_what_the_order_says_of_the_fields_is_known_to_the_relations():
    cheap = wanted("/offer[price<limit and limit<=10]")
    assert wanted("/offer[price<10]").covers(cheap)
    assert wanted("/offer[limit]").covers(cheap)
    assert wanted("/offer[price<=limit]").covers(cheap)
    assert wanted("/offer[price<limit]").covers(wanted("/offer[price<3 and limit>5]"))
    assert not wanted("/offer[price<limit]").intersects(wanted("/offer[price>5 and limit<3]"))
    assert wanted("/offer[price<limit and limit<price]").empty
    assert wanted("/offer[price<limit and limit<n and n<price]").empty
    assert wanted('/offer[by=to and by="x" and to!="x"]').empty
    assert wanted("/offer[price<=limit or price>=limit]").equivalent(wanted("/offer[limit]"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/offer[by<to]", "have no order"),
        ("/offer[by=price]", "their types differ"),
        ("/offer[1<2]", "two values does not depend"),
        ("/offer[lower-case(by)=to]", "compared only with a value"),
    ],
)
def test_what_has_no_order_is_refused(text, reason):
    with pytest.raises(FilterError, match=reason):
        wanted(text)


def test_records_compare_their_own_fields():
    record = EventType("lot", {"bid": Integer(), "least": Integer()})
    type = EventType("sale", (Field("lot", RecordList(record)),))
    sold = wanted("/sale[lot[bid>=least]]", type)
    assert sold.matches(type(lot=[{"bid": 1, "least": 2}, {"bid": 3, "least": 2}]))
    assert not sold.matches(type(lot=[{"bid": 1, "least": 2}, {"bid": 2, "least": 3}]))
    with pytest.raises(FilterError, match="in brackets"):
        wanted("/sale[lot/bid>=lot/least]", type)
    with pytest.raises(ContentError, match="both must be fields of the same record"):
        type.lot.bid >= type.lot.least  # noqa: B015


def test_bytes_of_pairs_that_the_type_has_not_are_refused():
    good = wanted("/offer[price<limit]").to_bytes()
    for n in range(8, len(good)):
        for flipped in range(n % 3, 256, 5):
            data = good[:n] + bytes([flipped]) + good[n + 1 :]
            try:
                found = Filter.from_bytes(data, OFFER)
            except ContentError:
                continue
            assert found.to_bytes() == data
    with pytest.raises(CodecError):
        Filter.from_bytes(good[:-1], OFFER)


SMALL = EventType(
    "T",
    (
        Field("a", Integer(0, 2)),
        Field("b", Integer(0, 2), True),
        Field("c", Integer(1, 3)),
        Field("d", Enumeration.of("x", "y")),
        Field("e", Enumeration.of("x", "y"), True),
    ),
)
WORLD = [
    Event(SMALL, values)
    for values in itertools.product(range(3), [None, 0, 1, 2], range(1, 4), range(2), [None, 0, 1])
]


def test_of(r, cycles):
    """One test of a small filter; pairs that form no cycle, or any."""
    pairs = [("a", "b"), ("d", "e"), ("b", "c")] + ([("a", "c")] if cycles else [])
    if r.random() < 0.6:
        one, other = r.choice(pairs)
        operator = r.choice(["=", "!="] if one == "d" else ["=", "!=", "<", "<=", ">", ">="])
        text = f"{one}{operator}{other}" if r.random() < 0.5 else f"{other}{operator}{one}"
    else:
        text = r.choice(["a<1", "b>=1", "b", "c!=2", 'd="x"', 'e="y"', "a=2", "c<3", "b<=1"])
    return f"not({text})" if r.random() < 0.25 else text


test_of.__test__ = False


def small_filter(r, cycles):
    tests = [test_of(r, cycles) for _ in range(r.randint(1, 3))]
    return wanted(f"/T[{r.choice([' and ', ' and ', ' or ']).join(tests)}]", SMALL)


@pytest.mark.parametrize("cycles", [False, True])
def test_relations_are_what_all_events_of_a_small_world_say(cycles):
    r = Random(f"order/{cycles}")
    missed = asked = 0
    for _ in range(120):
        a, b = (small_filter(r, cycles) for _ in range(2))
        in_a, in_b = ({event for event in WORLD if each.matches(event)} for each in (a, b))
        text = (str(a), str(b))
        for made, expected in ((~a, set(WORLD) - in_a), (a & b, in_a & in_b), (a.merge(b), in_a | in_b)):
            assert {event for event in WORLD if made.matches(event)} == expected, text
        asked += 2
        if a.covers(b):
            assert in_b <= in_a, text
        else:
            missed += in_b <= in_a
        if a.intersects(b):
            missed += not in_a & in_b
        else:
            assert not in_a & in_b, text
        try:
            example = a.example()
        except FilterTooComplex:
            assert cycles
        else:
            assert (example in in_a) if example is not None else not in_a, text
    if cycles:
        assert missed < asked * 0.05
    else:
        assert not missed


def test_xpath_says_the_same():
    r = Random("order in xpath")
    answers = set()
    for _ in range(150):
        text = f"/T[{r.choice([' and ', ' or ']).join(test_of(r, True) for _ in range(2))}]"
        for event in r.sample(WORLD, 3):
            expected = bool(etree.fromstring(write_xml(event)).getroottree().xpath(text))
            assert Filter.parse(text, SMALL).matches(event) == expected, (text, event)
            answers.add(expected)
    assert answers == {True, False}


@pytest.mark.parametrize("text", ["/offer[price<limit]", "/offer[by=to]", "/offer[n<price and price<9]"])
def test_a_summary_of_few_bytes_lets_in_what_they_want(text):
    found = wanted(text)
    best = within([found], 64)
    assert len(best.to_bytes()) <= 64 and best.admits(found.example())


def test_index_cover_summary_and_groups_know_them():
    r = Random("order in the index")
    filters = [wanted(f"/T[{test_of(r, True)} and {test_of(r, True)}]", SMALL) for _ in range(80)]
    filters = [each for each in dict.fromkeys(filters) if not each.empty]
    index, cover, summary = MatchIndex(), MinimalCover(filters, few=4), Summary.of(filters)
    for number, each in enumerate(filters):
        index.add(number, each)
    for event in WORLD[::7]:
        matching = {n for n, each in enumerate(filters) if each.matches(event)}
        assert set(index.match(event)) == matching
        assert not matching or summary.admits(event)
        assert any(each.matches(event) for each in cover.minimal()) == bool(matching)
    for each in filters:
        assert any(wide.covers(each) for wide in cover.minimal())
    few = filters[:12]
    assert vectors(few).shape[0] == len(few)
    for group in graph_groups(few):
        assert all(group.filter.covers(few[member]) for member in group.members)
