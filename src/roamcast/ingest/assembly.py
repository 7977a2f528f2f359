"""Conversion of an ns-2 trace to facts in memory; `distributed` does the same for any size on Spark.

A packet that an agent sends is a publication, numbered per publisher in the trace's order. The destination
of a unicast packet expects it; every other node in the trace expects a broadcast. Packets of routing agents
(port 255) have the category routing, TCP acknowledgements control, and all others event.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, from_rows
from roamcast.ingest.description import TraceCounts, TraceDescription, drop_peer, has_rows, name_cause
from roamcast.ingest.file_parts import BadLine, IngestError, refuse_mostly_bad
from roamcast.ingest.node_movement import find_moves, read_moves, trace_legs
from roamcast.ingest.readers.ns2trace import TraceRecord
from roamcast.ingest.transmissions import categorise, follow, is_message, name_kind, net_size


class AssembledRun(NamedTuple):
    """The facts of an ns-2 run, the lines that were not parsed, and notes for the user."""

    facts: Facts
    bad: list[BadLine]
    notes: list[str]


def assemble(path: str, rows: Iterable[TraceRecord | BadLine], description: TraceDescription) -> AssembledRun:
    """Return the facts of the trace at `path`; `rows` are its parsed lines in file order."""
    records: list[TraceRecord] = []
    bad: list[BadLine] = []
    tally = TraceCounts()
    for row in rows:
        if isinstance(row, BadLine):
            bad.append(row)
        else:
            records.append(row)
            tally.add(row)
    tally.bad = len(bad)
    check(path, tally.lines, tally.bad, bad[0] if bad else None)
    published = number(records)
    present = sorted(tally.present)
    moves = (
        read_moves(description.movement, tally.nodes)
        if description.movement
        else find_moves(records, tally.nodes)
    )
    tables: dict[str, list[tuple[Any, ...]]] = {
        "publications": [
            publication_row(record, published[packet(record)]) for record in _published(records)
        ],
        "expectations": [
            (published[packet(record)], node)
            for record in _published(records)
            for node in expecting(record, present)
        ],
        "deliveries": [
            (published[packet(record)], record.node, record.time)
            for record in records
            if is_delivery(record) and packet(record) in published
        ],
        "drops": [
            (*found[:5], published.get(packet(record), -1), found[5])
            for record in records
            if (found := drop_row(record)) is not None
        ],
    }
    by_node = sorted(records, key=lambda record: (record.node, record.offset))
    sent = [
        (*sending[:5], published.get((sending.uid, sending.packet), -1), *sending[7:])
        for sending in follow(by_node, description.rates, link_traced=tally.traced("MAC"))
    ]
    tables["transmissions"] = sorted(sent, key=lambda row: row[:2])
    tally.unsent = max(tally.handed - len(sent), 0)
    legs = trace_legs(moves, tally.end) if moves is not None else TABLES["legs"].empty_table()
    facts = Facts(
        tally.run(path, description),
        {name: legs if name == "legs" else from_rows(name, tables.get(name, [])) for name in TABLES},
    )
    return AssembledRun(facts, bad, tally.notes(description, moved=moves is not None))


def check(path: str, lines: int, bad: int, first: BadLine | None) -> None:
    """Raise `IngestError` if the file contains no trace line, or more bad lines than good ones."""
    if lines == 0:
        why = f": byte {first.offset}: {first.why}" if first else ""
        raise IngestError(f"{path}: contains no line of an ns-2 wireless trace{why}")
    if first is not None:
        refuse_mostly_bad(path, lines, bad, first.offset, first.why)


def packet(record: TraceRecord) -> tuple[int, str]:
    """Return the key (uid, type) that identifies a packet; the type is empty for routing packets."""
    return record.uid, "" if categorise(record) == "routing" else record.kind


def is_publication(record: TraceRecord) -> bool:
    """Return whether the line records that an agent sends a packet, TCP acknowledgements excluded."""
    return record.layer == "AGT" and record.event == "s" and is_message(record) and record.kind != "ack"


def is_delivery(record: TraceRecord) -> bool:
    """Return whether the line records that an agent receives a packet, TCP acknowledgements excluded."""
    return record.layer == "AGT" and record.event == "r" and is_message(record) and record.kind != "ack"


def _published(records: list[TraceRecord]) -> Iterator[TraceRecord]:
    """Yield the first line on which an agent sends each packet."""
    seen: set[tuple[int, str]] = set()
    for record in records:
        if is_publication(record) and packet(record) not in seen:
            seen.add(packet(record))
            yield record


def number(records: list[TraceRecord]) -> dict[tuple[int, str], int]:
    """Return the publication id of each published packet, by packet key."""
    counts: Counter[int] = Counter()
    found = {}
    for record in _published(records):
        counts[record.node] += 1
        found[packet(record)] = record.node << 32 | counts[record.node]
    return found


def publication_row(record: TraceRecord, publication: int) -> tuple[Any, ...]:
    """Return the row of the table `publications` for a line on which an agent sends a packet."""
    whole = {record.kind: {"uid": record.uid} | ({"to": record.target} if record.target >= 0 else {})}
    event = json.dumps(whole, separators=(",", ":"))
    return publication, record.time, record.node, net_size(record), event


def expecting(record: TraceRecord, present: Iterable[int]) -> Iterable[int]:
    """Return the nodes that expect a packet: its destination, or all other `present` nodes."""
    if record.target >= 0:
        return (record.target,)
    return (node for node in present if node != record.node)


def drop_row(record: TraceRecord) -> tuple[Any, ...] | None:
    """Return the row of the table `drops` without the publication; None for a drop that is only counted."""
    if record.event != "d" or not is_message(record):
        return None
    cause = name_cause(record.reason, record.layer)
    if not has_rows(cause):
        return None
    return record.time, record.node, drop_peer(record), categorise(record), name_kind(record), cause


BAD = pa.schema(
    [
        pa.field("file", pa.string(), metadata={"meaning": "as it was named"}),
        pa.field(
            "offset", pa.int64(), metadata={"meaning": "of the line's first byte, unpacked", "unit": "B"}
        ),
        pa.field("why", pa.string(), metadata={"meaning": "what is wrong"}),
        pa.field("text", pa.string(), metadata={"meaning": "how the line begins"}),
    ]
)
"Schema of the file of lines that could not be parsed."
