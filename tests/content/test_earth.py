"""The arithmetic of the Earth against places by the thousand: what is said is tight, and not only safe."""

import math
from random import Random

import numpy as np
import pytest

from roamcast.content.box.range_set import RangeSet
from roamcast.content.earth.polygon import Polygon
from roamcast.content.earth.shapes import LatLonBox, circle, lats, meets, polygon, within
from roamcast.content.earth.shapes import box as make_box
from roamcast.content.earth.sphere import EARTH, WIDEST, Circle, distance, turn
from roamcast.content.errors import ContentError

FINE = np.linspace(0.0, 1.0, 241)


def vectors(lat, lon):
    phi, along = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(phi) * np.cos(along), np.cos(phi) * np.sin(along), np.sin(phi)], axis=-1)


def metres(lat, lon, places):
    """From a place to each of some others, by the angle between vectors."""
    here, there = vectors(lat, lon), vectors(*places)
    across = np.linalg.norm(np.cross(np.broadcast_to(here, there.shape), there), axis=-1)
    return EARTH * np.arctan2(across, there @ here)


def grid(south, west, north, east):
    """Places all over a box, edges included."""
    lat, lon = np.meshgrid(south + (north - south) * FINE[::6], west + (east - west) * FINE[::6])
    return lat.ravel(), lon.ravel()


def edge_places(ring):
    """Places all along the edges of a polygon: what lies on the straight line through the Earth, lifted."""
    corners = vectors(*np.array(ring.corners).T)
    ends = np.roll(corners, -1, axis=0)
    lines = corners[:, None, :] * (1 - FINE)[None, :, None] + ends[:, None, :] * FINE[None, :, None]
    x, y, z = lines.reshape(-1, 3).T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def random_ring(r, lat=None, lon=None, size=None):
    while True:
        lat0 = r.uniform(-75, 75) if lat is None else lat
        lon0 = r.choice([0.0, 179.5, r.uniform(-180, 180)]) if lon is None else lon
        wide = r.choice([0.5, 5.0, 25.0]) if size is None else size
        turns = sorted(r.uniform(0, math.tau) for _ in range(r.randint(3, 7)))
        reaches = [r.uniform(0.3, 1) * wide for _ in turns]
        corners = [
            (
                max(-88.0, min(88.0, lat0 + reach * math.sin(angle))),
                turn(lon0 + reach * math.cos(angle) / math.cos(math.radians(lat0))),
            )
            for angle, reach in zip(turns, reaches, strict=True)
        ]
        try:
            return polygon(tuple(corners))
        except ContentError:
            continue


@pytest.mark.parametrize("degrees", [-540.0, -361.0, -180.0, -179.0, 0.0, 90.0, 179.0, 180.0, 300.0, 725.0])
def test_an_angle_is_turned_by_whole_circles_into_half_of_one(degrees):
    assert -180 <= turn(degrees) < 180
    assert (turn(degrees) - degrees) % 360 == 0


def test_distances_are_the_angles_between_vectors():
    r = Random("distances")
    places = np.array([(r.uniform(-90, 90), r.uniform(-180, 180)) for _ in range(60)])
    for lat, lon in places[:10]:
        result = [distance(lat, lon, *other) for other in places]
        assert result == pytest.approx(metres(lat, lon, places.T), rel=1e-9, abs=0.2)
    assert distance(90, 0, -90, 77) == pytest.approx(math.pi * EARTH)


@pytest.mark.parametrize("lon", [16.0, -179.0, 179.5])
@pytest.mark.parametrize("lat", [0.0, 48.0, -70.0])
@pytest.mark.parametrize("radius", [1000.0, 250_000.0, 1_500_000.0])
def test_a_circle_reaches_each_of_its_bounds_and_no_further(lat, lon, radius):
    disc = Circle(lat, lon, radius)
    (south, north), lons = disc.bounds(margin=0.0)[0].spans[0], disc.bounds(margin=0.0)[1]
    assert distance(lat, lon, north, lon) == pytest.approx(radius)
    assert distance(lat, lon, south, lon) == pytest.approx(radius)
    # There the circle touches a meridian: the angle between meridian and radius is a right one.
    touching = math.degrees(math.asin(math.sin(math.radians(lat)) / math.cos(radius / EARTH)))
    west, east = lons.spans[0][0], lons.spans[-1][1]
    if len(lons.spans) == 2:
        (first, east), (west, last) = lons.spans
        assert (first, last) == (-180.0, 180.0) and abs(lon) > 170
    for side in (west, east):
        assert distance(lat, lon, touching, side) == pytest.approx(radius)
    assert turn(east - lon) == pytest.approx(-turn(west - lon)) and 0 < turn(east - lon) < 90
    for loose, tight in zip(disc.bounds(), disc.bounds(margin=0.0), strict=True):
        assert loose.covers(tight) and loose != tight
        ends = [end for span in loose.spans for end in span]
        assert ends == pytest.approx([end for span in tight.spans for end in span], abs=1e-6)


@pytest.mark.parametrize("way", [1, -1])
def test_a_circle_around_a_pole_has_all_longitudes(way):
    for reach in (1.0, 1.5):  # to the pole, and beyond
        lats_, lons = Circle(way * 89.0, 30.0, EARTH * math.radians(reach)).bounds(margin=0.0)
        [(south, north)] = lats_.spans
        assert (north if way > 0 else south) == 90.0 * way
        assert (south if way > 0 else north) == pytest.approx(way * (89.0 - reach))
        assert lons == RangeSet(((-180.0, 180.0),))
    lats_, lons = Circle(way * 89.0, 30.0, EARTH * math.radians(0.9)).bounds(margin=0.0)
    assert abs(lons.spans[0][0] - 30.0) < 90 and abs(lons.spans[0][1] - 30.0) < 90


def test_nearest_is_the_place_of_a_box_that_no_other_is_nearer_than():
    r = Random("nearest")
    for _ in range(60):
        disc = Circle(r.uniform(-89, 89), r.uniform(-180, 180), 1.0)
        south, west = r.uniform(-89, 80), r.uniform(-180, 170)
        north, east = r.uniform(south, 89), r.uniform(west, min(west + r.choice([5, 90, 300]), 180))
        lat, lon = disc.nearest((south, north), (west, east))
        assert south <= lat <= north and west <= lon <= east
        least = distance(disc.lat, disc.lon, lat, lon)
        assert least <= metres(disc.lat, disc.lon, grid(south, west, north, east)).min() + 0.01
        box = RangeSet(((south, north),)), RangeSet(((west, east),))
        for radius in (least - 1.0, least + 1.0):
            if 0 < radius < WIDEST:
                assert Circle(disc.lat, disc.lon, radius).misses_box(*box) is (radius < least)


def test_a_circle_holds_a_box_if_it_has_all_of_its_places():
    r = Random("furthest")
    for _ in range(60):
        lat, lon = r.uniform(-89, 89), r.uniform(-90, 90)
        south, west = r.uniform(-89, 80), lon + r.uniform(-89.9, 80)
        north, east = r.uniform(south, 89), r.uniform(west, lon + 89.9)
        box = RangeSet(((south, north),)), RangeSet(((west, east),))
        furthest = float(metres(lat, lon, grid(south, west, north, east)).max())
        assert Circle(lat, lon, furthest + 1.0).holds_box(*box)
        assert not Circle(lat, lon, furthest - 1.0).holds_box(*box)
    assert not Circle(80.0, 0.0, WIDEST).holds_box(RangeSet(((79.0, 80.0),)), RangeSet(((-90.0, 90.0),)))
    assert not Circle(80.0, 0.0, WIDEST).holds_box(RangeSet(((79.0, 80.0),)), RangeSet(((-80.0, 90.0),)))


def test_polygons_reach_as_far_as_places_along_their_edges():
    r = Random("edges")
    bulging = 0
    for _ in range(60):
        ring = random_ring(r)
        along = edge_places(ring)
        low, high = ring.lats
        step = (high - low) / 2000 + 1e-9  # an edge turns back between two places
        assert low <= along[0].min() + 1e-9 and along[0].min() <= low + step
        assert high >= along[0].max() - 1e-9 and along[0].max() >= high - step
        assert lats(ring) == ring.lats
        bulging += high > max(lat for lat, _ in ring.corners) + 0.02
        lat, lon = r.uniform(-89, 89), r.uniform(-180, 180)
        far = metres(lat, lon, along)
        if not ring.has(lat, lon):
            assert ring.distance(lat, lon) == pytest.approx(far.min(), rel=1e-3)
            assert ring.distance(lat, lon) <= far.min() + 0.01
        corners = [distance(lat, lon, *corner) for corner in ring.corners]
        assert ring.reach(lat, lon) == pytest.approx(max(corners))
        middle = vectors(*np.array(ring.corners).T).sum(axis=0)
        x, y, z = middle
        inside = math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))
        if ring.has(*inside):
            assert ring.distance(*inside) == 0.0
    assert bulging > 3


def test_edges_cross_parallels_and_meridians_where_places_lie_on_both_sides():
    r = Random("crossing")
    seen = dict.fromkeys(((sort, entry) for sort in "mp" for entry in (True, False)), 0)
    for _ in range(160):
        ring = random_ring(r)
        along = edge_places(ring)
        lat, lon = ring.corners[0][0] + r.uniform(-3, 3), turn(ring.corners[0][1] + r.uniform(-3, 3))
        off = turn(along[1] - lon)
        near = abs(off) < 90
        over = np.flatnonzero((np.sign(off) != np.sign(np.roll(off, -1))) & near & np.roll(near, -1))
        south, north = sorted((r.uniform(-89, 89), r.uniform(-89, 89)))
        where = along[0][over]
        if not any(abs(where - end).min(initial=9) < 0.3 for end in (south, north)):
            expected = bool(((south <= where) & (where <= north)).any())
            assert ring.crosses_meridian(lon, south, north) is expected
            seen["m", expected] += 1
        above = along[0] > lat
        over = np.flatnonzero(above != np.roll(above, -1))
        west, width = r.uniform(-180, 180), r.uniform(1, 200)
        where = (along[1][over] - west) % 360
        if not any(abs(where - end).min(initial=9) < 0.3 for end in (0, width, 360)) and (
            abs(ring.lats[0] - lat) > 0.01 < abs(ring.lats[1] - lat)
        ):
            expected = bool((where <= width).any())
            assert ring.crosses_parallel(lat, west, width) is expected
            seen["p", expected] += 1
    assert min(seen.values()) > 20, seen


def test_a_polygon_lies_in_a_box_if_all_of_its_edge_does():
    r = Random("boxes")
    seen = {True: 0, False: 0}
    for _ in range(150):
        ring = random_ring(r, size=r.choice([1.0, 10.0]))
        along = edge_places(ring)
        middle = ring.corners[0][1]
        off = turn(along[1] - middle)
        sides = [along[0].min() - 0.01, off.min() - 0.01, along[0].max() + 0.01, off.max() + 0.01]
        inward = r.choice([None, 0, 1, 2, 3])  # one side cuts something off
        if inward is not None:
            sides[inward] += 0.03 if inward < 2 else -0.03
        south, west, north, east = map(float, sides)
        if north > 89 or south < -89:
            continue
        box = LatLonBox(south, turn(west + middle), north, turn(east + middle))
        assert within(ring, box) is (inward is None)
        assert meets(ring, box)
        seen[inward is None] += 1
        beyond = LatLonBox(south, turn(east + middle + 0.05), north, turn(east + middle + 1))
        assert not meets(ring, beyond) and not within(ring, beyond)
    assert min(seen.values()) > 20


def test_a_corner_is_in_a_box_also_across_the_date_line_and_at_a_pole():
    ring = Polygon(((10.0, 178.0), (12.0, -178.0), (14.0, 178.0)))
    assert ring.has_corner(11.0, 177.0, 13.0, 10.0)
    assert not ring.has_corner(11.0, 177.0, 13.0, 4.0)
    assert ring.has_corner(12.0, -178.0, 12.0, 0.0)
    assert not ring.has_corner(10.5, 177.0, 11.5, 10.0) and not ring.has_corner(12.5, 177.0, 13.5, 10.0)
    cap = Polygon(((90.0, 0.0), (80.0, 10.0), (80.0, 20.0)))
    assert cap.has_corner(85.0, -100.0, 90.0, 1.0)
    assert not cap.has_corner(70.0, -100.0, 89.0, 1.0)


@pytest.mark.parametrize("pole", [1, -1])
def test_a_box_that_touches_a_pole_has_it_whatever_its_longitudes(pole):
    south, north = sorted((89.0 * pole, 90.0 * pole))
    box = LatLonBox(south, 10.0, north, 20.0)
    assert box.poles == [90.0 * pole] and LatLonBox(-90.0, 0.0, 90.0, 1.0).poles == [-90.0, 90.0]
    assert box.has(90.0 * pole, -100.0) and not box.has(89.5 * pole, -100.0)
    assert not LatLonBox(-89.0, 0.0, 89.0, 1.0).poles
    for lon in (15.0, -100.0):
        assert within(circle(90.0 * pole, lon, 0.0), box)
        assert within(circle(89.5 * pole, lon, 0.0), box) is (lon == 15.0)


@pytest.mark.parametrize(
    "sides", [(-91, 0, 1, 1), (0, -181, 1, 1), (0, 0, 91, 1), (0, 0, 1, 181), (0, 0, math.nan, 1)]
)
def test_a_box_has_its_corners_on_the_earth(sides):
    with pytest.raises(ContentError, match="is not a position"):
        make_box(*sides)
    assert make_box(-90, -180, 90, 180).whole


def test_the_whole_earth_is_one_box():
    assert LatLonBox(-90.0, -180.0, 90.0, 180.0).whole
    for box in ((-89.0, -180.0, 90.0, 180.0), (-90.0, -180.0, 89.0, 180.0), (-90.0, -180.0, 90.0, 179.0)):
        assert not LatLonBox(*box).whole
    assert LatLonBox(0.0, 170.0, 1.0, -170.0).width == 20.0 and LatLonBox(0.0, 10.0, 1.0, 10.0).width == 0.0
    assert LatLonBox(0.0, -180.0, 1.0, 10.0).lons.has(180.0) and not LatLonBox(
        0.0, -179.0, 1.0, 10.0
    ).lons.has(180.0)
    assert LatLonBox(0.0, 10.0, 1.0, 180.0).lons.has(-180.0) and not LatLonBox(
        0.0, 10.0, 1.0, 180.0
    ).lons.has(-10.0)
