"""Traces of movement become movement for scenarios: everyone is where they were, when they were there."""

import gzip
import json
import math
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roamcast
from roamcast.ingest.file_parts import BadLine, FilePart, IngestError
from roamcast.ingest.formats import FORMATS, detect, read
from roamcast.ingest.importing import import_movement
from roamcast.ingest.movement import follow_positions
from roamcast.ingest.projection import Projection, centre
from roamcast.ingest.readers.position import TracePosition
from roamcast.scenario.traces.movement import read_ns2, write_ns2

FCD = """<?xml version="1.0"?>
<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <timestep time="100.00"><vehicle id="bus" x="1010.0" y="5.0" speed="5" lane="e_0"/></timestep>
  <timestep time="110.00">
    <vehicle id="bus" x="1060.0" y="5.0" speed="5" lane="e_0"/>
    <person id="anna" x="1100.0" y="45.0" speed="0"/>
  </timestep>
  <timestep time="130.00"><vehicle id="bus" x="1060.0" y="25.0" speed="1" lane="e_0"/></timestep>
</fcd-export>
"""
GPX = """<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
<trkpt lat="50.0" lon="8.0"><ele>100</ele><time>2024-05-01T10:00:00Z</time></trkpt>
<trkpt lat="50.01" lon="8.0"><time>2024-05-01T10:01:00Z</time></trkpt>
<trkpt lat="50.01" lon="8.01"></trkpt>
</trkseg></trk></gpx>
"""
CSV = """taxi,timestamp,lat,lng,speed
a,2024-05-01T10:00:00Z,50.0,8.0,3
b,2024-05-01 10:00:30,50.01,8.0,3
a,2024-05-01T10:01:00+00:00,50.01,8.0,3
b,2024-05-01T10:01:30Z,50.01,95.0.1,3
"""
SETDEST = """# made by hand
$node_(0) set X_ -10.0
$node_(0) set Y_ 5.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 90.0
$node_(1) set Y_ 15.0
$god_ set-dist 0 1 2
$ns_ at 2.0 "$node_(0) setdest 40.0 5.0 5.0"
$ns_ at 3.0 "$god_ set-dist 0 1 1"
"""


def rows(path, name=None, **options):
    return list(read(FORMATS[name] if name else detect(str(path)), FilePart(str(path)), options))


def put(folder, name, text):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.xml", FCD, "sumofcd"),
        ("a.gpx", GPX, "gps"),
        ("a.csv", CSV, "gps"),
        ("a.csv.gz", CSV, "gps"),
        ("a.mov", SETDEST, "ns2movement"),
        ("a.movements", "0 1 2 10 3 4\n0 5 6\n", "bonnmotion"),
        ("a.movements.gz", "0 1 2 10 3 4\n0 5 6\n", "bonnmotion"),
    ],
)
def test_a_format_is_known_by_its_beginning(tmp_path, name, text, form):
    path = put(tmp_path, name, text)
    assert detect(str(path)).name == form


@pytest.mark.parametrize("text", ["", "hello\n", "<svg/>", "a,b\n1,2\n", "1 2\n", "\0\0\0"])
def test_what_could_be_anything_must_be_named(tmp_path, text):
    with pytest.raises(IngestError, match=r"cannot be detected|neither SUMO"):
        detect(str(put(tmp_path, "a.txt", text)))


def test_a_bus_of_sumo_drives_in_a_scenario(tmp_path):
    imported = import_movement(
        [str(put(tmp_path, "town.xml", FCD))], FORMATS["sumofcd"], {}, tmp_path / "out"
    )
    assert (imported["nodes"], imported["width"], imported["height"], imported["duration"]) == (2, 90, 40, 30)
    assert imported["origin"] == {"time": 100, "x": 1010, "y": 5}
    assert (tmp_path / "out" / "nodes.csv").read_text() == 'node,id\n0,"anna"\n1,"bus"\n'
    legs = roamcast.run(tmp_path / "out" / "scenario.toml").facts["legs"].to_pylist()
    bus = [(leg["start"], leg["x0"], leg["y0"]) for leg in legs if leg["node"] == 1]
    assert bus == [(0, 0, 0), (10, 50, 0)]  # 20 m in 20 s, after 50 m in 10 s
    assert (legs[-1]["x1"], legs[-1]["y1"]) == (50, 20)


def test_places_on_earth_are_projected_and_the_origin_is_kept(tmp_path):
    files = [put(tmp_path, "a.gpx", GPX), put(tmp_path, "b.csv", CSV)]
    imported = import_movement(list(map(str, files)), FORMATS["gps"], {}, tmp_path / "out")
    assert imported["nodes"] == 3
    assert imported["height"] == pytest.approx(1112.3, abs=0.5)  # a hundredth of a degree at 50 degrees north
    about = json.loads((tmp_path / "out" / "movement.json").read_text())["origin"]
    assert about["latitude"] == pytest.approx(50.005)
    assert "WGS 84" in about["projection"]
    assert about["time"] == 1714557600.0
    assert imported["bad"] == 2  # a point without time, a longitude with two points


def test_setdest_files_keep_their_numbers_and_move_to_the_corner(tmp_path):
    path = put(tmp_path, "a.mov", SETDEST)
    imported = import_movement([str(path)], FORMATS["ns2movement"], {}, tmp_path / "out")
    assert (imported["width"], imported["height"], imported["duration"]) == (100, 10, 12)
    result = roamcast.run(tmp_path / "out" / "scenario.toml")
    assert result.facts["legs"].to_pylist()[1]["x0"] == 0


def test_bonnmotion_says_where_who_turns(tmp_path):
    found = rows(put(tmp_path, "a.movements", "0 1 2 10 3 4\n# comment\n0 5\n0 5 6 7 5 6\n"))
    assert [(row.id, row.time, row.x) for row in found if isinstance(row, TracePosition)] == [
        ("0", 0, 1),
        ("0", 10, 3),
        ("2", 0, 5),
        ("2", 7, 5),
    ]
    [bad] = [row for row in found if isinstance(row, BadLine)]
    assert "expected triples" in bad.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<fcd-export><timestep time='1'><vehicle id='a' x='1' y='2'/>", "no element found"),
        ("<fcd-export><timestep time='x'><vehicle id='a' x='1' y='2'/></timestep></fcd-export>", "a number"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><fcd-export/>", "document type"),
        ("<fcd-export>" + "<a>" * 100, "deep"),
        ("<gpx/>", "is not the <fcd-export>"),
        ("<fcd-export><vehicle id='a' x='1' y='2'/></fcd-export>", "outside of a timestep"),
        ("<fcd-export><timestep time='1'><vehicle x='1' y='2'/></timestep></fcd-export>", "without id"),
    ],
)
def test_a_broken_document_gives_what_came_before_and_says_why(tmp_path, text, why):
    found = rows(put(tmp_path, "a.xml", text), "sumofcd")
    assert any(why in row.why for row in found if isinstance(row, BadLine))


def test_long_documents_need_little_memory(tmp_path):
    steps = "".join(
        f"<timestep time='{time}'>"
        + f"<vehicle id='a' x='{time}' y='2' type='passenger'/>" * 50
        + "</timestep>"
        for time in range(500)
    )
    path = put(tmp_path, "a.xml", f"<fcd-export>{steps}</fcd-export>")
    assert path.stat().st_size > 1 << 20
    tracemalloc.start()
    assert sum(1 for _ in read(FORMATS["sumofcd"], FilePart(str(path)))) == 25_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 700_000


places = st.tuples(st.integers(0, 3), st.integers(0, 50), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))


@given(result=st.lists(places, min_size=1, max_size=15, unique_by=lambda row: row[:2]))
@settings(max_examples=40)
def test_everyone_is_where_they_were_told_to_be(result, tmp_path_factory):
    found = follow_positions([TracePosition(0, str(who), time, x, y) for who, time, x, y in result])
    path = tmp_path_factory.getbasetemp() / "law.mov"
    with path.open("w") as file:
        write_ns2(found.legs, file)
    from roamcast.scenario.model import Area

    legs = read_ns2(path, len(found.names), Area(width=found.width + 1e-6, height=found.height + 1e-6))
    for who, time, x, y in result:
        at = legs.position(found.names.index(str(who)), time - found.origin["time"])
        assert at == pytest.approx((x - found.origin["x"], y - found.origin["y"]), abs=1e-6)


def test_two_places_at_one_time_are_counted():
    found = follow_positions(
        [TracePosition(0, "a", 1.0, 0, 0), TracePosition(0, "a", 1.0, 5, 0), TracePosition(0, "a", 2.0, 1, 0)]
    )
    assert found.doubled == 1


@given(latitude=st.floats(-60, 60), longitude=st.floats(-180, 180), turn=st.floats(0, 2 * math.pi))
@settings(max_examples=40)
def test_lengths_near_the_origin_are_those_on_earth(latitude, longitude, turn):
    north, east = 0.02 * math.sin(turn), 0.02 * math.cos(turn)
    other = (latitude + north, (longitude + east + 180) % 360 - 180)
    x, y = Projection(longitude, latitude).project(other[1], other[0])
    a, b, c = math.radians(latitude), math.radians(other[0]), math.radians(other[1] - longitude)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(c / 2) ** 2
    assert math.hypot(x, y) == pytest.approx(
        2 * 6371008.8 * math.asin(math.sqrt(half)), rel=8e-3
    )  # of a sphere


def test_a_trace_across_the_date_line_stays_together():
    import numpy as np

    longitude, latitude = np.array([179.99, -179.99]), np.array([0.0, 0.0])
    x, _ = centre(longitude, latitude).project(longitude, latitude)
    assert x[1] - x[0] == pytest.approx(2226.4, abs=1)


LINES = [line for text in (FCD, GPX, CSV, SETDEST, "0 1 2 10 3 4") for line in text.splitlines()]


@given(
    form=st.sampled_from(["sumofcd", "gps", "ns2movement", "bonnmotion"]),
    name=st.sampled_from(["a.xml", "a.csv", "a.csv.gz"]),
    lines=st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=12),
)
@settings(max_examples=80)
def test_no_text_does_harm(form, name, lines, tmp_path_factory):
    path = put(tmp_path_factory.getbasetemp(), name, "\n".join(lines))
    try:
        found = rows(path, form)
    except IngestError:
        return
    assert all(isinstance(row, tuple) for row in found)


def fcd(stays, end):
    """A document in which each vehicle is seen at each whole second from its first to its last."""
    steps = [
        "".join(
            f'<vehicle id="{who}" x="{time}" y="{who}"/>'
            for who, (a, b) in enumerate(stays)
            if a <= time <= b
        )
        for time in range(end + 1)
    ]
    inside = "".join(f'<timestep time="{time}">{step}</timestep>' for time, step in enumerate(steps))
    return f"<fcd-export>{inside}</fcd-export>"


def test_vehicles_are_there_only_from_their_first_to_their_last_position(tmp_path):
    path = put(tmp_path, "town.xml", fcd([(0, 60), (20, 60), (0, 30), (25, 25)], 60))
    imported = import_movement([str(path)], FORMATS["sumofcd"], {}, tmp_path / "out")
    assert (imported["late"], imported["early"]) == (2, 2)
    facts = roamcast.run(tmp_path / "out" / "scenario.toml", seed=2).facts
    states = [(row["time"], row["node"], row["value"]) for row in facts["states"].to_pylist()]
    assert states == [(0, 1, 0), (0, 3, 0), (20, 1, 1), (25, 3, 1), (26, 3, 0), (31, 2, 0)]
    spans = {0: (0, 60), 1: (20, 60), 2: (0, 31), 3: (25, 26)}
    times = {row["publication"]: row["time"] for row in facts["publications"].to_pylist()}
    expected = [(row["node"], times[row["publication"]]) for row in facts["expectations"].to_pylist()]
    assert expected
    assert all(spans[node][0] <= time <= spans[node][1] for node, time in expected)


def test_with_presence_always_nobody_arrives_or_leaves(tmp_path):
    path = put(tmp_path, "town.xml", fcd([(0, 60), (20, 40)], 60))
    imported = import_movement([str(path)], FORMATS["sumofcd"], {}, tmp_path / "out", always=True)
    assert (imported["late"], imported["early"]) == (0, 0)
    assert "[faults]" not in (tmp_path / "out" / "scenario.toml").read_text()


def test_a_receiver_that_is_missing_for_less_than_its_interval_is_there_all_the_time():
    fixes = [("a", 0), ("a", 60), ("a", 120), ("a", 600), ("b", 40), ("b", 100), ("b", 160), ("c", 580)]
    found = follow_positions([TracePosition(0, who, float(time), 0.0, 0.0) for who, time in fixes])
    assert found.present == [(0, math.inf), (0, 220), (580, math.inf)]


def test_behind_its_last_waypoint_a_node_of_bonnmotion_stays(tmp_path):
    path = put(tmp_path, "a.movements", "0 1 2 10 3 4 100 5 5\n0 5 6\n20 5 6 50 7 7\n")
    imported = import_movement([str(path)], FORMATS["bonnmotion"], {}, tmp_path / "out")
    assert (imported["late"], imported["early"]) == (1, 0)
    assert '{ nodes = [2], arrive = "20 s" }' in (tmp_path / "out" / "scenario.toml").read_text()


@pytest.mark.parametrize(
    ("form", "name", "good", "bad"),
    [
        ("gps", "a.csv", "id,time,x,y\na,1,2,3\n", "a,1,2,east\n"),
        ("bonnmotion", "a.movements", "0 1 2 10 3 4 20 5 6 30 7 8\n", "0 1\n"),
        ("ns2movement", "a.mov", SETDEST, "$node_(0) jumps\n"),
    ],
)
def test_a_file_of_mostly_bad_lines_is_refused(tmp_path, form, name, good, bad):
    few = put(tmp_path, name, good + bad)
    assert import_movement([str(few)], FORMATS[form], {}, tmp_path / "few")["bad"] == 1
    most = put(tmp_path, name, good + 9 * bad)
    with pytest.raises(
        IngestError, match=rf"9 of \d+ lines cannot be parsed.* the first one, at {len(good)}: "
    ):
        import_movement([str(most)], FORMATS[form], {}, tmp_path / "most")
    assert not (tmp_path / "most").exists()


@given(
    st.lists(st.tuples(st.floats(0.1, 30), st.floats(-50, 50), st.floats(-50, 50)), min_size=2, max_size=40),
    st.floats(0.01, 20),
)
def test_thinned_movement_stays_within_the_tolerance_of_every_position(steps, tolerance):
    time, rows = 0.0, []
    for gap, x, y in steps:
        time += gap
        rows.append(TracePosition(0, "a", time, x, y))
    whole, thin = follow_positions(rows), follow_positions(rows, tolerance=tolerance)
    assert thin.present == whole.present and len(thin.legs.node) <= len(whole.legs.node)
    west, south = thin.origin["x"], thin.origin["y"]
    for row in rows:
        x, y = place_at(thin.legs, row.time - rows[0].time)
        assert math.hypot(x + west - row.x, y + south - row.y) <= tolerance + 1e-6
    ends = [place_at(legs, rows[-1].time - rows[0].time) for legs in (whole.legs, thin.legs)]
    corners = [(each.origin["x"], each.origin["y"]) for each in (whole, thin)]
    kept = [(x + west, y + south) for (x, y), (west, south) in zip(ends, corners, strict=True)]
    assert kept[0] == pytest.approx(kept[1], abs=1e-6)


def place_at(legs, time):
    """Where the only node of `legs` is at a time."""
    last = max(i for i in range(len(legs.time)) if legs.time[i] <= time + 1e-9)
    dx, dy = legs.x1[last] - legs.x0[last], legs.y1[last] - legs.y0[last]
    length = math.hypot(dx, dy)
    share = min(legs.speed[last] * (time - legs.time[last]) / length, 1.0) if length else 0.0
    return legs.x0[last] + share * dx, legs.y0[last] + share * dy


def test_a_tolerance_is_refused_for_destinations_and_below_zero(tmp_path):
    from typer.testing import CliRunner

    from roamcast.cli.app import build

    file = tmp_path / "a.mov"
    file.write_text("$node_(0) set X_ 1.0\n$node_(0) set Y_ 1.0\n")
    arguments = ["ingest", str(file), "--format", "ns2movement", "--out", str(tmp_path / "out")]
    for tolerance, expected in (("1 m", "destinations, not positions"), ("-1 m", "0 m or more")):
        result = CliRunner().invoke(build("ingest"), [*arguments, "--tolerance", tolerance])
        assert expected in str(result.exception), result.exception
