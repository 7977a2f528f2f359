"""Places on the Earth: `within(point, circle(48.2, 16.37, "5 km"))` and boxes."""

import math
from pathlib import Path
from random import Random

import pytest

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.sphere import EARTH, SLACK, Circle, distance
from roamcast.content.errors import ContentError, FilterError, FilterTooComplex
from roamcast.content.field_type import Decimal
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import Summary
from roamcast.content.xml.xsd import XmlSchema

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
SPOT = EventType(
    "spot",
    (
        Field("@lat", Decimal(-90, 90)),
        Field("@lon", Decimal(-180, 180)),
        Field("near/lat", Decimal(-90, 90), True),
        Field("near/lon", Decimal(-180, 180), True),
    ),
)


def wanted(text, type=SPOT):
    found = Filter.parse(text, type)
    assert Filter.parse(str(found), type) == found, (text, str(found))
    assert Filter.from_bytes(found.to_bytes(), type) == found, text
    return found


def at(lat, lon, near=None):
    return SPOT({"@lat": lat, "@lon": lon, "near": dict(zip(("lat", "lon"), near or (), strict=False))})


def test_distances_are_those_of_great_circles():
    assert distance(0, 0, 0, 90) == pytest.approx(EARTH * math.pi / 2)
    assert distance(48.2082, 16.3738, 47.8095, 13.0550) == pytest.approx(
        251_100, rel=0.002
    )  # Vienna to Salzburg
    assert distance(0, 179.5, 0, -179.5) == pytest.approx(distance(0, 0, 0, 1))


def test_a_circle_around_a_city():
    vienna = wanted('/spot[within(., circle(48.2, 16.37, "5 km"))]')
    assert vienna.matches(at(48.21, 16.4))
    assert not vienna.matches(at(48.25, 16.37))
    assert vienna == SPOT[""].within_circle(48.2, 16.37, 5000)
    assert wanted("/spot[within(., box(48, 16, 49, 17))]") == SPOT[""].within_box(48, 16, 49, 17)
    wider = wanted('/spot[within(., circle(48.2, 16.38, "7 km"))]')
    assert wider.covers(vienna)
    assert not vienna.covers(wider)
    assert vienna.intersects(wider)
    assert not vienna.intersects(wanted('/spot[within(., circle(48.3, 16.37, "6 km"))]'))
    assert wanted("/spot[@lat>48 and @lon<17]").covers(vienna)
    assert vienna.covers(wanted("/spot[within(., box(48.19, 16.36, 48.21, 16.38))]"))
    assert not vienna.covers(wanted("/spot[within(., box(48.19, 16.36, 48.21, 16.45))]"))
    assert str(vienna) == '/spot[within(., circle(48.2, 16.37, "5000 m"))]'


def test_a_box_is_what_its_sides_are_also_across_the_date_line():
    assert wanted("/spot[within(., box(47, 16, 48, 17))]") == wanted(
        "/spot[@lat>=47 and @lat<=48 and @lon>=16 and @lon<=17]"
    )
    fiji = wanted("/spot[within(., box(-20, 177, -15, -178))]")
    assert fiji.matches(at(-17, 179))
    assert fiji.matches(at(-17, -179))
    assert not fiji.matches(at(-17, 0))
    round_fiji = wanted('/spot[within(., circle(-17, 179.9, "50 km"))]')
    assert round_fiji.matches(at(-17, -179.9))
    assert wanted("/spot[@lon>179 or @lon<-179]").covers(round_fiji)


def test_what_is_missing_is_nowhere():
    near = wanted('/spot[within(near, circle(0, 0, "1 km"))]')
    assert not near.matches(at(0, 0))
    assert wanted('/spot[not(within(near, circle(0, 0, "1 km")))]').matches(at(0, 0))
    assert near.matches(at(9, 9, near=(0.001, 0)))
    assert (~near).matches(at(9, 9, near=(1, 0)))
    assert (~~near).equivalent(near)
    away = wanted('/spot[near/lat and near/lon and not(within(near, circle(0, 0, "1 km")))]')
    assert not away.matches(at(0, 0))
    assert away.matches(at(0, 0, near=(1, 1)))


def test_waypoints_of_a_walk():
    gpx = XmlSchema.load(EXAMPLES / "gpx-1.1.xsd")
    walk = gpx.read((EXAMPLES / "walk.gpx").read_bytes())
    first = walk["wpt"][0]
    for text in (
        f"/gpx[within(wpt, circle({first['@lat']}, {first['@lon']}, 100))]",
        f"/gpx/wpt[within(., box({first['@lat']}, {first['@lon']}, {first['@lat']}, {first['@lon']}))]",
    ):
        found = wanted(text, gpx.type("gpx"))
        assert found.matches(walk)
        index = MatchIndex()
        index.add("walk", found)
        assert index.match(walk) == ["walk"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('/spot[within(@lat, circle(0, 0, "1 km"))]', "has neither decimal fields lat and lon"),
        ('/spot[within(., circle(91, 0, "1 km"))]', "is not a position"),
        ('/spot[within(., circle(0, 0, "0 km"))]', "positive and at most 10000 km"),
        ('/spot[within(., circle(0, 0, "5 miles"))]', "a length like '5 km'"),
        ("/spot[within(., circle(0, 0))]", "write circle"),
        ("/spot[within(., ring(0, 0))]", "expected circle"),
        ("/spot[within(., box(2, 0, 1, 1))]", "must not exceed the northern one"),
        ('/spot[within("x", circle(0, 0, 1))]', "path of a position"),
    ],
)
def test_what_is_no_area_is_refused(text, reason):
    with pytest.raises(FilterError, match=reason):
        wanted(text)
    with pytest.raises(ContentError, match="has neither decimal fields"):
        SPOT["@lat"].within_circle(0, 0, 1)


def random_disc(r):
    lat = r.choice([0, 48, -80, 89.5, r.uniform(-90, 90)])
    return Circle(lat, r.choice([0, 179.9, -180, r.uniform(-180, 180)]), 10 ** r.uniform(2, 6.9))


def near_edge(r, disc):
    """A place around the edge of a circle, by the formula of the destination."""
    bearing, angle = (
        r.uniform(0, 2 * math.pi),
        disc.radius * r.choice([0.2, 0.99, 0.9999, 1.0001, 1.5]) / EARTH,
    )
    phi, turn = math.radians(disc.lat), math.radians(disc.lon)
    lat = math.asin(math.sin(phi) * math.cos(angle) + math.cos(phi) * math.sin(angle) * math.cos(bearing))
    east = math.sin(bearing) * math.sin(angle) * math.cos(phi)
    lon = turn + math.atan2(east, math.cos(angle) - math.sin(phi) * math.sin(lat))
    return math.degrees(lat), (math.degrees(lon) + 180) % 360 - 180


def test_what_is_told_of_circles_and_boxes_is_so_of_their_places():
    r = Random("circles")
    values = {"bounds": 0, "holds": 0, "misses": 0, "box": 0, "far": 0}
    for _ in range(1500):
        one = random_disc(r)
        other = random_disc(r)
        if r.random() < 0.6:
            other = Circle(*near_edge(r, one), one.radius * r.choice([0.1, 0.5, 1]))
        lat, lon = near_edge(r, one)
        box = (
            RangeSet(((max(-90.0, lat - 0.3), min(90.0, lat + 0.2)),)),
            RangeSet(((max(-180.0, lon - 0.2), lon),)),
        )
        for place in (
            near_edge(r, one),
            near_edge(r, other),
            (lat, lon),
            (box[0].spans[0][0], box[1].spans[0][0]),
        ):
            inside, in_other = one.has(*place), other.has(*place)
            in_box = all(side.has(value) for side, value in zip(box, place, strict=True))
            if inside:
                assert all(side.has(value) for side, value in zip(one.bounds(), place, strict=True)), (
                    one,
                    place,
                )
                values["bounds"] += 1
            if one.holds(other):
                assert inside or not in_other, (one, other, place)
                values["holds"] += 1
            if one.misses(other):
                assert not (inside and in_other), (one, other, place)
                values["misses"] += 1
            if one.holds_box(*box):
                assert inside or not in_box, (one, box, place)
                values["box"] += in_box
            if one.misses_box(*box):
                assert not (inside and in_box), (one, box, place)
                values["far"] += in_box
    assert min(values.values()) > 50, values


def random_filter(r, around):
    tests = []
    for _ in range(r.randint(1, 3)):
        lat, lon = around[0] + r.uniform(-0.5, 0.5), around[1] + r.uniform(-0.5, 0.5)
        text = r.choice(
            [
                f'within(., circle({lat:.3f}, {lon:.3f}, "{r.choice([5, 20, 60])} km"))',
                f"within(., box({lat - 0.2:.3f}, {lon - 0.3:.3f}, {lat + 0.2:.3f}, {lon + 0.3:.3f}))",
                f"@lat>{lat:.2f}",
            ]
        )
        tests.append(f"not({text})" if r.random() < 0.3 else text)
    return wanted(f"/spot[{r.choice([' and ', ' or ']).join(tests)}]")


def test_filters_index_and_summary_agree_on_places():
    r = Random("places")
    filters = [random_filter(r, (48, 16)) for _ in range(40)]
    events = [at(48 + r.uniform(-0.8, 0.8), 16 + r.uniform(-0.8, 0.8)) for _ in range(40)]
    index, summary = MatchIndex(), Summary.of(filters)
    for number, each in enumerate(filters):
        index.add(number, each)
    matched = covered = 0
    for event in events:
        found = {number for number, each in enumerate(filters) if each.matches(event)}
        assert set(index.match(event)) == found
        assert not found or summary.admits(event)
        matched += len(found)
    assert matched > 150
    for a in filters[:14]:
        for b in filters[:14]:
            in_a, in_b = ({event for event in events if each.matches(event)} for each in (a, b))
            if a.covers(b):
                covered += a is not b
                assert in_b <= in_a, (str(a), str(b))
            if not a.intersects(b):
                assert not in_a & in_b, (str(a), str(b))
        assert {e for e in events if not a.matches(e)} == {e for e in events if (not_a := ~a).matches(e)}, (
            not_a
        )
        try:
            example = a.example()
        except FilterTooComplex:
            continue
        assert example is None or a.matches(example)
    assert covered > 5


def test_what_lies_within_rounding_of_an_edge_is_not_decided():
    whole, almost, inside = (Circle(48.0, 16.0, radius) for radius in (1000.0, 1000.0 - SLACK / 2, 990.0))
    assert whole.holds(whole) and whole.holds(inside)
    assert not whole.holds(almost)
    apart = distance(48.0, 16.0, 48.1, 16.0)
    assert whole.misses(Circle(48.1, 16.0, apart - 1000 - 2 * SLACK))
    assert not whole.misses(Circle(48.1, 16.0, apart - 1000 - SLACK / 2))


def test_the_longitudes_of_a_circle_across_the_date_line_leave_out_the_rest_of_the_world():
    for lon in (-179.9, 179.9):
        _, lons = Circle(10.0, lon, 90_000.0).bounds()
        assert lons.has(180.0) and lons.has(-180.0)
        assert not any(lons.has(float(far)) for far in range(-178, 179))


def test_a_box_that_goes_round_behind_the_pole_is_not_in_a_circle_that_has_its_corners():
    circle, lats, lons = (
        Circle(60.0, 180.0, 5_000_000.0),
        RangeSet(((50.0, 60.0),)),
        RangeSet(((-100.0, 100.0),)),
    )
    assert all(circle.has(lat, lon) for lat in (50.0, 60.0) for lon in (-100.0, 100.0))
    assert not circle.has(50.0, 0.0)
    assert not circle.holds_box(lats, lons)
    assert circle.holds_box(lats, RangeSet(((100.0, 180.0),)))


@pytest.mark.parametrize("radius", [5e-324, 2.8789195e-131, 1.2345678901234567e-9, 1e7])
def test_a_circle_of_any_radius_reads_back_as_it_prints(radius):
    text = f"/spot[within(., circle(48.21, 0.0000000000000000004681239786923906, '{radius:.400f} m'))]"
    wanted = Filter.parse(text, SPOT)
    assert Filter.parse(str(wanted), SPOT) == wanted
    assert Filter.from_bytes(wanted.to_bytes(), SPOT) == wanted
