"""What is seldom asked of content: small pieces, each by itself."""

import json
import math

import pytest

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet, RegionTest
from roamcast.content.box.constraint import compare, disc
from roamcast.content.box.field_order import compare_fields
from roamcast.content.box.point_set import MAX_DISCS, PointSet
from roamcast.content.box.range_set import RangeSet, thin
from roamcast.content.earth.shapes import LatLonBox, circle, polygon
from roamcast.content.earth.sphere import EARTH
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Decimal, Integer, Presence, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.hull import hull, union
from roamcast.content.grouping.sample import sample_events
from roamcast.content.json.json_document import MAX_VALUES
from roamcast.content.json.json_field_type import type_names
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.match.index import MatchIndex
from roamcast.content.schema import MAX_FIELDS, EventType, Field
from roamcast.content.summary import Summary
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.xsd import MAX_SCHEMA, XmlSchema

Song = EventType(
    "song",
    {"year": Integer(), "title": String(), "live": Presence(), "mono": Presence()},
    optional=("live", "mono"),
)
Tune = EventType("tune", {"year": Integer()})


def years(*spans):
    return [(Song.year >= low) & (Song.year <= high) for low, high in spans]


def test_spans_are_thinned_where_the_gaps_are_smallest():
    spans = ((0, 1), (3, 4), (5, 6), (20, 21), (23, 24))
    assert thin(spans, 5) is spans
    assert thin(spans, 4) == ((0, 1), (3, 6), (20, 21), (23, 24))
    assert thin(spans, 3) == ((0, 6), (20, 21), (23, 24))
    assert thin(spans, 1) == ((0, 24),)


def test_a_union_is_exact_until_it_takes_too_many_alternatives():
    three = [*years((1, 2), (5, 6)), Song.title == "a"]
    assert union(three, 2) == three[0] | three[1] | three[2]
    assert union(three, 1) == hull(three) == Filter.everything(Song)
    assert union(years((1, 2), (5, 6))) == years((1, 2))[0] | years((5, 6))[0]
    with pytest.raises(ContentError, match="several event types have no common cover"):
        hull([Song.year > 1, Tune.year > 1])
    with pytest.raises(ContentError, match="nothing to cover"):
        hull([Filter.nothing(Song)])


BIG, SMALL, FAR = (disc(48.0, 16.0, 5000.0), disc(48.0, 16.0, 1000.0), disc(0.0, 0.0, 1000.0))


def test_circles_are_joined_where_one_has_all_of_the_other_or_both_have_everything():
    big, small, far = (PointSet.where((each,), ()) for each in (BIG, SMALL, FAR))
    assert big.join(small) == small.join(big) == big
    assert big.join(far) is None
    assert big.join(PointSet.where((), (BIG,))) == PointSet() == PointSet.where((), (BIG,)).join(big)
    beside = disc(48.02, 16.0, 5000.0)
    assert PointSet.where((BIG, beside), ()).join(PointSet.where((), (BIG, beside))) is None
    assert not big.has(None) and big.has((48.0, 16.0)) and not small.has((48.0, 16.05))
    assert big.has(big.example())
    with pytest.raises(ContentError, match=f"more than {MAX_DISCS} circles"):
        PointSet.where((), [disc(float(n), 0.0, 1000.0) for n in range(MAX_DISCS + 1)])
    assert (
        len(PointSet.where((), [disc(float(n), 0.0, 1000.0) for n in range(MAX_DISCS)]).outside_of)
        == MAX_DISCS
    )


def test_an_example_is_found_where_circles_leave_little():
    diagonal = PointSet.where((disc(10.0, 20.0, 79_000.0), disc(11.0, 21.0, 79_000.0)))  # 156 km apart
    assert not any(diagonal.has((each.lat, each.lon)) for each in diagonal.inside)
    assert diagonal.has(diagonal.example())
    rim = PointSet.where((disc(48.0, 16.0, 5000.0),), (disc(48.0, 16.0, 4850.0),))
    assert rim.has(rim.example())


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "null"]}, ("string", "null")),
        ({"enum": ["a", None]}, ("string", "null")),
        ({"enum": [1, 2.5]}, ("number",)),
        ({"const": True}, ("boolean",)),
        ({"const": 3}, ("integer",)),
        ({"properties": {}}, ("object",)),
        ({"items": {}}, ("array",)),
        ({"format": "date"}, ("string",)),
        ({"maximum": 3}, ("number",)),
        ({}, ()),
    ],
)
def test_the_types_that_a_schema_speaks_of(schema, names):
    assert type_names(schema, "here") == names


def of_property(result, **more):
    return JsonSchema(json.dumps({"type": "object", "properties": {"a": result}, "required": ["a"], **more}))


def test_of_several_bounds_the_narrower_count():
    parts = [
        {"type": "integer", "minimum": 1, "maximum": 9},
        {"type": "integer", "minimum": 3, "maximum": 12},
    ]
    for members in (parts, parts[::-1]):
        kind = of_property({"allOf": members}).types["event"].fields[0].kind
        assert (kind.min, kind.max) == (3, 9)
    with pytest.raises(ContentError, match="'type' is declared twice with different values"):
        of_property({"allOf": [{"type": "integer"}, {"type": "string"}]})
    with pytest.raises(ContentError, match="the enumeration has values that are not of type 'integer'"):
        of_property({"type": "integer", "enum": ["a"]})


def test_a_schema_holds_no_more_values_than_it_may():
    listed = {"type": "integer", "enum": list(range(MAX_VALUES))}
    with pytest.raises(ContentError, match=f"the schema has more than {MAX_VALUES} values"):
        of_property(listed)
    assert of_property({"type": "integer", "enum": list(range(100))}).types


def test_items_are_unique_if_no_two_are_the_same_number():
    schema = of_property({"type": "array", "items": {"type": "number"}, "uniqueItems": True})
    assert schema.read('{"a": [3, 4]}')["a"] == (3.0, 4.0)
    for same in ("[3, 3.0]", "[4, 3, 4]"):
        with pytest.raises(ContentError, match="unique"):
            schema.read(f'{{"a": {same}}}')


def test_files_that_cannot_be_read_are_named(tmp_path):
    for load in (JsonSchema.load, XmlSchema.load):
        with pytest.raises(ContentError, match=r"none: cannot be read: No such file"):
            load(tmp_path / "none")
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(ContentError, match=r"a\.json: the schema of an event must be an object"):
        JsonSchema.load(tmp_path / "a.json")
    with pytest.raises(ContentError, match="not JSON"):
        JsonSchema("{")


XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{}</xs:schema>'
ELEMENT = '<xs:element name="{}"><xs:complexType><xs:sequence>{}</xs:sequence></xs:complexType></xs:element>'
ROW = '<xs:element name="a" type="xs:int"/>'


def test_of_several_event_types_one_must_be_named():
    both = XmlSchema(XSD.format(ELEMENT.format("one", ROW) + ELEMENT.format("two", ROW)).encode())
    assert both.type("two").name == "two"
    with pytest.raises(ContentError, match="several event types: one, two; choose one by name"):
        both.type()
    with pytest.raises(ContentError, match=f"longer than {MAX_SCHEMA} bytes"):
        XmlSchema(b" " * (MAX_SCHEMA + 1))
    with pytest.raises(ContentError, match="not XML"):
        both.read(b"")


TOLD = {
    "moment": (lambda: DateTime().store(3), "3 is not a point in time"),
    "duration": (lambda: Duration().store(3), "3 is not a duration"),
    "presence": (
        lambda: Presence().store(1),
        "'1' is not True; leave the field out if the element is missing",
    ),
    "decimal": (lambda: Decimal().store("x"), "'x' is not a number"),
    "a flag for a decimal": (lambda: Decimal().store(True), "True is not a number"),
    "a field twice": (
        lambda: EventType("a", (Field("b", String()), Field("b", Integer()))),
        "the field 'b' twice",
    ),
    "too many fields": (
        lambda: EventType("a", {f"f{n}": Integer() for n in range(MAX_FIELDS + 1)}),
        f"a has {MAX_FIELDS + 1} fields; the maximum is {MAX_FIELDS}",
    ),
    "presence compared": (lambda: compare(Song.fields[2], "<", 3), "is a presence field"),
    "presence with a field": (
        lambda: compare_fields(Song.fields[2], "=", Song.fields[3]),
        "has no value that could be compared",
    ),
    "itself": (lambda: Song.year < Song.year, "is compared with itself"),
    "enumeration": (
        lambda: Filter.parse("/song[not(year) = 3]", Song),
        "is a condition and cannot be compared",
    ),
    "condition": (lambda: Filter.parse("/song[(year > 3) = 3]", Song), "only a path can be compared"),
    "two types": (
        lambda: Filter.parse("/song[year > 3] | /tune", {"song": Song, "tune": Tune}),
        "the same event type",
    ),
    "what is quoted": (
        lambda: Filter.parse("/song[contains(title, year)]", Song),
        "expected a quoted string",
    ),
}


@pytest.mark.parametrize(("say", "reason"), TOLD.values(), ids=TOLD)
def test_what_is_refused_with_its_reason(say, reason):
    with pytest.raises(ContentError, match=reason):
        say()


def test_what_a_type_does_not_have():
    with pytest.raises(AttributeError, match="did you mean 'year'"):
        _ = Song.yaer
    with pytest.raises(AttributeError, match="__length_hint__"):
        Song.__length_hint__()
    assert Song != Tune and Song == Song


def test_an_index_knows_its_keys():
    index = MatchIndex()
    index.add("a", Song.year > 3)
    assert ("a" in index, "b" in index, len(index), list(index)) == (True, False, 1, ["a"])


def test_what_lies_outside_of_ranges_leaves_nothing_out_and_takes_nothing_twice():
    mine, everything = RangeSet(((1, 2), (5, 6), (30, 40))), RangeSet(((0, 10), (20, 29), (35, 50)))
    (rest,) = mine.outside(everything)
    assert {n for n in range(60) if rest.has(n)} == {
        n for n in range(60) if everything.has(n) and not mine.has(n)
    }
    assert RangeSet(((0, 50),)).outside(everything) == []
    assert RangeSet(((60, 70),)).outside(everything) == [everything]


ZONE = EventType("zone", (Field("where", AreaType()),))
EAST, WEST = (RegionTest(True, LatLonBox(0.0, low, 10.0, low + 20.0)) for low in (5.0, 0.0))


def test_what_lies_outside_of_areas_falls_apart_into_parts_that_do_not_overlap():
    both = AreaSet.where("", (EAST, WEST), ())
    parts = both.outside(AreaSet(""))
    assert [len(part.required) for part in parts] == [0, 1]
    for spot in (
        circle(5.0, 2.0, 0.0),
        circle(5.0, 22.0, 0.0),
        circle(5.0, 50.0, 0.0),
        circle(5.0, 10.0, 0.0),
    ):
        assert sum(part.has(spot) for part in parts) == (not both.has(spot)), spot


def test_an_area_is_of_the_shape_that_its_field_has():
    ring = polygon(((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)))
    assert AreaType("polygon").store(ring) == ring
    for kind, value in (
        (AreaType("circle"), ring),
        (AreaType("polygon"), circle(1.0, 2.0, 3.0)),
        (AreaType(), 3),
    ):
        with pytest.raises(ContentError, match="is not"):
            kind.store(value)


def test_in_lower_case_only_texts_are_compared_and_only_for_equality():
    assert (Song.title.lower() == "so what").matches(Song(year=1, title="SO WHAT"))
    for wrong in (lambda: Song.title.lower() < "a", lambda: Song.title.lower() == 3):
        with pytest.raises(ContentError, match="in lower case supports only == and != with a string"):
            wrong()


def test_the_bounds_of_a_circle_have_room_for_all_of_it():
    for lat, lon, radius in ((48.0, 16.0, 5000.0), (-60.0, 179.99, 20_000.0), (10.0, -179.9, 90_000.0)):
        lats, lons = disc(lat, lon, radius).bounds()
        for turn in range(360):
            along = math.radians(turn)
            reach = math.degrees(radius / EARTH)
            north = lat + reach * math.cos(along)
            east = lon + reach * math.sin(along) / math.cos(math.radians(north))
            assert lats.has(north)
            assert lons.has((east + 180) % 360 - 180)
        exact = math.degrees(radius / EARTH)
        assert lats.spans[0][1] > lat + exact > lats.spans[0][1] - 1e-3


def test_events_around_subscriptions_are_such_as_are_wanted_in_new_mixtures():
    wanted = [(Song.year == year) & (Song.title == title) for year, title in ((1, "a"), (2, "b"), (3, "c"))]
    wanted += [Tune.year == 9, Filter.nothing(Song)]
    events = sample_events(wanted, 400, seed=5)
    assert events == sample_events(wanted, 400, seed=5) != sample_events(wanted, 400, seed=6)
    songs = [event for event in events if event.type is Song]
    assert {event["year"] for event in songs} == {1, 2, 3}
    assert {event["title"] for event in songs} == {"a", "b", "c"}
    mixed = sum(not any(filter.matches(event) for filter in wanted) for event in songs)
    assert 0.2 < mixed / len(songs) < 0.7
    assert {event["year"] for event in events if event.type is Tune} == {9}
    assert 0.1 < (len(events) - len(songs)) / 400 < 0.4
    assert sample_events([Filter.nothing(Song)], 10) == []


def test_a_summary_covers_a_type_by_its_ranges_and_knows_a_type_that_is_another():
    summary = Summary.of([(Song.year >= 3) & (Song.year <= 9) & (Song.title == "a")], BloomShape(256, 3))
    cover = summary.cover(Song)
    assert cover == ((Song.year >= 3) & (Song.year <= 9))
    assert summary.cover(Tune) is None
    assert Summary.of([], BloomShape(256, 3)).cover(Song) is None


def test_circles_say_nothing_more_where_latitude_and_longitude_already_do():
    place = EventType("place", {"lat": Decimal(), "lon": Decimal()})
    near = Filter.parse('/place[within(., circle(48, 16, "5 km"))]', place)
    assert near & (place.lat == 48.0) & (place.lon == 16.0) == (place.lat == 48.0) & (place.lon == 16.0)
    assert (near & (place.lat == 48.0) & (place.lon == 16.5)) == Filter.nothing(place)
