"""Areas and regions against slow references: places drawn on shapes, the plane, sampled events."""

import math
import time
from random import Random

import pytest
import shapely

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet, RegionTest
from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.shapes import LatLonBox, box, circle, disjoint, holds, meets, polygon, within
from roamcast.content.earth.sphere import EARTH, Circle, distance
from roamcast.content.errors import ContentError, FilterTooComplex
from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType

from .test_areas import ZONE, zone


def random_region(random):
    if random.random() < 0.5:
        return Circle(random.uniform(-80, 80), random.uniform(-180, 180), 10 ** random.uniform(2, 6.3))
    south, west = random.uniform(-80, 70), random.uniform(-180, 180)
    height, width = 10 ** random.uniform(-2, 1.2), 10 ** random.uniform(-2, 2)
    return LatLonBox(south, west, min(south + height, 90.0), (west + width + 180) % 360 - 180)


def random_shape(random, region):
    """A shape near a region, often just at its edge."""
    if isinstance(region, Circle):
        lat, lon, size = region.lat, region.lon, region.radius / 111_000
    else:
        lat, lon = (region.south + region.north) / 2, (region.west + region.width / 2 + 180) % 360 - 180
        size = max(region.width, region.north - region.south) / 2
    lat = max(-89.0, min(89.0, lat + random.uniform(-1.5, 1.5) * size))
    lon = (lon + random.uniform(-1.5, 1.5) * size / math.cos(math.radians(lat)) + 180) % 360 - 180
    small = min(size * 10 ** random.uniform(-2, 0.5), 40)
    if random.random() < 0.4:
        return circle(lat, lon, small * 111_000 * 0.5)
    turns = sorted(random.uniform(0, math.tau) for _ in range(random.randint(3, 8)))
    corners = [
        (
            max(-90.0, min(90.0, lat + small * reach * math.sin(turn))),
            (lon + small * reach * math.cos(turn) / math.cos(math.radians(lat)) + 180) % 360 - 180,
        )
        for turn in turns
        for reach in [random.uniform(0.3, 1)]
    ]
    try:
        return polygon(tuple(corners))
    except ContentError:
        return circle(lat, lon, 0)


def places_of(random, shape, count=30):
    """Places in a shape and on its edge, found without its own arithmetic."""
    if isinstance(shape, Circle):
        return [go(shape, shape.radius * random.choice((1, random.random())), random) for _ in range(count)]
    vectors = [unit(*corner) for corner in shape.corners]
    found = list(shape.corners)
    for _ in range(count):
        n, part = random.randrange(len(vectors)), random.random()
        one, other = vectors[n - 1], vectors[n]
        blend = [a * part + b * (1 - part) for a, b in zip(one, other, strict=True)]  # on the great circle
        found.append(place(blend))
    return found


def unit(lat, lon):
    phi, along = math.radians(lat), math.radians(lon)
    return math.cos(phi) * math.cos(along), math.cos(phi) * math.sin(along), math.sin(phi)


def place(vector):
    x, y, z = vector
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


def go(disc, metres, random):
    """A place so far from the middle of a disc."""
    turn, way = random.uniform(0, math.tau), metres / EARTH
    phi, along = math.radians(disc.lat), math.radians(disc.lon)
    lat = math.asin(math.sin(phi) * math.cos(way) + math.cos(phi) * math.sin(way) * math.cos(turn))
    lon = along + math.atan2(
        math.sin(turn) * math.sin(way) * math.cos(phi), math.cos(way) - math.sin(phi) * math.sin(lat)
    )
    return math.degrees(lat), (math.degrees(lon) + 180) % 360 - 180


def in_region(region, lat, lon, slack=0.0):
    """Whether a place is in a region, by distance or by degrees, with so many metres at the edge."""
    if isinstance(region, Circle):
        return distance(region.lat, region.lon, lat, lon) <= region.radius + slack
    room = slack / 111_000
    wide = room / max(math.cos(math.radians(lat)), 1e-9)
    inside = (lon - region.west + wide) % 360 <= region.width + 2 * wide
    return region.south - room <= lat <= region.north + room and inside


def test_matching_is_what_places_of_the_shapes_say():
    random = Random(14)
    seen = {"within": 0, "meets": 0, "apart": 0}
    for _ in range(1500):
        region = random_region(random)
        shape = random_shape(random, region)
        some = places_of(random, shape)
        if within(shape, region):
            seen["within"] += 1
            assert all(in_region(region, *each, slack=0.01) for each in some), (shape, region)
            assert meets(shape, region)
        if any(in_region(region, *each, slack=-0.01) for each in some):
            assert meets(shape, region), (shape, region)
        elif not meets(shape, region):
            seen["apart"] += 1
            continue
        seen["meets"] += 1
    assert min(seen.values()) > 200, seen


def test_small_polygons_and_boxes_are_as_in_the_plane():
    """Within a tenth of a degree an edge strays from a straight line in degrees by less than 10 metres."""
    random = Random(15)
    values = {True: 0, False: 0}
    for _ in range(300):
        box = LatLonBox(10.0, 20.0, 10.0 + random.uniform(0.01, 0.1), 20.0 + random.uniform(0.01, 0.1))
        shape = random_shape(random, box)
        if isinstance(shape, Circle) or max(map(max, zip(*shape.corners, strict=True))) > 25:
            continue
        flat = shapely.Polygon([(lon, lat) for lat, lon in shape.corners])
        plane = shapely.box(box.west, box.south, box.east, box.north)
        for ours, theirs in ((meets, flat.intersects), (within, flat.within)):
            if theirs(plane.buffer(1e-4, join_style="mitre")) is theirs(
                plane.buffer(-1e-4, join_style="mitre")
            ):
                values[theirs(plane)] += 1
                assert ours(shape, box) is theirs(plane), (shape, box)
    assert min(values.values()) > 50, values


def test_relations_between_regions_are_never_wrong():
    random = Random(16)
    seen = {"holds": 0, "apart": 0}
    for _ in range(3000):
        one = random_region(random)
        other = random_region(random)
        if random.random() < 0.7:  # near each other
            if isinstance(one, Circle):
                middle = go(one, one.radius * random.uniform(0, 1.5), random)
            else:
                middle = (random.uniform(one.south, one.north), one.west)
            size = 10 ** random.uniform(-3, 0)
            if isinstance(other, Circle):
                metres = one.radius if isinstance(one, Circle) else (one.north - one.south) * 111_000
                other = Circle(*middle, max(metres * size, 1))
            else:
                other = LatLonBox(
                    middle[0], middle[1], min(middle[0] + size, 90.0), (middle[1] + size + 180) % 360 - 180
                )
        shape = random_shape(random, other)
        if holds(one, other):
            seen["holds"] += 1
            assert not disjoint(one, other)
            for test in (within, meets):
                assert not test(shape, other) or test(shape, one), (one, other, shape)
        if disjoint(one, other):
            seen["apart"] += 1
            assert not (within(shape, other) and meets(shape, one)), (one, other, shape)
            assert not (within(shape, one) and meets(shape, other)), (one, other, shape)
    assert min(seen.values()) > 100, seen


def random_filter(random, regions):
    test = Filter.everything(ZONE)
    for _ in range(random.randint(1, 3)):
        ask = random.choice((ZONE["where"].within_circle, ZONE["where"].intersects_circle))
        region = random.choice(regions)
        if isinstance(region, LatLonBox):
            name = ask.__name__.replace("circle", "box")
            ask = getattr(ZONE["where"], name)
        each = ask(*region)
        test = test & (~each if random.random() < 0.3 else each)
    return test


def test_relations_between_filters_agree_with_events():
    """No yes of `covers` and no no of `intersects` is wrong; the rest is counted by its witnesses."""
    random = Random(17)
    regions = [
        *(Circle(48.0, 16.0, metres) for metres in (10e3, 50e3, 300e3)),
        Circle(48.3, 16.5, 20e3),
        LatLonBox(47.9, 15.9, 48.1, 16.1),
        LatLonBox(47.0, 14.0, 49.0, 18.0),
        LatLonBox(48.0, 16.0, 52.0, 17.0),
    ]
    events = [zone(random_shape(random, random.choice(regions))) for _ in range(150)]
    index = MatchIndex()
    filters = [random_filter(random, regions) for _ in range(30)]
    matched = [{n for n, event in enumerate(events) if each.matches(event)} for each in filters]
    missed = yes = 0
    for number, (one, mine) in enumerate(zip(filters, matched, strict=True)):
        index.add(number, one)
        for other, theirs in zip(filters, matched, strict=True):
            if one.covers(other):
                yes += 1
                assert theirs <= mine
            elif theirs <= mine:
                missed += 1  # perhaps only among these events
            assert one.intersects(other) or not mine & theirs
        try:
            example = one.example()
            assert (example is None) is one.empty
            assert example is None or one.matches(example)
            other = one.counterexample()
            assert other is None or not one.matches(other)
        except FilterTooComplex:
            assert len(one.conjunctions[0][0][1].required) > 1 or len(one.conjunctions) > 1
    assert yes > 100
    assert missed < 900 - yes
    for event in range(60):
        assert index.match(events[event]) == [n for n, mine in enumerate(matched) if event in mine]


@pytest.mark.slow
def test_the_most_boxes_that_come_from_the_air_are_asked_of_the_longest_polygon_in_a_second():
    """As many as 64 kB have; each box lies at a height of the polygon, so that no glance leaves it out."""
    type = EventType("T", {"a": AreaType(), "n": Integer()})
    r = Random("boxes")
    alternatives = []
    for number in range(256):
        boxes = []
        for _ in range(7):
            west, south = r.uniform(16.95, 17.0), r.uniform(48.9, 48.95)
            boxes.append(RegionTest(False, box(south, west, south + 0.01, west + 0.01)))
        alternatives.append([(0, AreaSet.where("", [], boxes)), (1, RangeSet(((number, number),)))])
    wanted = Filter.from_bytes(Filter.of(type, alternatives).to_bytes(), type)
    assert sum(len(domain.refused) for each in wanted.conjunctions for _, domain in each[:1]) > 1500
    turns = [2 * math.pi * step / 1024 for step in range(1024)]
    waves = [1 + 0.2 * math.sin(40 * turn) for turn in turns]
    ring = polygon(
        tuple(
            (48 + wave * math.sin(turn), 16 + wave * math.cos(turn))
            for turn, wave in zip(turns, waves, strict=True)
        )
    )
    event = type(a=ring, n=1000)
    wanted.matches(event)
    start = time.process_time()
    assert not wanted.matches(event)
    assert time.process_time() - start < 1.5  # 0.5 s; 3.7 s when each edge was looked at
