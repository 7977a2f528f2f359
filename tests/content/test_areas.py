"""Areas that events tell: circles and polygons, within regions that filters ask about or meeting them."""

import math
from pathlib import Path

import pytest

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet, RegionTest
from roamcast.content.codec import decode_event, encode_event
from roamcast.content.covering import MinimalCover
from roamcast.content.declare import declare_type, write_type
from roamcast.content.earth.polygon import MAX_CORNERS, Polygon
from roamcast.content.earth.shapes import LatLonBox, within
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import CodecError, ContentError, FilterError, FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.hull import hull
from roamcast.content.grouping.incremental import METHODS, make_incremental
from roamcast.content.grouping.sample import sample_events
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import Summary
from roamcast.content.xml.xsd import XmlSchema

CAP_FILES = Path(__file__).parents[2] / "scenarios/cap"
ZONE = EventType("zone", (Field("where", AreaType()), Field("also", AreaType("polygon"), True)))
VIENNA = "48.1,16.2 48.3,16.2 48.3,16.6 48.1,16.6 48.1,16.2"


def wanted(text, type=ZONE):
    found = Filter.parse(text, type)
    assert Filter.parse(str(found), type) == found, (text, str(found))
    assert Filter.from_bytes(found.to_bytes(), type) == found, text
    return found


def zone(where, also=None):
    event = ZONE(where=where, also=also)
    assert decode_event(encode_event(event), ZONE) == event
    assert Event.from_json(event.to_json(), ZONE) == event
    return event


def test_a_polygon_lies_within_a_region_or_only_meets_it():
    city = zone(VIENNA)
    assert wanted('/zone[within(where, circle(48.2, 16.4, "25 km"))]').matches(city)
    assert not wanted('/zone[within(where, circle(48.2, 16.4, "10 km"))]').matches(city)
    assert wanted('/zone[intersects(where, circle(48.2, 16.4, "10 km"))]').matches(city)
    assert wanted('/zone[intersects(where, circle(48.2, 16.4, "1 m"))]').matches(city)  # deep in it
    assert wanted('/zone[intersects(where, circle(48.05, 16.4, "6 km"))]').matches(city)  # over its edge
    assert not wanted('/zone[intersects(where, circle(48.05, 16.4, "5 km"))]').matches(city)
    assert wanted("/zone[within(where, box(48, 16, 49, 17))]").matches(city)
    assert not wanted("/zone[within(where, box(48, 16.3, 49, 17))]").matches(city)
    assert wanted("/zone[intersects(where, box(48, 16.3, 49, 17))]").matches(city)
    assert not wanted("/zone[intersects(where, box(48, 16.61, 49, 17))]").matches(city)
    assert wanted("/zone[intersects(where, box(48.2, 16, 48.2, 17))]").matches(city)  # edges cross alone


def test_a_circle_lies_within_a_region_or_only_meets_it():
    spot = zone("48.2,16.37 4.5")
    assert spot["where"] == Circle(48.2, 16.37, 4500.0)
    assert wanted('/zone[within(where, circle(48.2, 16.37, "4.5 km"))]').matches(spot)
    assert not wanted('/zone[within(where, circle(48.2, 16.38, "4.5 km"))]').matches(spot)
    assert wanted('/zone[intersects(where, circle(48.2, 16.5, "6 km"))]').matches(spot)
    assert not wanted('/zone[intersects(where, circle(48.2, 16.5, "5 km"))]').matches(spot)
    assert wanted("/zone[within(where, box(48.15, 16.3, 48.25, 16.44))]").matches(spot)
    assert not wanted("/zone[within(where, box(48.15, 16.32, 48.25, 16.44))]").matches(spot)


def test_areas_across_the_date_line_and_around_a_pole():
    fiji = zone("-20,177 -15,177 -15,-178 -20,-178 -20,177")
    assert wanted("/zone[within(where, box(-21, 176, -14, -177))]").matches(fiji)
    assert not wanted("/zone[within(where, box(-21, -178, -14, 177))]").matches(fiji)
    assert not wanted("/zone[intersects(where, box(-21, -177, -14, 176))]").matches(fiji)
    assert wanted('/zone[intersects(where, circle(-17, 180, "1 km"))]').matches(fiji)
    assert wanted('/zone[intersects(where, circle(-17, -180, "1 km"))]').matches(fiji)
    pole = zone("80,0 80,120 80,-120 80,0")
    assert wanted("/zone[within(where, box(60, -180, 90, 180))]").matches(pole)
    assert not wanted("/zone[within(where, box(60, -179, 90, 179))]").matches(pole)
    assert wanted('/zone[intersects(where, circle(90, 17, "1 km"))]').matches(pole)
    slice_of_it = zone("90,0 80,10 80,20 90,0")
    assert wanted("/zone[within(where, box(70, 10, 90, 20))]").matches(slice_of_it)
    assert not wanted("/zone[within(where, box(70, 11, 90, 20))]").matches(slice_of_it)


@pytest.mark.parametrize("turned", [0, 77, 180])
@pytest.mark.parametrize(("pole", "way"), [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_an_area_with_an_edge_over_a_pole_lies_on_one_side_of_it(pole, way, turned):
    def within_lons(west, east):
        west, east = ((lon + turned + 180) % 360 - 180 for lon in (west, east))
        south, north = sorted((70 * pole, 90 * pole))
        return wanted(f"/zone[within(where, box({south}, {west}, {north}, {east}))]").matches(half)

    lons = [(lon + turned + 180) % 360 - 180 for lon in (0, 90, 180, 0)[::way]]
    half = zone(" ".join(f"{80 * pole},{lon}" for lon in lons))
    assert within_lons(0, 180) and within_lons(-10, 190)
    assert not within_lons(1, 181) and not within_lons(-1, 179) and not within_lons(180, 360)
    around = zone(" ".join(f"{80 * pole},{lon}" for lon in (0, 120, -120, 0)))
    for west in range(-180, 180, 60):  # the pole is deep in it: each longitude has a part
        assert not within(
            around["where"], LatLonBox(min(70 * pole, 90 * pole), west, max(70 * pole, 90 * pole), west - 1)
        )


def test_what_is_missing_is_in_no_region_and_meets_none():
    away = wanted("/zone[also and not(intersects(also, box(0, 0, 10, 10)))]")
    assert not away.matches(zone(VIENNA))
    assert away.matches(zone(VIENNA, also=VIENNA))
    maybe = wanted("/zone[not(within(also, box(40, 10, 50, 20)))]")
    assert maybe.matches(zone(VIENNA))
    assert not maybe.matches(zone(VIENNA, also=VIENNA))
    assert (~maybe).equivalent(wanted("/zone[within(also, box(40, 10, 50, 20))]"))
    assert wanted("/zone[not(also)]").matches(zone(VIENNA))
    nowhere = wanted("/zone[within(also, box(0, 0, 1, 1)) and within(also, box(2, 2, 3, 3))]")
    assert nowhere.empty


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("within(where, box(0, 0, 10, 10))", "within(where, box(1, 1, 9, 9))", True),
        ("within(where, box(1, 1, 9, 9))", "within(where, box(0, 0, 10, 10))", False),
        ("intersects(where, box(0, 0, 10, 10))", "within(where, box(1, 1, 9, 9))", True),
        ("within(where, box(0, 0, 10, 10))", "intersects(where, box(1, 1, 9, 9))", False),
        ("intersects(where, box(0, 0, 10, 10))", "intersects(where, circle(5, 5, 1000))", True),
        ("within(where, circle(5, 5, '900 km'))", "within(where, box(1, 1, 9, 9))", True),
        ("within(where, circle(5, 5, '600 km'))", "within(where, box(1, 1, 9, 9))", False),
        ("not(intersects(where, box(20, 0, 30, 10)))", "within(where, circle(5, 5, '900 km'))", True),
        ("not(within(where, box(20, 0, 30, 10)))", "intersects(where, circle(5, 5, '900 km'))", True),
        ("not(intersects(where, box(20, 0, 30, 10)))", "intersects(where, box(1, 1, 9, 9))", False),
        ("not(within(where, box(1, 1, 9, 9)))", "not(within(where, box(0, 0, 10, 10)))", True),
        ("not(within(where, box(1, 1, 9, 9)))", "not(intersects(where, box(0, 0, 10, 10)))", True),
        ("not(intersects(where, box(1, 1, 9, 9)))", "not(within(where, box(0, 0, 10, 10)))", False),
        ("within(where, box(-90, -180, 90, 180))", "where", True),
    ],
)
def test_what_covers_what(wide, narrow, expected):
    assert wanted(f"/zone[{wide}]").covers(wanted(f"/zone[{narrow}]")) is expected


def test_alerts_whose_areas_meet_a_place():
    cap = XmlSchema.load(CAP_FILES / "cap-1.2.xsd")
    alert, flood = cap.type("alert"), cap.read((CAP_FILES / "flood.cap.xml").read_bytes())
    assert cap.read(cap.write(flood)) == flood
    index = MatchIndex()
    texts = {
        '/alert[within(info/area, circle(48.2, 16.37, "5 km"))]': True,
        '/alert[info/area[within(circle, circle(48.2, 16.37, "5 km"))]]': True,
        '/alert/info[severity="Extreme" and intersects(area, box(48.2, 16.3, 48.21, 16.4))]': True,
        '/alert/info[severity="Moderate" and intersects(area, box(48.2, 16.3, 48.21, 16.4))]': False,
        '/alert[within(info/area/polygon, circle(48.235, 16.41, "1 km"))]': True,
        '/alert[within(info/area/polygon, circle(48.235, 16.41, "300 m"))]': False,
        '/alert[info/area/circle[intersects(., circle(48.21, 16.37, "1 m"))]]': True,
    }
    for number, (text, expected) in enumerate(texts.items()):
        found = wanted(text, alert)
        assert found.matches(flood) is expected, text
        index.add(number, found)
        assert Summary.of([found]).admits(flood) or not expected
    assert index.match(flood) == [n for n, expected in enumerate(texts.values()) if expected]
    by_hand = alert.info.area.within_circle(48.2, 16.37, 5000)
    assert by_hand.equivalent(wanted(next(iter(texts)), alert))
    assert alert.info.area.circle.intersects_box(48.2, 16.3, 48.21, 16.4).matches(flood)
    assert alert.info.area.polygon.within_box(48.2, 16.4, 48.3, 16.5).matches(flood)


def test_a_polygon_of_an_example_is_one():
    cap = XmlSchema.load(CAP_FILES / "cap-1.2.xsd")
    found = wanted("/alert/info/area[within(polygon, box(10, 10, 20, 20))]", cap.type("alert"))
    assert isinstance(found.example()["info"][0]["area"][0]["polygon"][0], Polygon)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("48,16 49,16 48,16", "is not a circle"),
        ("48,16 49,16 49,17 48,17", "not closed"),
        ("48,16 49,17 49,16 48,17 48,16", "intersects or touches itself"),
        ("48,16 49,16 50,16 48,16", "intersects or touches itself|degenerate"),
        ("0,16 0,17 0,18 0,16", "intersects or touches itself|degenerate"),
        ("48,16 48,16 48,16 48,16", "intersects or touches itself"),
        ("91,16 49,16 49,17 91,16", "is not a position"),
        ("nan,16 49,16 49,17 nan,16", "is not a position like"),
        ("0,0 0,90 0,180 0,-90 0,0", "more than 60 degrees"),
        ("48,16 -1", "is not a circle"),
        ("48,16 10001", "to 10000 km"),
        ("48,16", "is not a circle"),
        ("", "is not a circle"),
        (" ".join(f"{n / 100},{n / 100}" for n in range(MAX_CORNERS + 2)), f"at most {MAX_CORNERS} corners"),
        ("1" * 1_000_000, f"at most {MAX_CORNERS} corners"),
    ],
)
def test_what_is_no_area_is_refused_when_it_is_read(text, reason):
    with pytest.raises(ContentError, match=reason):
        AreaType().read(text)


def test_a_field_of_one_shape_refuses_the_other():
    for shape, text in (("circle", VIENNA), ("polygon", "48.2,16.37 5")):
        with pytest.raises(ContentError, match=f"is not a (closed )?{shape}"):
            AreaType(shape).read(text)
    with pytest.raises(ContentError, match="'circle' or a 'polygon'"):
        AreaType("square")


@pytest.mark.parametrize(
    "shape",
    [
        Polygon(((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0))),
        Polygon(((0.0, 0.0), (1.0, math.nan), (0.0, 1.0))),
        Polygon(((0.0, 0.0), (1.0, 0.0))),
        Polygon(((0.0, 0.0), (1.0, 0.0), (-0.0, 1.0))),
        Circle(0.0, 0.0, 0.00001),
        Circle(0.0, math.inf, 1.0),
        Circle(0.0, 0.0, -1.0),
    ],
)
def test_bytes_of_what_is_no_area_are_refused(shape):
    data = encode_event(Event(ZONE, (shape, None)))
    with pytest.raises(ContentError):
        decode_event(data, ZONE)


def test_bytes_of_tests_that_others_make_needless_are_refused():
    inner, outer = (
        RegionTest(True, LatLonBox(1.0, 1.0, 2.0, 2.0)),
        RegionTest(True, LatLonBox(0.0, 0.0, 3.0, 3.0)),
    )
    twice = Filter(ZONE, (((0, AreaSet("", (inner, outer))),),))
    with pytest.raises(CodecError, match="not in canonical form"):
        Filter.from_bytes(twice.to_bytes(), ZONE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('/zone[where="48,16 1"]', "is an area: use within"),
        ('/zone[contains(where, "48")]', "text functions are not defined"),
        ("/zone[where=also]", "has no value that could be compared"),
        ("/zone[intersects(where, box(2, 0, 1, 1))]", "must not exceed the northern one"),
        ('/zone[intersects("x", box(0, 0, 1, 1))]', "path of a position or an area"),
    ],
)
def test_what_cannot_be_asked_of_an_area_is_refused(text, reason):
    with pytest.raises(FilterError, match=reason):
        Filter.parse(text, ZONE)


def test_areas_are_declared_and_written_down():
    fields = {"where": "area", "also": {"kind": "area", "shape": "polygon", "optional": True}}
    assert declare_type("zone", fields) is ZONE
    assert write_type(ZONE) == fields
    with pytest.raises(ContentError, match="'min' is not a key"):
        declare_type("zone", {"where": {"kind": "area", "min": 1}})


def test_covers_hulls_and_groups_know_areas():
    narrow = wanted("/zone[within(where, box(1, 1, 2, 2))]")
    wide = wanted("/zone[intersects(where, box(0, 0, 3, 3))]")
    other = wanted("/zone[intersects(where, box(20, 0, 23, 3))]")
    cover = MinimalCover([narrow, other, wide])
    assert cover.minimal() == [other, wide]
    assert hull([narrow, wide]).covers(narrow)
    assert hull([narrow, other]).covers(other)


@pytest.mark.parametrize("method", METHODS)
def test_filters_of_areas_are_grouped_by_each_method(method):
    groups = make_incremental(method, 2)
    filters = [wanted(f"/zone[within(where, box({n}, 1, {n + 2}, 2))]") for n in range(5)]
    for key, each in enumerate([*filters, wanted("/zone[intersects(also, box(0, 0, 3, 3))]")]):
        groups.add(key, each)
    found = groups.groups(ZONE)
    assert sorted(key for _, members, _ in found for key in members) == [0, 1, 2, 3, 4, 5]
    assert all(filter.covers(filters[key]) for _, members, filter in found for key in members if key < 5)


def test_a_cover_holds_filters_of_which_no_example_is_found():
    """Three circles of which each two meet, and all three do not: nobody looks at three."""
    circles = ((0, 0), (0, 9.9), (8.57, 4.95))
    asked = " and ".join(f"within(where, circle({lat}, {lon}, '600 km'))" for lat, lon in circles)
    puzzle = wanted(f"/zone[{asked}]")
    with pytest.raises(FilterTooComplex):
        puzzle.example()
    wide = wanted("/zone[within(where, circle(0, 0, '700 km'))]")
    assert len(sample_events([puzzle, wide], 3)) == 3
    assert MinimalCover([wide, puzzle], few=0).minimal() == [wide]
    assert MinimalCover([puzzle, wide], few=0).minimal() == [wide]
