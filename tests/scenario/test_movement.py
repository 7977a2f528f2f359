import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.errors import UserError
from roamcast.scenario.model import Area
from roamcast.scenario.read import load
from roamcast.scenario.traces.movement import MovementError, read_ns2, write_ns2
from roamcast.sim.kernel import movement

AREA = Area(width=100, height=50)
TWO_WALKERS = """\
# nodes: 2
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 1e1
$node_(1) set Y_ 50
$god_ set-dist 0 1 2
$ns_ at 5.0 "$node_(0) setdest 20.0 20.0 2.0"
$ns_ at 6.0 "$god_ set-dist 0 1 1"
$ns_ at 7.0 "$node_(0) setdest 14.0 40.0 1.0"
"""


def read(tmp_path, text, nodes=2):
    file = tmp_path / "m.mov"
    file.write_text(text)
    return read_ns2(file, nodes, AREA)


def test_a_new_destination_interrupts_the_leg_where_the_node_then_is(tmp_path):
    legs = read(tmp_path, TWO_WALKERS)
    assert legs.position(0, 4.9) == (10, 20)
    assert legs.position(0, 6) == (12, 20)
    assert legs.position(0, 7) == (14, 20)
    assert legs.position(0, 17) == (14, 30)
    assert legs.position(0, 1000) == (14, 40)
    assert legs.position(1, 99) == (10, 50)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("$node_(2) set X_ 1", "m.mov:1: node 2 is outside the range; the scenario has nodes 0 to 1"),
        ("$node_(0) set X_ 101", "m.mov:1: (101, 0) is outside the area of 100 m x 50 m"),
        ('$ns_ at 1 "$node_(0) setdest 5 50.1 1"', "(5, 50.1) is outside the area"),
        ('$ns_ at -1 "$node_(0) setdest 5 5 1"', "negative"),
        ("$node_(0) set Z_ 3", "height"),
        ("$node_(0) set X_ 1e999", "not finite"),
        ("proc finish {} {}", "m.mov:1: invalid line: 'proc finish {} {}'"),
        ("", "node 0 has no initial X_"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path, line, complaint):
    with pytest.raises(MovementError) as caught:
        read(tmp_path, line)
    assert complaint in str(caught.value)


def test_destinations_of_a_node_come_in_order_of_time(tmp_path):
    with pytest.raises(
        MovementError, match=r"m.mov:11: node 0 has a setdest at 6 s after one at 7 s; sort by time"
    ):
        read(tmp_path, TWO_WALKERS + '$ns_ at 6.0 "$node_(0) setdest 1 1 1"\n')


coordinate = st.floats(0, 50, allow_subnormal=False)
moves = st.lists(st.tuples(st.floats(0, 100), coordinate, coordinate, st.floats(0, 30)), max_size=6)


@given(st.lists(st.tuples(coordinate, coordinate, moves), min_size=1, max_size=4))
def test_what_is_written_reads_back_as_the_same_movement(tmp_path_factory, nodes):
    text = io.StringIO()
    for node, (x, y, _) in enumerate(nodes):
        text.write(f"$node_({node}) set X_ {x:.12f}\n$node_({node}) set Y_ {y:.12f}\n")
    for node, (_, _, own) in enumerate(nodes):
        for time, x, y, speed in sorted(own):
            text.write(f'$ns_ at {time:.12f} "$node_({node}) setdest {x:.12f} {y:.12f} {speed:.12f}"\n')
    path = tmp_path_factory.mktemp("m")
    first = read(path, text.getvalue(), len(nodes))
    again = io.StringIO()
    write_ns2(first, again)
    second = read(path, again.getvalue(), len(nodes))
    for node in range(len(nodes)):
        for time in np.linspace(0, 120, 25):
            assert np.allclose(first.position(node, time), second.position(node, time), atol=1e-6)


@given(
    st.lists(
        st.sampled_from([*TWO_WALKERS.splitlines(), "$ns_ at", "$node_(99", "\x00", "$node_(0) set X_ -1"])
    ),
    st.text(),
)
def test_noise_in_a_movement_file_is_an_error_of_the_user_and_nothing_else(tmp_path_factory, lines, noise):
    file = tmp_path_factory.mktemp("m") / "noise.mov"
    file.write_text("\n".join([*lines, noise]), encoding="utf-8", errors="surrogatepass")
    try:
        read_ns2(file, 2, AREA)
    except UserError as error:
        assert str(file) in str(error)


SHOP = """
name = "s"
area = { width = "100 m", height = "50 m" }
duration = "20 s"
mobility = { ns2 = "m.mov" }

[nodes.shop]
count = 1
at = [["3 m", "4 m"]]

[nodes.walkers]
count = 2
mobility = "file"

[nodes.cars]
count = 2
mobility = "waypoint"
speed = "5 m/s"
"""


def test_a_movement_file_does_not_silently_move_nodes_that_were_placed(tmp_path):
    (tmp_path / "m.mov").write_text(TWO_WALKERS)
    file = tmp_path / "s.toml"
    file.write_text(SHOP.replace('mobility = "file"', ""))
    with pytest.raises(
        UserError, match=r"s\.toml:9: nodes\.shop\.at: the movement file would move these"
    ) as raised:
        load(file)
    assert 'mobility = "file"' in str(raised.value)


def test_groups_that_follow_a_file_are_mixed_with_groups_that_do_not(tmp_path):
    """The file's nodes are numbered from 0 over the groups that follow it."""
    (tmp_path / "m.mov").write_text(TWO_WALKERS)
    file = tmp_path / "s.toml"
    file.write_text(SHOP)
    scenario = load(file)
    legs = movement(scenario, 1)
    assert scenario.followers == [1, 2]
    assert legs.position(0, 13.0) == (3, 4)
    alone = read(tmp_path, TWO_WALKERS)
    for time in (0.0, 6.0, 9.0, 19.0):
        assert legs.position(1, time) == pytest.approx(alone.position(0, time))
        assert legs.position(2, time) == pytest.approx(alone.position(1, time))
    assert legs.position(3, 0.0) != legs.position(3, 10.0)
    with pytest.raises(MovementError, match="the groups that follow it have nodes 0 to 1"):
        (tmp_path / "m.mov").write_text(f"{TWO_WALKERS}$node_(2) set X_ 1\n")
        _ = load(file).recorded_legs
