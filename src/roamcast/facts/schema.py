"""The tables of facts: every column with its type, unit and meaning, declared once.

A run is a folder of Parquet files, one a table, that a simulation or a live node wrote. Tables hold
no run id: the pipeline adds it from the folder.
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
        _column("wanted", pa.string(), "the filter, as XPath"),
        _column("begins", pa.bool_(), "true when the node starts wanting it, false when it stops"),
    ]
)

POSITIONS = pa.schema(
    [
        _TIME,
        _NODE,
        _column("x", pa.float64(), "east", "m"),
        _column("y", pa.float64(), "north", "m"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "publications": PUBLICATIONS,
    "expectations": EXPECTATIONS,
    "deliveries": DELIVERIES,
    "transmissions": TRANSMISSIONS,
    "drops": DROPS,
    "interests": INTERESTS,
    "positions": POSITIONS,
}
"Every table by name; the file of table T in a run's folder is T.parquet."
