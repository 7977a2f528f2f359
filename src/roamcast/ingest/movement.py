"""Conversion of traces to movement: an ns-2 movement file, a scenario that uses it, and the nodes' names.

Between two positions a node moves straight at constant speed. Before its first and after its last position
the node is absent, by faults in the scenario. Time 0 is the earliest position in the trace; the origin of the
area is the south-west corner of the bounding box.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roamcast.files import MOST_TEXT
from roamcast.ingest.file_parts import IngestError
from roamcast.ingest.projection import NAME, centre
from roamcast.ingest.readers.ns2movement import MovementCommand
from roamcast.ingest.readers.position import TracePosition
from roamcast.scenario.traces.movement import Legs, join_legs, write_ns2

MOVEMENT_FILE, SCENARIO_FILE, NODES_FILE, ABOUT_FILE = (
    "movement.mov",
    "scenario.toml",
    "nodes.csv",
    "movement.json",
)

Reals = npt.NDArray[np.float64]


class NodePresence(NamedTuple):
    """The interval in which a node is present [s]."""

    arrive: float = 0.0
    leave: float = math.inf


class ImportedMovement(NamedTuple):
    """The movement of all nodes in the coordinates of a scenario, and the transformation from the trace."""

    legs: Legs
    names: list[str]
    "The name of each node in the traces."
    width: float
    height: float
    duration: float
    origin: dict[str, Any]
    "The subtracted time [s], x and y [m], and the projection if there was one."
    doubled: int
    "Number of positions ignored because the node had a different position at the same time."
    present: list[NodePresence]
    "The presence of each node."

    @property
    def late(self) -> int:
        """The number of nodes that arrive after the start."""
        return sum(each.arrive > 0 for each in self.present)

    @property
    def early(self) -> int:
        """The number of nodes that leave before the end."""
        return sum(each.leave < math.inf for each in self.present)


def follow_positions(
    rows: Iterable[TracePosition], *, sampled: bool = True, tolerance: float = 0.0
) -> ImportedMovement:
    """Return the movement through positions that are `sampled` at intervals, or that are waypoints.

    With a `tolerance` [m] above 0, positions that straight movement passes this closely are left out.
    """
    found = list(rows)
    if not found:
        raise IngestError("contains no positions")
    known = {name: number for number, name in enumerate(sorted({row.id for row in found}, key=_natural))}
    node = np.array([known[row.id] for row in found], np.int64)
    time = np.array([row.time for row in found])
    x, y, origin = _plane(found)
    order = np.lexsort((time, node))
    node, time, x, y = node[order], time[order], x[order], y[order]
    again = (node[1:] == node[:-1]) & (time[1:] == time[:-1])
    kept = np.append(True, ~again)
    doubled = int(np.count_nonzero(again & ((x[1:] != x[:-1]) | (y[1:] != y[:-1]))))
    node, time, x, y = node[kept], time[kept], x[kept], y[kept]
    start = float(time.min())
    used = _keep_positions(node, time, x, y, tolerance) if tolerance > 0 else slice(None)
    legs = _walk(node[used], time[used] - start, x[used], y[used])
    placed = _place(legs, list(known), float(time.max()) - start, origin | {"time": start}, doubled)
    return placed._replace(present=_find_presence(node, time - start, sampled))


def _keep_positions(
    node: npt.NDArray[np.int64], time: Reals, x: Reals, y: Reals, tolerance: float
) -> npt.NDArray[np.bool_]:
    """Return which positions to keep so that no node is ever more than `tolerance` [m] from its position.

    The rows are sorted by node and time. The first and the last position of each node are kept, and those
    farthest from straight movement between kept ones at the same time (Douglas and Peucker).
    """
    first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    last = np.append(first[1:], len(node)) - 1
    kept = np.zeros(len(node), np.bool_)
    kept[first] = kept[last] = True
    waiting = list(zip(first.tolist(), last.tolist(), strict=True))
    while waiting:
        begin, end = waiting.pop()
        if end - begin < 2:
            continue
        inner = slice(begin + 1, end)
        share = (time[inner] - time[begin]) / (time[end] - time[begin])
        away = np.hypot(
            x[begin] + share * (x[end] - x[begin]) - x[inner],
            y[begin] + share * (y[end] - y[begin]) - y[inner],
        )
        farthest = int(away.argmax())
        if away[farthest] > tolerance:
            middle = begin + 1 + farthest
            kept[middle] = True
            waiting += [(begin, middle), (middle, end)]
    return kept


def follow_orders(rows: Iterable[MovementCommand]) -> ImportedMovement:
    """Return the movement that the commands of an ns-2 file describe; nodes keep their numbers."""
    places: dict[int, dict[str, float]] = {}
    moves: dict[int, list[tuple[float, float, float, float]]] = {}
    for row in rows:
        if row.what == "setdest":
            assert row.time is not None and row.x is not None and row.y is not None and row.speed is not None
            moves.setdefault(row.node, []).append((row.time, row.x, row.y, row.speed))
        elif row.what in ("X", "Y"):
            value = row.x if row.what == "X" else row.y
            places.setdefault(row.node, {})[row.what] = value or 0.0
    if not places:
        raise IngestError("no node has an initial position")
    count = max(*places, *moves, 0) + 1
    for node in range(count):
        if missing := {"X", "Y"} - places.get(node, {}).keys():
            raise IngestError(f"node {node} has no initial {min(missing)}_")
    ordered = [sorted(moves.get(node, []), key=lambda move: move[0]) for node in range(count)]
    legs = join_legs([places[node] for node in range(count)], ordered)
    length = np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0)
    with np.errstate(divide="ignore", invalid="ignore"):
        arrives = legs.time + np.where(legs.speed > 0, length / legs.speed, 0.0)
    return _place(legs, [str(node) for node in range(count)], float(arrives.max()), {"time": 0.0}, 0)


def _find_presence(node: npt.NDArray[np.int64], time: Reals, sampled: bool) -> list[NodePresence]:
    """Return the presence of each node; the rows are sorted by node and time.

    A sampled node stays for one interval (the median of all) after its last position, and an absence shorter
    than one interval is ignored. A node with waypoints stays after its last waypoint.
    """
    first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    last = np.append(first[1:], len(node)) - 1
    gaps = np.diff(time)[node[1:] == node[:-1]]
    interval = float(np.median(gaps)) if sampled and len(gaps) else 0.0
    least = interval * (1 - 1e-6)  # times are rounded
    present = []
    for begins, ends in zip(time[first].tolist(), (time[last] + interval).tolist(), strict=True):
        arrive = begins if begins > 0 and begins >= least else 0.0
        present.append(NodePresence(arrive, ends if sampled and ends < time.max() else math.inf))
    return present


def _plane(found: list[TracePosition]) -> tuple[Reals, Reals, dict[str, Any]]:
    in_degrees = [row.longitude is not None for row in found]
    if not any(in_degrees):
        return np.array([row.x for row in found]), np.array([row.y for row in found]), {}
    if not all(in_degrees):
        raise IngestError("some positions are in degrees and some in metres")
    longitude = np.array([row.longitude for row in found], np.float64)
    latitude = np.array([row.latitude for row in found], np.float64)
    projection = centre(longitude, latitude)
    x, y = projection.project(longitude, latitude)
    return x, y, {"projection": NAME, **projection._asdict()}


def _walk(node: npt.NDArray[np.int64], time: Reals, x: Reals, y: Reals) -> Legs:
    first = np.append(True, node[1:] != node[:-1])
    still = np.zeros(int(first.sum()))
    rests = (node[first], still, x[first], y[first], x[first], y[first], still)
    end = np.flatnonzero(~first)
    begin = end - 1
    length = np.hypot(x[end] - x[begin], y[end] - y[begin])
    begin, end, length = begin[length > 0], end[length > 0], length[length > 0]
    speed = length / (time[end] - time[begin])
    walks = (node[begin], time[begin], x[begin], y[begin], x[end], y[end], speed)
    who, *others = (np.concatenate([rest, walk]) for rest, walk in zip(rests, walks, strict=True))
    order = np.lexsort((np.arange(len(who)), others[0], who))
    t, x0, y0, x1, y1, v = (np.asarray(column[order], np.float64) for column in others)
    return Legs(who[order].astype(np.int32), t, x0, y0, x1, y1, v)


def _place(
    legs: Legs, names: list[str], duration: float, origin: dict[str, Any], doubled: int
) -> ImportedMovement:
    """Return the movement, translated so that the south-west corner is at (0, 0)."""
    west = float(min(legs.x0.min(), legs.x1.min()))
    south = float(min(legs.y0.min(), legs.y1.min()))
    moved = legs._replace(x0=legs.x0 - west, x1=legs.x1 - west, y0=legs.y0 - south, y1=legs.y1 - south)
    width, height = (
        max(float(max(a.max(), b.max())), 1.0) for a, b in ((moved.x0, moved.x1), (moved.y0, moved.y1))
    )
    origin |= {"x": west, "y": south}
    return ImportedMovement(
        moved, names, width, height, duration, origin, doubled, [NodePresence()] * len(names)
    )


def write(itinerary: ImportedMovement, folder: Path, name: str, sources: list[str]) -> None:
    """Write movement, scenario, node names and origin to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MOVEMENT_FILE).open("w", encoding="utf-8") as file:
        write_ns2(itinerary.legs, file)
    rows = (f'{node},"{label.replace(chr(34), chr(34) * 2)}"\n' for node, label in enumerate(itinerary.names))
    (folder / NODES_FILE).write_text("node,id\n" + "".join(rows), encoding="utf-8")
    about = {"sources": sources, "nodes": len(itinerary.names), "origin": itinerary.origin}
    keys = ("width", "height", "duration", "doubled", "late", "early")
    about |= {key: getattr(itinerary, key) for key in keys}
    (folder / ABOUT_FILE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    scenario = _scenario(itinerary, name) + _write_faults(itinerary.present)
    if len(scenario) > MOST_TEXT:
        raise IngestError(
            f"{itinerary.late:,} nodes arrive late and {itinerary.early:,} leave early; their faults exceed "
            f"the {MOST_TEXT:,} bytes of a scenario: use a part of the trace, or --presence always"
        )
    (folder / SCENARIO_FILE).write_text(scenario, encoding="utf-8")


def _scenario(itinerary: ImportedMovement, name: str) -> str:
    """Return an example scenario: all nodes follow the trace and subscribe, with one event every 10 s.

    One node publishes or, if nodes arrive late or leave early, all nodes publish at a lower rate each.
    """
    width, height = math.ceil(itinerary.width), math.ceil(itinerary.height)
    come_and_go = itinerary.late + itinerary.early > 0
    publishers = f'every = "{10 * len(itinerary.names)} s"' if come_and_go else 'count = 1\nevery = "10 s"'
    return f"""\
name = {json.dumps(name)}
duration = "{max(itinerary.duration, 1.0):.9g} s"
area = {{ width = "{width} m", height = "{height} m" }}
mobility = {{ ns2 = "{MOVEMENT_FILE}" }}

[nodes.moving]
count = {len(itinerary.names)}
mobility = "file"

# An example workload: an event every 10 s, to which all nodes are subscribed.
[workload.types.news]
urgent = "boolean"

[workload.publish.moving]
{publishers}
content = {{ type = "news", values = {{ urgent = [true, false] }} }}

[workload.subscribe.moving]
interest = ["/news"]
"""


def _write_faults(present: list[NodePresence]) -> str:
    """Return the faults of nodes that arrive late or leave early; nodes with equal times share one."""
    alike: dict[NodePresence, list[int]] = {}
    for node, presence in enumerate(present):
        if presence != NodePresence():
            alike.setdefault(presence, []).append(node)
    if not alike:
        return ""
    lines = [
        "",
        "# Nodes are absent before their first and after their last position in the trace.",
        "[faults]",
    ]
    for presence, nodes in alike.items():
        arrive = f', arrive = "{presence.arrive:.9g} s"' if presence.arrive else ""
        leave = f', leave = "{presence.leave:.9g} s"' if presence.leave < math.inf else ""
        lines.append(f"presence-{nodes[0]} = {{ nodes = {nodes}{arrive}{leave} }}")
    return "\n".join([*lines, ""])


def _natural(name: str) -> tuple[bool, int, str]:
    """Return a sort key that orders numbers by value, before names."""
    plain = name.isascii() and name.isdigit() and len(name) < 19
    return not plain, int(name) if plain else 0, name
