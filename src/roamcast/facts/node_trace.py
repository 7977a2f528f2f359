"""The trace of one node: its transmissions, deliveries, drops, interests and states in order of time.

The facts contain a reception only if the message was unicast to the node, if the router dropped it, or if the
reception failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isnan
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from roamcast.errors import UserError
from roamcast.facts.tables import Facts
from roamcast.routing.router import Drop


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row of the trace."""

    time: float
    "Since the start of the run [s]."
    what: str
    """publishes, sends, is sent, delivers, drops (the router), loses (the link), subscribes, unsubscribes,
    asks, is answered, or state."""
    kind: str = ""
    "The type of the message, or the name of the state."
    peer: int | None = None
    "The other node; None for a broadcast, or where there is none."
    publication: str = ""
    "Publisher and sequence number, as 12/3."
    detail: str = ""


def trace_node(facts: Facts, node: int, begin: float = 0.0, end: float = inf) -> list[Step]:
    """Return the steps of `node` from `begin` to `end` [s]; raise UserError if the run has no such node."""
    if not 0 <= node < facts.run.nodes:
        raise UserError(f"node {node}: the run has nodes 0 to {facts.run.nodes - 1}")
    found: list[Step] = []
    for part in (_publish, _send, _heard, _deliver, _drop, _interests, _requests, _states):
        found += (step for step in part(facts, node) if begin <= step.time <= end)
    return sorted(found, key=lambda step: step.time)  # stable: of one moment, in the order above


def _rows(facts: Facts, table: str, column: str, node: int) -> list[Mapping[str, Any]]:
    rows: pa.Table = facts[table]
    chosen: list[Mapping[str, Any]] = rows.filter(pc.equal(rows[column], node)).to_pylist()
    return chosen


def _about(publication: int) -> str:
    return "" if publication < 0 else f"{publication >> 32}/{publication & 0xFFFFFFFF}"


def _publish(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "publications", "publisher", node):
        about = _about(row["publication"])
        yield Step(row["time"], "publishes", publication=about, detail=f"{row['size']} B {row['event']}")


def _send(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "transmissions", "node", node):
        to = None if row["to"] < 0 else row["to"]
        yield Step(row["time"], "sends", row["kind"], to, _about(row["publication"]), _frames(row))


def _heard(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "transmissions", "to", node):
        yield Step(row["time"], "is sent", row["kind"], row["node"], _about(row["publication"]), _frames(row))


def _frames(row: Mapping[str, Any]) -> str:
    tries = f", {row['attempts']} attempts" if row["attempts"] != 1 else ""
    return f"{row['size']} B{tries}{', failed' if row['failed'] else ''}"


def _deliver(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "deliveries", "node", node):
        yield Step(row["time"], "delivers", publication=_about(row["publication"]))


def _drop(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "drops", "node", node):
        peer = None if row["peer"] < 0 else row["peer"]
        what = "drops" if row["cause"].upper() in Drop.__members__ else "loses"
        yield Step(row["time"], what, row["kind"], peer, _about(row["publication"]), row["cause"])


def _interests(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "interests", "node", node):
        yield Step(row["time"], "subscribes" if row["begins"] else "unsubscribes", detail=row["wanted"])


def _requests(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "requests", "node", node):
        yield Step(row["time"], "asks", detail=f"{row['wanted']} ({row['outcome']})")
        if not isnan(row["answered"]):
            yield Step(row["answered"], "is answered", publication=_about(row["publication"]))


def _states(facts: Facts, node: int) -> Iterator[Step]:
    for row in _rows(facts, "states", "node", node):
        yield Step(row["time"], "state", row["name"], detail=f"{row['value']:g}")
