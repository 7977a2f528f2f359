"""Reading and writing of ns-2 movement files.

A leg begins at a time and position and leads straight to its target at one speed; there the node waits for
its next leg. An early `setdest` interrupts the current leg at the node's position.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple, TextIO, TypeAlias

import numpy as np
import numpy.typing as npt

from roamcast.errors import UserError
from roamcast.files import MOST_TRACE, read_text
from roamcast.scenario.model import Area
from roamcast.units import parse_finite

Floats: TypeAlias = npt.NDArray[np.float64]

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
PLACE = re.compile(rf"\$node_\(\s*(\d+)\s*\)\s+set\s+([XYZ])_\s+{_NUMBER}\s*;?")
"A line that sets an initial coordinate: node, axis, position [m]."
SETDEST = re.compile(
    rf'\$ns_\s+at\s+{_NUMBER}\s+"\s*\$node_\(\s*(\d+)\s*\)\s+setdest\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s*"\s*;?'
)
"A line that starts a movement: time [s], node, x [m], y [m], speed [m/s]."
GOD = re.compile(r'\$god_\s.*|\$ns_\s+at\s+\S+\s+"\s*\$god_\s.*"\s*;?')
"A line about shortest paths, which is ignored."


class MovementError(UserError):
    """An invalid movement file."""


class Legs(NamedTuple):
    """The movement of all nodes as columns, sorted by node and time; each node has at least one leg."""

    node: npt.NDArray[np.int32]
    time: Floats
    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats
    speed: Floats

    def of(self, node: int) -> Legs:
        """Return the legs of one node."""
        first, last = np.searchsorted(self.node, [node, node + 1])
        return Legs(self.node[first:last], *(column[first:last] for column in self[1:]))

    def position(self, node: int, time: float) -> tuple[float, float]:
        """Return the position of `node` at `time` [m]."""
        own = self.of(node)
        last = max(int(np.searchsorted(own.time, time, side="right")) - 1, 0)
        return _Leg(*(float(column[last]) for column in own[1:])).at(time)


class _Leg(NamedTuple):
    time: float
    x0: float
    y0: float
    x1: float
    y1: float
    speed: float

    def at(self, time: float) -> tuple[float, float]:
        length = math.hypot(self.x1 - self.x0, self.y1 - self.y0)
        gone = self.speed * max(time - self.time, 0.0)
        if gone >= length:
            return (self.x1, self.y1) if self.speed > 0 else (self.x0, self.y0)
        share = gone / length
        return self.x0 + (self.x1 - self.x0) * share, self.y0 + (self.y1 - self.y0) * share


def read_ns2(path: Path, nodes: int, area: Area, owner: str = "the scenario has") -> Legs:
    """Return the movement of `nodes` nodes within `area` from an ns-2 file; `owner` is used in messages."""
    text = read_text(path, MOST_TRACE)
    places: list[dict[str, float]] = [{} for _ in range(nodes)]
    moves: list[list[tuple[float, float, float, float]]] = [[] for _ in range(nodes)]
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#") or GOD.fullmatch(line):
            continue
        try:
            _read_line(line, area, places, moves, owner)
        except MovementError as error:
            raise MovementError(f"{path}:{number}: {error}") from None
    for node, place in enumerate(places):
        if missing := {"X", "Y"} - place.keys():
            raise MovementError(
                f"{path}: node {node} has no initial {min(missing)}_; "
                f"expected '$node_({node}) set {min(missing)}_ METRES'"
            )
    return join_legs(places, moves)


def _read_line(
    line: str,
    area: Area,
    places: list[dict[str, float]],
    moves: list[list[tuple[float, float, float, float]]],
    owner: str,
) -> None:
    if found := PLACE.fullmatch(line):
        place = places[_node(found[1], len(places), owner)]
        place[found[2]] = _within(area, **{found[2]: parse_finite(found[3], error=MovementError)})
    elif found := SETDEST.fullmatch(line):
        own = moves[_node(found[2], len(moves), owner)]
        time, x, y, speed = (parse_finite(found[group], error=MovementError) for group in (1, 3, 4, 5))
        _within(area, X=x, Y=y)
        if time < 0 or speed < 0:
            raise MovementError("a time or a speed is negative")
        if own and time < own[-1][0]:
            raise MovementError(
                f"node {found[2]} has a setdest at {time:g} s after one at {own[-1][0]:g} s; sort by time"
            )
        own.append((time, x, y, speed))
    else:
        shown = line if len(line) <= 60 else f"{line[:57]}..."
        raise MovementError(
            f"invalid line: {shown!r}; expected '$node_(N) set X_ METRES' "
            f"or '$ns_ at SECONDS \"$node_(N) setdest X Y SPEED\"'"
        )


def _node(digits: str, nodes: int, owner: str) -> int:
    node = int(digits) if len(digits) < 10 else nodes
    if node >= nodes:
        raise MovementError(f"node {digits[:20]} is outside the range; {owner} nodes 0 to {nodes - 1}")
    return node


def _within(area: Area, X: float = 0.0, Y: float = 0.0, Z: float = 0.0) -> float:
    if Z:
        raise MovementError("a height other than 0 is not supported")
    if not area.contains(X, Y):
        raise MovementError(f"({X:g}, {Y:g}) is outside the area of {area.width:g} m x {area.height:g} m")
    return X + Y


def join_legs(places: list[dict[str, float]], moves: list[list[tuple[float, float, float, float]]]) -> Legs:
    """Return the legs of nodes that start at `places` and move by `moves` (time, x, y, speed)."""
    rows: list[tuple[int, float, float, float, float, float, float]] = []
    for node, (place, own) in enumerate(zip(places, moves, strict=True)):
        leg = _Leg(0.0, place["X"], place["Y"], place["X"], place["Y"], 0.0)
        rows.append((node, *leg))
        for time, x, y, speed in own:
            leg = _Leg(time, *leg.at(time), x, y, speed)
            rows.append((node, *leg))
    columns = zip(*rows, strict=True)
    return Legs(np.array(next(columns), np.int32), *(np.array(column, np.float64) for column in columns))


def write_ns2(legs: Legs, file: TextIO) -> None:
    """Write movement as an ns-2 file: initial positions, then destinations in order of time."""
    starts = np.flatnonzero(np.diff(legs.node, prepend=-1))
    for row in starts:
        for axis, value in (("X", legs.x0[row]), ("Y", legs.y0[row]), ("Z", 0.0)):
            file.write(f"$node_({legs.node[row]}) set {axis}_ {value:.12f}\n")
    resting = set(starts[legs.speed[starts] == 0].tolist())
    for row in np.argsort(legs.time, kind="stable").tolist():
        if row not in resting:
            target = f"{legs.x1[row]:.12f} {legs.y1[row]:.12f} {legs.speed[row]:.12f}"
            file.write(f'$ns_ at {legs.time[row]:.12f} "$node_({legs.node[row]}) setdest {target}"\n')
