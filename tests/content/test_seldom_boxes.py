"""What is seldom asked of sets of values, each by itself: areas, circles, pairs of fields, records, texts."""

import pytest

from roamcast.content import filter as filters
from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet, RegionTest, _thin, _triangle
from roamcast.content.box.conjunction import subtract
from roamcast.content.box.glob import _unused, caseless, witness
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.declare import declare_type
from roamcast.content.earth.polygon import Polygon
from roamcast.content.earth.shapes import LatLonBox, circle
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import ContentError, FilterError, FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, Integer, Presence, String
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.grouping.cluster import point
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.xpath.guess import guess_types
from roamcast.content.xpath.tokens import MAX_TEXT, tokenize

HERE, THERE = (RegionTest(False, LatLonBox(0.0, lon, 0.1, lon + 0.1)) for lon in (0.0, 10.0))
AROUND = RegionTest(True, LatLonBox(-5.0, -5.0, 5.0, 5.0))
SPOT = EventType("spot", {"@lat": Decimal(-90, 90), "@lon": Decimal(-180, 180)})
OFFER = EventType(
    "offer",
    {"price": Decimal(), "limit": Decimal(), "by": String(), "to": String(), "n": Integer(), "m": Integer()},
    optional=("limit", "to"),
)
PAGE = EventType("page", {"title": String(), "news/author": String(), "n": Integer()}, optional=("n",))


def offer(text):
    return Filter.parse(f"/offer[{text}]", OFFER)


def test_no_area_at_all_or_only_none():
    none, nothing = AreaSet("", absent=True, void=True), AreaSet("", void=True)
    spot = circle(0.0, 0.0, 0.0)
    assert nothing.empty and not none.empty
    assert none.has(None) and not nothing.has(None) and not none.has(spot) and not nothing.has(spot)
    assert none.example() is None and nothing.example() is None
    assert AreaSet("").covers(nothing) and not nothing.covers(AreaSet("")) and none.covers(nothing)
    assert none.outside(AreaSet("", absent=True)) == [AreaSet("")]
    assert nothing.outside(AreaSet("", absent=True)) == [AreaSet("", absent=True)]
    assert none.meet(AreaSet("", absent=True)) == none and AreaSet("").meet(none) == nothing


def test_the_two_halves_of_all_areas_are_all_of_them():
    inside, outside = AreaSet.where("", (AROUND,)), AreaSet.where("", (), (AROUND,))
    assert inside.join(outside) == outside.join(inside) == AreaSet("")
    assert inside.join(AreaSet.where("", (), (AROUND,), absent=True)) == AreaSet("", absent=True)
    some = AreaSet.where("", (HERE,), (AROUND,))
    assert inside.join(some) is None and some.join(inside) is None
    assert inside.join(AreaSet("")) == AreaSet("") == AreaSet("").join(inside)


def test_an_example_may_have_to_be_thin():
    aside = [RegionTest(False, LatLonBox(south, 4.0, south + 1.0, 6.0)) for south in (1.0, -2.0)]
    for places in ([(0.05, 0.05), (0.05, 10.05)], [(0.05, 10.05), (0.05, 0.05)]):
        [found] = _thin(places)
        assert isinstance(found, Polygon) and AreaSet.where("polygon", (HERE, THERE), aside).has(found)
        assert all(found.distance(*place) == 0.0 for place in places)
        assert 0.0 < found.distance(0.051, 5.05) < 200.0
    with pytest.raises(FilterTooComplex):
        AreaSet.where("circle", (HERE, THERE), aside).example()
    assert AreaSet.where("circle", (HERE, THERE), aside, absent=True).example() is None
    assert list(_thin([(0.0, 0.0), (0.0, 0.0)])) == [] == list(_triangle(-90.0, 0.0, 1.0))


def test_an_example_of_an_area_has_the_shape_of_its_field():
    for sort, shape in (("circle", Circle), ("polygon", Polygon)):
        for tests in ((), (HERE,), (AROUND,), (HERE, THERE), (AROUND, HERE)):
            wanted = AreaSet.where(sort, tests)
            assert isinstance(wanted.example(), shape) and wanted.has(wanted.example())
    far = RegionTest(False, LatLonBox(-90.0, -180.0, 80.0, 180.0))
    only = AreaSet.where("", (), (far,))
    assert only.has(only.example())


def test_the_ends_of_an_area_lie_where_its_tests_say():
    within_it, meeting = AreaSet.where("", (AROUND,)), AreaSet.where("", (HERE,))
    assert [each.spans for each in within_it.sides()] == [((-5.0, 5.0),), ((-5.0, 5.0),)]
    assert [each.spans for each in meeting.sides()] == [((-90.0, 0.1),), ((0.0, 90.0),)]
    both = AreaSet.where("", (AROUND, HERE)).sides()
    assert [each.spans for each in both] == [((-5.0, 0.1),), ((0.0, 5.0),)]


def test_circles_are_never_missing_and_never_one_value():
    some = PointSet.where((Circle(0.0, 0.0, 1000.0),))
    assert not some.absent and not some.point and some.patterns == 0


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("within(., circle(0, 0, '10 km')) and @lat > 1", True),
        ("within(., circle(0, 0, '10 km')) and @lon < -1", True),
        ("within(., circle(0, 0, '10 km')) and @lat > 0.08 and @lon > 0.08", True),
        ("within(., circle(0, 0, '10 km')) and @lat > 0.05 and @lon > 0.05", False),
        ("not(within(., circle(0, 0, '100 km'))) and within(., box(0, 0, 0.1, 0.1))", True),
        ("not(within(., circle(0, 0, '10 km'))) and within(., box(0, 0, 0.1, 0.1))", False),
        ("not(within(., circle(50, 0, '100 km'))) and within(., box(50, 0, 50.1, 0.1))", True),
        ("within(., circle(50, 0, '10 km')) and @lat > 50.08 and @lon > 0.12", True),
        ("within(., circle(50, 0, '10 km')) and @lat > 50.05 and @lon > 0.05", False),
        ("within(., circle(0, 0, '10 km')) and within(., circle(1, 1, '10 km'))", True),
        ("within(., circle(0, 0, '10 km')) and not(within(., circle(0, 0, '11 km')))", True),
        ("within(., circle(0, 0, '10 km')) and @lat = 0.09 and @lon = 0.09", True),
        ("within(., circle(0, 0, '10 km')) and @lat = 0.05 and @lon = 0.05", False),
    ],
)
def test_where_circles_and_degrees_leave_no_place(text, empty):
    wanted = Filter.parse(f"/spot[{text}]", SPOT)
    assert wanted.empty is empty
    if not empty:
        assert wanted.matches(wanted.example())


def test_fields_that_differ_differ_from_what_the_other_is():
    one = offer('by != to and by = "x"')
    assert offer('to != "x"').covers(one) and offer("to").covers(one) and not offer('to != "y"').covers(one)
    numbers = offer("n != m and n = 3")
    assert offer("m != 3").covers(numbers) and not offer("m > 3").covers(numbers)
    assert offer('by != to and by = "x" and to = "x"').empty
    equal = offer("n = m and n >= 3 and n <= 5 and (m = 4 or m = 9)")
    assert offer("n = 4").covers(equal) and offer("m = 4").covers(equal) and not equal.empty
    texts = offer('by = to and (by = "a" or by = "b") and (to = "b" or to = "c")')
    assert offer('by = "b"').covers(texts) and offer('to = "b"').covers(texts) and not texts.empty


@pytest.mark.parametrize(
    "text",
    [
        'by = to and (by = "b" or by = "a")',
        'by != to and (by = "b" or by = "a") and to = "a"',
        "not(price < limit) and not(price >= limit)",
        "not(price < limit) and price < 5",
        "n < m and m <= 4 and n >= 3",
        "n != m and n >= 3 and n <= 4 and m = 3",
        "price < limit and limit < 0",
    ],
)
def test_an_example_of_compared_fields_is_one(text):
    wanted = offer(text)
    assert wanted.matches(wanted.example())


def test_a_field_equals_itself_if_it_is_there():
    assert offer("limit = limit") == offer("limit") == offer("limit <= limit")
    assert offer("limit < limit").empty and offer("limit != limit").empty
    assert offer("price >= price").equivalent(Filter.everything(OFFER))


def test_an_attribute_that_is_an_area_is_missing_with_its_element():
    type = EventType("zone", (Field("name", String(), True), Field("name/@where", AreaType(), True)))
    nameless = ~type["name"].exists()
    assert nameless == nameless & ~type["name/@where"].exists()
    assert not nameless.intersects(type["name/@where"].exists())
    assert type["name"].exists().covers(type["name/@where"].within_box(0, 0, 1, 1))


def test_the_areas_of_an_element_are_those_that_stand_in_it():
    type = EventType(
        "zone",
        (Field("spot/where", AreaType()), Field("spot/name", String()), Field("also", AreaType(), True)),
    )

    def asked(path):
        return Filter.parse(f"/zone[within({path}, box(0, 0, 1, 1))]", type)

    assert asked("spot") == asked("spot/where") == type["spot"].within_box(0, 0, 1, 1) != asked("also")
    assert asked(".") == asked("also")


def test_a_letter_that_nobody_uses_is_found_beyond_all_small_ones():
    small = set("abcdefghijklmnopqrstuvwxyz")
    assert _unused(set()) == "x" and _unused({"x"}) == "y" and _unused(small - {"w"}) == "w"
    assert _unused(small) == "\u4e00" and _unused({*small, "\u4e00", "\u4e01"}) == "\u4e02"


def test_a_word_without_case_is_its_own_example():
    assert witness((caseless(("ab",)),), ()) == "ab"
    assert witness((caseless(("ab",)), ("a", "")), ()) == "ab"
    assert witness((caseless(("ab",)), ("A", "")), ()) in ("Ab", "AB")
    assert witness((caseless(("ab",)), ("c", "")), ()) is None


def test_what_is_missing_is_in_no_set_unless_it_is_told():
    for each in (StringSet(("a",)), StringSet(), RangeSet(((1, 2),)), AreaSet(""), PointSet()):
        assert not each.absent and not each.has(None)


def test_unions_are_closed_as_if_they_had_been_asked_at_once():
    assert offer("n < m and n <= 5") | offer("n < m and n > 5") == offer("n < m")
    assert offer("n < m and price < 3") | offer("n < m and price >= 3") == offer("n < m")
    type = EventType("song", (Field("title", String(), True), Field("title/@lang", String(), True)))
    english, german = type["title/@lang"] == "en", type["title/@lang"] == "de"
    assert english | german == type["title/@lang"].isin(["de", "en"])
    assert type["title"].exists().covers(english | german)
    untitled = ~type["title"].exists()
    assert (english & untitled).empty and Filter.of(
        type, [(*english.conjunctions[0], *untitled.conjunctions[0])]
    ).empty


def test_fields_of_different_kinds_are_told_with_their_kinds():
    with pytest.raises(FilterError, match=r"price \(decimal\) and by \(string\) cannot be compared"):
        offer("price = by")


def test_what_cannot_be_told_of_records_is_told_on_the_safe_side(monkeypatch):
    record = EventType("r", {"a": Integer(), "b": Integer()})
    some = RecordListSet.where([record.a > 3], Filter.nothing(record))
    assert some.covers(some) and some.intersects(some)

    def too_many(self, other):
        raise ContentError("too many alternatives")

    monkeypatch.setattr(Filter, "covers", too_many)
    assert not some.covers(some) and some.intersects(some)


def test_records_are_asked_with_and_without_what_none_of_them_may_be():
    record = EventType("r", {"a": Integer()})
    high, low, none = record.a > 3, record.a < 0, Filter.nothing(record)
    rows = ((1,), (5,)), ((-1,), (5,)), ((1,),), (), ((-1,),)
    for required, refused, expected in (
        ((high,), none, [True, True, False, False, False]),
        ((), low, [True, False, True, True, False]),
        ((high,), low, [True, False, False, False, False]),
        ((high, low), none, [False, True, False, False, False]),
        ((), none, [True] * 5),
    ):
        wanted = RecordListSet.where(required, refused)
        assert [wanted.has(each) for each in rows] == expected
        assert wanted.has(wanted.example())
        rest = wanted.outside(RecordListSet.where((), none))
        assert [sum(part.has(each) for part in rest) for each in rows] == [1 - entry for entry in expected]
    some, anything = RecordListSet.where((high,), none), RecordListSet.where((), none)
    assert some.join(RecordListSet.where((low,), none)) == RecordListSet.where((high | low,), none)
    assert some.join(RecordListSet.where((), high)) == anything


def test_a_term_knows_what_it_is_and_is_not():
    assert (PAGE.title.lower().startswith("so")).matches(PAGE({"title": "SO WHAT", "news/author": "x"}))
    assert PAGE.title.lower().contains("").equivalent(PAGE.title.contains(""))
    with pytest.raises(ContentError, match="news"):
        PAGE["news"] == "x"  # noqa: B015
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = PAGE.title.__wrapped__


def test_a_declared_enumeration_has_nothing_but_its_values():
    with pytest.raises(ContentError, match="'min' is not a key of an enumeration"):
        declare_type("a", {"b": {"kind": ["x", "y"], "min": 3}})
    with pytest.raises(ContentError, match="3 is not a string"):
        Enumeration(("a",)).store(3)
    with pytest.raises(ContentError, match=r"^1{40} exceeds the range"):
        Decimal().read("1" * 400)


def test_json_of_a_value_that_stands_after_its_attribute():
    type = EventType("song", (Field("title/@lang", String(), True), Field("title", String())))
    event = type({"title/@lang": "en", "title": "So What"})
    assert event.to_json() == '{"song":{"title":{"@lang":"en","":"So What"}}}'
    assert Event.from_json(event.to_json(), type) == event
    plain = type(title="Naima")
    assert plain.to_json() == '{"song":{"title":"Naima"}}' and Event.from_json(plain.to_json(), type) == plain


def test_the_point_of_an_event_matches_it_and_nothing_else():
    track = EventType("track", {"n": Integer(), "by": String()}, optional=("by",))
    album = EventType(
        "album",
        (
            Field("track", RecordList(track)),
            Field("live", Presence(), True),
            Field("where", AreaType(), True),
            Field("title", String()),
        ),
    )
    rows = [{"n": 1}, {"n": 2, "by": "x"}]
    event = album(track=rows, title="a", where="1,2 3")
    only = point(event)
    assert only.matches(event) and only.matches(album(track=rows[::-1], title="a", where="9,9 9"))
    for other in (
        album(track=rows[:1], title="a", where="1,2 3"),
        album(track=[*rows, {"n": 3}], title="a", where="1,2 3"),
        album(track=rows, title="b", where="1,2 3"),
        album(track=rows, title="a"),
        album(track=rows, title="a", where="1,2 3", live=True),
    ):
        assert not only.matches(other), other
    assert point(album(title="a")).matches(album(title="a"))
    assert not point(album(title="a")).matches(album(track=rows, title="a"))


def test_pieces_of_nothing_are_no_pieces():
    number = (PAGE.n >= 0) & (PAGE.n <= 5) | (PAGE.n >= 4) & (PAGE.n <= 9)
    assert number.covers((PAGE.n >= 2) & (PAGE.n <= 8)) and not number.covers((PAGE.n >= 2) & (PAGE.n <= 10))
    low, high = (PAGE.n <= 5) & (PAGE.title == "a"), (PAGE.n > 3) & (PAGE.title == "a")
    assert subtract(PAGE, (PAGE.n == 4).conjunctions[0], low.conjunctions[0]) != []
    assert subtract(PAGE, (low & high).conjunctions[0], low.conjunctions[0]) == []
    assert (low | high).covers((PAGE.title == "a") & PAGE.n.exists())


def test_what_takes_too_many_pieces_is_not_covered_and_has_no_known_event_outside(monkeypatch):
    both = (PAGE.n <= 5) & (PAGE.title == "a") | (PAGE.n >= 4) & PAGE.title.isin(["a", "b"])
    whole = (PAGE.title == "a") & PAGE.n.exists()
    assert both.covers(whole) and not both.matches(both.counterexample())
    assert both != whole and both != "both"
    monkeypatch.setattr(filters, "PIECE_LIMIT", 0)
    assert not both.covers(whole) and both.covers(PAGE.title.isin(["a"]) & (PAGE.n == 3))
    with pytest.raises(FilterTooComplex, match="no event outside the filter was found in 0 pieces"):
        both.counterexample()


def test_a_function_on_text_takes_a_quoted_one_and_says_so_where_it_stands():
    for text in ("contains(title, 3)", "starts-with(title, -1)"):
        with pytest.raises(FilterError, match="expected a quoted string"):
            Filter.parse(f"/page[{text}]", PAGE)
    with pytest.raises(FilterError, match="lower-case"):
        Filter.parse('/page[lower-case(title) < "a"]', PAGE)


def test_alternatives_are_counted_before_they_are_multiplied():
    wide = EventType("wide", {f"f{n}": Integer() for n in range(4)})

    def several(count, first, second):
        boxes = [(wide[first] == n) & (wide[second] == n) for n in range(count)]
        return Filter.of(wide, [each.conjunctions[0] for each in boxes])

    most = several(MAX_CONJUNCTIONS, "f0", "f1")
    assert len((most & (wide.f2 > 3)).conjunctions) == MAX_CONJUNCTIONS
    for more in (several(2, "f2", "f3"), several(3, "f2", "f3")):
        with pytest.raises(ContentError, match=f"the maximum is {MAX_CONJUNCTIONS}"):
            _ = most & more
    with pytest.raises(ContentError, match=f"the filter has {MAX_CONJUNCTIONS + 1} alternatives"):
        _ = most | several(1, "f2", "f3")


def test_names_alone_are_guessed_for_one_type_a_subscription():
    with pytest.raises(FilterError, match="the same event type"):
        guess_types(["/a[x > 3] | /b[x > 3]"])
    assert set(guess_types(["/a[x > 3]", "/b"])) == {"a", "b"}


def test_a_subscription_has_so_many_characters():
    assert tokenize(" " * MAX_TEXT)[-1].position == MAX_TEXT
    with pytest.raises(FilterError, match=f"{MAX_TEXT + 1} characters; the maximum is {MAX_TEXT}"):
        tokenize(" " * (MAX_TEXT + 1))


def test_what_is_written_of_records_that_none_can_be():
    record = EventType("r", {"a": Integer()})
    type = EventType("t", (Field("r", RecordList(record)),))
    impossible = Filter(type, (((0, RecordListSet((Filter.nothing(record),), Filter.nothing(record))),),))
    assert str(impossible) == "/t[r[false()]]"
    assert Filter.parse(str(impossible), type).empty
