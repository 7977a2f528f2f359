"""The facts of a running live network: what its nodes have written into a folder so far, as one run."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from roamcast.content.declare import declare_type
from roamcast.content.errors import ContentError
from roamcast.facts.live.segments import expect, read_segments
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError, MessageKind, RunManifest, from_rows

NODES = "nodes"
"The subfolder with descriptions of nodes."

MOST_NAMED = 12
"Nodes of a network that are shown by their names."


class DescribedNode(msgspec.Struct, frozen=True):
    """A node by its description; it may have started several times."""

    node: int
    protocol: str
    start: float
    parameters: dict[str, Any] = {}
    types: dict[str, dict[str, Any]] = {}
    name: str = ""


def is_live(folder: Path) -> bool:
    """Return whether live nodes write facts into a folder."""
    return (folder / NODES).is_dir()


def read_nodes(folder: Path) -> list[DescribedNode]:
    """Return the nodes in the order in which they first started."""
    found: dict[int, DescribedNode] = {}
    for file in sorted((folder / NODES).glob("*.json")):
        try:
            described = msgspec.json.decode(file.read_bytes(), type=DescribedNode)
        except (OSError, msgspec.MsgspecError) as error:
            raise FactsError(f"{file}: not a description of a node: {error}") from None
        old = found.get(described.node)
        if old is None or described.start < old.start:
            found[described.node] = described
    if not found:
        raise FactsError(f"{folder}: no node has written facts here; nodes do so with the key `facts`")
    nodes = sorted(found.values(), key=lambda each: (each.start, each.node))
    protocols = {each.protocol for each in nodes}
    if len(protocols) > 1:
        raise FactsError(f"{folder}: nodes of several protocols: {', '.join(sorted(protocols))}")
    return nodes


def read_live(folder: Path, last: float | None = None, now: float | None = None) -> Facts:
    """Return the facts so far, or those of the `last` seconds before `now` (Unix time; by default the clock).

    Nodes are numbered by their start; time counts from the first start, or from `last` seconds ago. Positions
    and airtime are not known. Two nodes whose clocks differ see delays that are wrong by as much.
    """
    nodes = read_nodes(folder)
    numbers = {each.node: number for number, each in enumerate(nodes)}
    start = nodes[0].start if last is None else max(nodes[0].start, (now or time.time()) - last)
    types = {}
    try:
        for each in nodes:
            types.update({name: declare_type(name, fields) for name, fields in each.types.items()})
    except ContentError as error:
        raise FactsError(f"{folder}: types of a node: {error}") from None
    tables = {
        name: _shift(read_segments(folder, name, numbers, 0.0 if name == "interests" else start), start)
        for name in TABLES
        if name not in ("expectations", "requests", "legs")
    }
    tables["requests"] = from_rows("requests", [])
    tables["legs"] = from_rows("legs", [])
    for name, rows in tables.items():
        if last is not None and name != "interests" and "time" in rows.column_names:
            tables[name] = rows.filter(pc.greater_equal(rows["time"], 0.0))
    try:
        tables["expectations"] = expect(tables["publications"], tables["interests"], types)
    except ContentError as error:
        raise FactsError(
            f"{folder}: an event or a subscription of a type that no node declares: {error}"
        ) from None
    return Facts(_manifest(folder, nodes, tables), {name: tables[name] for name in TABLES})


def _shift(rows: pa.Table, start: float) -> pa.Table:
    index = rows.schema.get_field_index("time")
    return rows.set_column(index, rows.schema.field(index), pc.subtract(rows["time"], start))


def _manifest(folder: Path, nodes: list[DescribedNode], tables: dict[str, pa.Table]) -> RunManifest:
    last = max(
        (
            pc.max(table["time"]).as_py() or 0.0
            for name, table in tables.items()
            if "time" in table.column_names
        ),
        default=0.0,
    )
    sent = tables["transmissions"]
    kinds = dict(zip(sent["kind"].to_pylist(), sent["category"].to_pylist(), strict=True))
    return RunManifest(
        scenario=folder.resolve().name,
        protocol=nodes[0].protocol,
        parameters=nodes[0].parameters,
        seed=0,
        version="live",
        nodes=len(nodes),
        duration=float(last),
        warmup=0.0,
        frames={},
        drops=dict(Counter(tables["drops"]["cause"].to_pylist())),
        events_processed=0,
        kinds={kind: MessageKind(category) for kind, category in sorted(kinds.items())},
        resolved={"nodes": _groups(nodes)},
    )


def _groups(nodes: list[DescribedNode]) -> dict[str, dict[str, int]]:
    """Return a group for each node, by its name if it has one; one of all nodes if there are many."""
    if len(nodes) > MOST_NAMED:
        return {"nodes": {"count": len(nodes)}}
    names = [each.name or f"node {number}" for number, each in enumerate(nodes)]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else f"{name} ({number})": {"count": 1} for number, name in enumerate(names)
    }
