"""Movement for scenarios from traces: an ns-2 movement file, a scenario that uses it, and who is who.

Between two of its places a node walks straight, at the speed that takes it there in time; before its first
it stands there, and after its last it stays. Time begins with the first place of all, the area's corner is
the south-west of all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roamcast.ingest.pieces import IngestError
from roamcast.ingest.projection import NAME, centre
from roamcast.ingest.readers.ns2movement import Order
from roamcast.ingest.readers.position import Position
from roamcast.scenario.traces.movement import Legs, join_legs, write_ns2

MOVEMENT_FILE, SCENARIO_FILE, NODES_FILE, ABOUT_FILE = (
    "movement.mov",
    "scenario.toml",
    "nodes.csv",
    "movement.json",
)

Reals = npt.NDArray[np.float64]


class Itinerary(NamedTuple):
    """Everyone's movement in a scenario's plane, and how it came there."""

    legs: Legs
    names: list[str]
    "What each node is called in the traces."
    width: float
    height: float
    duration: float
    origin: dict[str, Any]
    "What was taken off: time, x, y, and the projection if there was one."
    doubled: int
    "Places left out because somebody was told to be at two at one time."


def follow_positions(rows: Iterable[Position]) -> Itinerary:
    """The movement of everyone whose positions are told."""
    found = list(rows)
    if not found:
        raise IngestError("no positions to move by")
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
    legs = _walk(node, time - time.min(), x, y)
    return _place(
        legs, list(known), float(time.max() - time.min()), origin | {"time": float(time.min())}, doubled
    )


def follow_orders(rows: Iterable[Order]) -> Itinerary:
    """The movement that an ns-2 file orders; its nodes keep their numbers."""
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
        raise IngestError("no node is given a place to start from")
    count = max(*places, *moves, 0) + 1
    for node in range(count):
        if missing := {"X", "Y"} - places.get(node, {}).keys():
            raise IngestError(f"node {node} is given no {min(missing)}_ to start from")
    ordered = [sorted(moves.get(node, []), key=lambda move: move[0]) for node in range(count)]
    legs = join_legs([places[node] for node in range(count)], ordered)
    length = np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0)
    with np.errstate(divide="ignore", invalid="ignore"):
        arrives = legs.time + np.where(legs.speed > 0, length / legs.speed, 0.0)
    return _place(legs, [str(node) for node in range(count)], float(arrives.max()), {"time": 0.0}, 0)


def _plane(found: list[Position]) -> tuple[Reals, Reals, dict[str, Any]]:
    in_degrees = [row.longitude is not None for row in found]
    if not any(in_degrees):
        return np.array([row.x for row in found]), np.array([row.y for row in found]), {}
    if not all(in_degrees):
        raise IngestError("some places are in degrees and some in metres")
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


def _place(legs: Legs, names: list[str], duration: float, origin: dict[str, Any], doubled: int) -> Itinerary:
    """Move the south-west corner to (0, 0)."""
    west = float(min(legs.x0.min(), legs.x1.min()))
    south = float(min(legs.y0.min(), legs.y1.min()))
    moved = legs._replace(x0=legs.x0 - west, x1=legs.x1 - west, y0=legs.y0 - south, y1=legs.y1 - south)
    width, height = (
        max(float(max(a.max(), b.max())), 1.0) for a, b in ((moved.x0, moved.x1), (moved.y0, moved.y1))
    )
    return Itinerary(moved, names, width, height, duration, origin | {"x": west, "y": south}, doubled)


def write(itinerary: Itinerary, folder: Path, name: str, sources: list[str]) -> None:
    """Write movement, scenario, names and origin into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MOVEMENT_FILE).open("w", encoding="utf-8") as file:
        write_ns2(itinerary.legs, file)
    rows = (f'{node},"{label.replace(chr(34), chr(34) * 2)}"\n' for node, label in enumerate(itinerary.names))
    (folder / NODES_FILE).write_text("node,id\n" + "".join(rows), encoding="utf-8")
    about = {"sources": sources, "nodes": len(itinerary.names), "origin": itinerary.origin}
    about |= {key: getattr(itinerary, key) for key in ("width", "height", "duration", "doubled")}
    (folder / ABOUT_FILE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    (folder / SCENARIO_FILE).write_text(_scenario(itinerary, name), encoding="utf-8")


def _scenario(itinerary: Itinerary, name: str) -> str:
    """A scenario to begin with: everyone follows the traces, one publishes, all others listen."""
    width, height = math.ceil(itinerary.width), math.ceil(itinerary.height)
    return f"""\
name = {json.dumps(name)}
duration = "{max(itinerary.duration, 1.0):.9g} s"
area = {{ width = "{width} m", height = "{height} m" }}
mobility = {{ ns2 = "{MOVEMENT_FILE}" }}

[nodes.moving]
count = {len(itinerary.names)}
mobility = "file"

# A workload to begin with: somebody has news now and then, and everyone wants to hear it.
[workload.types.news]
urgent = "boolean"

[workload.publish.moving]
count = 1
every = "10 s"
content = {{ type = "news", values = {{ urgent = [true, false] }} }}

[workload.subscribe.moving]
interest = ["/news"]
"""


def _natural(name: str) -> tuple[bool, int, str]:
    """Numbers in order of size, before names."""
    plain = name.isascii() and name.isdigit() and len(name) < 19
    return not plain, int(name) if plain else 0, name
