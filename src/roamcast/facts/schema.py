"""The schemas of the tables of facts: every column with its type, unit and meaning.

A run is a folder of Parquet files, one per table, written by a simulation or a live node. The tables have no
run id; the pipeline adds it.
"""

from __future__ import annotations

import pyarrow as pa


def _column(name: str, kind: pa.DataType, meaning: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"meaning": meaning, "unit": unit})


_WORD = pa.dictionary(pa.int16(), pa.string())
_PUBLICATION = _column("publication", pa.int64(), "publisher << 32 | sequence; -1 where no event is meant")
_TIME = _column("time", pa.float64(), "since the start of the run", "s")
_NODE = _column("node", pa.int32(), "the node that it happened at")
_CATEGORY = _column("category", _WORD, "event, subscription, routing or control")
_KIND = _column("kind", _WORD, "the message's type, as its router calls it")
_WANTED = _column("wanted", pa.string(), "the filter, as XPath")

PUBLICATIONS = pa.schema(
    [
        _PUBLICATION,
        _TIME,
        _column("publisher", pa.int32(), "the node that published"),
        _column("size", pa.int32(), "of the event message, padding included", "B"),
        _column("event", pa.string(), "the event as JSON"),
    ]
)

EXPECTATIONS = pa.schema(
    [_PUBLICATION, _column("node", pa.int32(), "a node whose interest matched when the event was published")]
)

DELIVERIES = pa.schema([_PUBLICATION, _NODE, _TIME])

TRANSMISSIONS = pa.schema(
    [
        _TIME,
        _NODE,
        _column("to", pa.int32(), "the neighbour addressed; -1 for everyone in range"),
        _CATEGORY,
        _KIND,
        _PUBLICATION,
        _column("size", pa.int32(), "above the network header", "B"),
        _column("attempts", pa.int16(), "data frames put on the air for it; 0 if no RTS was answered"),
        _column("failed", pa.bool_(), "whether the link gave up on it"),
        _column("airtime", pa.float64(), "spent by this node on its data and RTS frames", "s"),
    ]
)

DROPS = pa.schema(
    [
        _TIME,
        _NODE,
        _column("peer", pa.int32(), "who sent it, or whom it was for; -1 if nobody in particular"),
        _CATEGORY,
        _KIND,
        _PUBLICATION,
        _column("cause", _WORD, "a reason of the router (no_route ...) or of the link (collision ...)"),
    ]
)

INTERESTS = pa.schema(
    [
        _TIME,
        _NODE,
        _WANTED,
        _column("begins", pa.bool_(), "true when the node starts wanting it, false when it stops"),
    ]
)

REQUESTS = pa.schema(
    [
        _column("request", pa.int64(), "node << 32 | which of the node's requests"),
        _column("node", pa.int32(), "the node that asked"),
        _column("time", pa.float64(), "when it asked, since the start of the run", "s"),
        _WANTED,
        _column("outcome", _WORD, "satisfied, expired, open (at the end of the run) or abandoned"),
        _column("answered", pa.float64(), "when it was satisfied; nan if it was not", "s"),
        _column("publication", pa.int64(), "the event that satisfied it; -1 if none did"),
        _column("fresh", pa.bool_(), "whether that event was published after the request, not cached"),
    ]
)

STATES = pa.schema(
    [
        _TIME,
        _NODE,
        _column("name", _WORD, "what the router tells of itself, in its own words"),
        _column("value", pa.float64(), "holds until the router tells another"),
    ]
)

SIZES = pa.schema(
    [
        _column("time", pa.float64(), "of the sample, since the start of the run", "s"),
        _NODE,
        _column("table", _WORD, "the router's name for it"),
        _column("entries", pa.int64(), "in the table"),
        _column("bytes", pa.int64(), "that the entries hold", "B"),
    ]
)

LEGS = pa.schema(
    [
        _column("node", pa.int32(), "the node that moves, straight and at one speed, or stands"),
        _column("start", pa.float64(), "since the start of the run", "s"),
        _column("end", pa.float64(), "when its next leg starts, or the run ends", "s"),
        _column("x0", pa.float64(), "east, at the start", "m"),
        _column("y0", pa.float64(), "north, at the start", "m"),
        _column("x1", pa.float64(), "east, at the end", "m"),
        _column("y1", pa.float64(), "north, at the end", "m"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "publications": PUBLICATIONS,
    "expectations": EXPECTATIONS,
    "deliveries": DELIVERIES,
    "requests": REQUESTS,
    "transmissions": TRANSMISSIONS,
    "drops": DROPS,
    "interests": INTERESTS,
    "states": STATES,
    "tables": SIZES,
    "legs": LEGS,
}
"Every table by name; the file of table T in a run's folder is T.parquet."
