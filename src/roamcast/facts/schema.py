"""The schemas of the tables of facts: every column with its type, unit and meaning.

A run is a folder of Parquet files, one per table, written by a simulation or a live node. The tables have no
run id; the pipeline adds it.
"""

from __future__ import annotations

import pyarrow as pa


def _column(name: str, kind: pa.DataType, meaning: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"meaning": meaning, "unit": unit})


_WORD = pa.dictionary(pa.int16(), pa.string())
_PUBLICATION = _column(
    "publication",
    pa.int64(),
    "publication id: publisher << 32 | sequence number; -1 if the row concerns no event",
)
_TIME = _column("time", pa.float64(), "time since the start of the run", "s")
_NODE = _column("node", pa.int32(), "the node at which it happened")
_CATEGORY = _column("category", _WORD, "event, subscription, routing or control")
_KIND = _column("kind", _WORD, "class of the message")
_WANTED = _column("wanted", pa.string(), "the filter as XPath")

PUBLICATIONS = pa.schema(
    [
        _PUBLICATION,
        _TIME,
        _column("publisher", pa.int32(), "the node that published"),
        _column("size", pa.int32(), "size of the event, padding included", "B"),
        _column("event", pa.string(), "the event as JSON"),
    ]
)

EXPECTATIONS = pa.schema(
    [
        _PUBLICATION,
        _column("node", pa.int32(), "a node whose interests matched the event when it was published"),
    ]
)

DELIVERIES = pa.schema([_PUBLICATION, _NODE, _TIME])

TRANSMISSIONS = pa.schema(
    [
        _TIME,
        _NODE,
        _column("to", pa.int32(), "the neighbour addressed; -1 for a broadcast"),
        _CATEGORY,
        _KIND,
        _PUBLICATION,
        _column("size", pa.int32(), "size of the message without the network header", "B"),
        _column("attempts", pa.int16(), "number of data frames sent; 0 if no RTS was answered"),
        _column("failed", pa.bool_(), "whether the link layer gave up after its last attempt"),
        _column(
            "airtime", pa.float64(), "time that the node spent transmitting the data and RTS frames", "s"
        ),
    ]
)

DROPS = pa.schema(
    [
        _TIME,
        _NODE,
        _column(
            "peer",
            pa.int32(),
            "the sender of a received message, or the receiver of one to send; -1 if there is none",
        ),
        _CATEGORY,
        _KIND,
        _PUBLICATION,
        _column(
            "cause", _WORD, "reason given by the router (no_route, ...) or by the link layer (collision, ...)"
        ),
    ]
)

INTERESTS = pa.schema(
    [
        _TIME,
        _NODE,
        _WANTED,
        _column("begins", pa.bool_(), "true when the subscription begins, false when it ends"),
    ]
)

REQUESTS = pa.schema(
    [
        _column("request", pa.int64(), "request id: node << 32 | number of the request at the node"),
        _column("node", pa.int32(), "the requester"),
        _column("time", pa.float64(), "time of the request since the start of the run", "s"),
        _WANTED,
        _column("outcome", _WORD, "satisfied, expired, open (at the end of the run) or abandoned"),
        _column("answered", pa.float64(), "time at which it was satisfied; nan if it was not", "s"),
        _column("publication", pa.int64(), "id of the event that satisfied it; -1 if none did"),
        _column(
            "fresh",
            pa.bool_(),
            "whether that event was published after the request, and not before (cached)",
        ),
    ]
)

STATES = pa.schema(
    [
        _TIME,
        _NODE,
        _column("name", _WORD, "name of a state variable that the router reports"),
        _column("value", pa.float64(), "its value from this time until the next report"),
    ]
)

SIZES = pa.schema(
    [
        _column("time", pa.float64(), "time of the sample since the start of the run", "s"),
        _NODE,
        _column("table", _WORD, "name of the router's table"),
        _column("entries", pa.int64(), "number of entries"),
        _column("bytes", pa.int64(), "memory of the entries", "B"),
    ]
)

LEGS = pa.schema(
    [
        _column("node", pa.int32(), "the node that moves straight at one speed, or pauses"),
        _column("start", pa.float64(), "start of the leg since the start of the run", "s"),
        _column("end", pa.float64(), "start of the next leg, or end of the run", "s"),
        _column("x0", pa.float64(), "x coordinate (east) at the start", "m"),
        _column("y0", pa.float64(), "y coordinate (north) at the start", "m"),
        _column("x1", pa.float64(), "x coordinate (east) at the end", "m"),
        _column("y1", pa.float64(), "y coordinate (north) at the end", "m"),
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
