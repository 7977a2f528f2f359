"""Losses of obstacles against shapely, on random polygons and segments."""

import json
import math

import numpy as np
import pytest
import shapely

from roamcast.errors import UserError
from roamcast.scenario.read import load

from ..twin import received_power
from .links import FAR, powers, world_of


def star(random):
    """Return the rings of a star-shaped polygon, seldom convex, sometimes with a courtyard."""
    x, y = random.uniform(0, 1000, 2)
    radii = random.uniform(5, 150, random.integers(3, 10))
    angles = np.linspace(0, 2 * math.pi, len(radii), endpoint=False) + random.uniform(0, 1)
    ring = [(x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(radii, angles, strict=True)]
    inner = [(x + (px - x) / 2, y + (py - y) / 2) for px, py in ring]
    return [ring, inner] if random.uniform() < 0.5 else [ring]


def expected_loss(rings, wall, inside, line):
    body = shapely.Polygon(rings[0], rings[1:])
    crossed = shapely.intersection(body.boundary, line)
    walls = len(shapely.get_parts(crossed)) if not crossed.is_empty else 0
    return wall * walls + inside * shapely.intersection(body, line).length


@pytest.mark.parametrize("seed", range(60))
def test_losses_are_those_that_shapely_computes(seed):
    random = np.random.default_rng(seed)
    obstacles = [(3.0 + k, 0.01 * k, star(random)) for k in range(random.integers(4, 9))]
    points = random.uniform(-50, 1050, (8, 2)).tolist()
    world = world_of(points, 1, FAR, obstacles=obstacles)
    compared = 0
    for source, here in enumerate(points):
        found = np.abs(powers(world, source, len(points)))
        for node, there in enumerate(points):
            if node == source:
                continue
            line = shapely.LineString([here, there])
            loss = sum(expected_loss(rings, wall, inside, line) for wall, inside, rings in obstacles)
            free = received_power(math.dist(here, there))
            if loss < 60:  # a signal far below that is not sensed
                compared += loss > 0
                assert 10 * math.log10(free / found[node]) == pytest.approx(loss, abs=2e-3)
    assert compared > 0


def test_walls_and_metres_count():
    """A square of 10 m in the middle: two walls and ten metres; one wall for a node inside it."""
    square = [(45, -5), (55, -5), (55, 5), (45, 5)]
    points = [(0, 0), (100, 0), (50, 0), (0, 40)]
    found = powers(world_of(points, 1, FAR, obstacles=[(9.0, 0.4, [square])]), 0, 4)
    losses = [
        10 * math.log10(received_power(math.hypot(*p)) / f)
        for p, f in zip(points[1:], found[1:], strict=True)
    ]
    assert losses == pytest.approx([2 * 9 + 4, 9 + 2, 0], abs=1e-3)


def test_a_corner_counts_once_at_most_per_side():
    """A signal through a corner crosses no wall or two, never one: both ends are outside."""
    diamond = [(50, -10), (60, 0), (50, 10), (40, 0)]
    for shift in (-10.0, 10.0, 0.0):
        points = [(0, shift), (100, shift)]
        (power,) = powers(world_of(points, 1, FAR, obstacles=[(9.0, 0.0, [diamond])]), 0, 2)[1:]
        walls = 10 * math.log10(received_power(100) / power) / 9
        assert walls == pytest.approx(2 if shift == 0 else round(walls / 2) * 2, abs=1e-3)


TEXT = """
name = "s"
area = { width = "500 m", height = "500 m" }
duration = "60 s"
[nodes.all]
count = 5
[[radio.obstacles]]
"""
FEATURES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {},
            "geometry": {
                "type": "MultiPolygon",
                "coordinates": [
                    [[[0, 0], [9, 0], [9, 9], [0, 0]]],
                    [[[20, 0], [40, 0], [40, 20], [20, 20], [20, 0]], [[25, 5], [30, 5], [30, 9], [25, 5]]],
                ],
            },
        }
    ],
}


def read(tmp_path, obstacle):
    file = tmp_path / "s.toml"
    file.write_text(TEXT + obstacle)
    return load(file).radio.obstacles


def test_buildings_are_read_from_the_scenario_and_from_files(tmp_path):
    (tmp_path / "b.geojson").write_text(json.dumps(FEATURES))
    (tmp_path / "b.wkt").write_text("MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)))")
    (inline,) = read(tmp_path, 'polygon = [["0 m", "0 m"], ["9 m", "0 m"], ["9 m", "9 m"]]\nwall = "5 dB"')
    assert inline.polygon == ((0, 0), (9, 0), (9, 9)) and (inline.wall, inline.inside) == (5, 0.4)
    one, two = read(tmp_path, 'file = "b.geojson"\nwall = "5 dB"')
    assert one == inline and len(two.polygon) == 4 and len(two.holes) == 1
    assert read(tmp_path, 'file = "b.wkt"\nwall = "5 dB"') == (inline,)


@pytest.mark.parametrize(
    ("obstacle", "message"),
    [
        ('polygon = [["0 m", "0 m"], ["9 m", "0 m"]]', "a polygon has at least three corners"),
        ('wall = "5 dB"', "expected either a polygon or a file"),
        ('file = "none.wkt"', "radio.obstacles.file: no such file"),
        ('file = "bad.wkt"', "bad.wkt: not valid WKT"),
        ('file = "line.wkt"', "line.wkt: no polygon found"),
        (
            'polygon = [["0 m", "0 m"], ["9 m", "9 m"], ["9 m", "0 m"], ["0 m", "9 m"]]',
            "the polygon is not valid: Self-intersection",
        ),
    ],
)
def test_what_is_no_building_is_said(tmp_path, obstacle, message):
    (tmp_path / "bad.wkt").write_text("POLYGON ((0 0")
    (tmp_path / "line.wkt").write_text("LINESTRING (0 0, 1 1)")
    with pytest.raises(UserError) as raised:
        read(tmp_path, obstacle)
    assert message in str(raised.value)
