"""The transmissions of a node, derived from the lines of its router and link layer in an ns-2 trace.

A message that the router passes to the link layer waits there until its first frame is sent. The link layer
serves one message at a time, until the message is acknowledged or dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from roamcast.ingest.readers.ns2trace import TraceRecord

ROUTING_PORT = 255
"Port of ns-2's routing agents."

NETWORK_HEADER = 20
"Bytes that ns-2 includes in a packet's size below the agents, except for broadcasts of agents."

_FRAME_OVERHEAD = 58
"Bytes that ns-2 adds to a packet on the air: 34 of the link header, 24 of the radio header."
_RADIO_HEADER = 24
"Bytes of the radio header, which is always sent at 1 Mb/s."
_RTS_SIZE = 44
_SIFS_AT_MOST = 30e-6
"Maximum delay of a CTS after its RTS [s] (SIFS is 10 us); no other frame follows a reception so quickly."
_MOST_WAITING = 10_000
"Maximum number of messages that wait at a link; ns-2's queue has a capacity of 50."

LINK_KINDS = frozenset({"RTS", "CTS", "ACK", "ARP"})
"Kinds of frames that the link layer itself generates."


class LinkRates(NamedTuple):
    """Bit rates, which determine airtime and are not in the trace [b/s]."""

    data: float = 1e6
    basic: float = 1e6

    def airtime(self, size: int, *, broadcast: bool) -> float:
        """Return the airtime [s] of a frame of `size` bytes, including the radio header."""
        rate = self.basic if broadcast else self.data
        return _RADIO_HEADER * 8 / 1e6 + max(size - _RADIO_HEADER, 0) * 8 / rate


class TraceTransmission(NamedTuple):
    """A message that a node sent; a row of the transmissions, with the packet instead of the publication."""

    time: float
    node: int
    to: int
    category: str
    kind: str
    packet: str
    "The packet's type, which identifies it together with `uid`; empty for routing packets, which share uids."
    uid: int
    size: int
    attempts: int
    failed: bool
    airtime: float


def categorise(record: TraceRecord) -> str:
    """Return the message category of a packet."""
    if record.port == ROUTING_PORT:
        return "routing"
    return "control" if record.kind == "ack" else "event"


def name_kind(record: TraceRecord) -> str:
    """Return the message kind of a packet, by its ns-2 name."""
    return f"{record.kind} {record.detail}" if record.detail else record.kind


def net_size(record: TraceRecord) -> int:
    """Return the size of a packet without the network header [B], from a line of its agent or router."""
    bare = record.port != ROUTING_PORT and record.target == -1
    bare = bare or (record.layer == "AGT" and record.kind not in ("tcp", "ack"))
    return record.size if bare else max(record.size - NETWORK_HEADER, 0)


def is_message(record: TraceRecord) -> bool:
    """Return whether a line concerns a message, not a frame of the link layer itself or a movement."""
    return bool(record.kind) and record.kind not in LINK_KINDS


class NodeTrace:
    """Derives the transmissions of one node from its lines in order."""

    def __init__(self, rates: LinkRates, *, link_traced: bool) -> None:
        self.rates = rates
        self.link_traced = link_traced
        "Without lines of the link layer, each message counts as one frame of unknown airtime."
        self.unsent = 0
        "Number of messages that were never sent."
        self._waiting: deque[tuple[tuple[int, str], TraceTransmission]] = deque()
        self._current: tuple[tuple[int, str], TraceTransmission] | None = None
        self._rts_airtime = 0.0
        self._asking: float | None = None
        self._heard = -1.0

    def feed(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        """Process the next line; yield the messages whose transmission it completes."""
        if record.layer == "RTR" and record.event in "sf" and is_message(record):
            yield from self._hand_down(record)
        elif record.layer == "MAC" and record.event == "s":
            yield from self._send(record)
        elif record.layer == "MAC" and record.event == "r":
            yield from self._hear(record)
        elif record.event == "d" and is_message(record):
            yield from self._drop(record)

    def finish(self) -> Iterator[TraceTransmission]:
        """Yield the message in transmission at the end of the trace; count waiting messages as unsent."""
        if self._current is not None:
            yield self._current[1]
        self.unsent += len(self._waiting)

    def _hand_down(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        message = _message(record, record.next, net_size(record))
        if not self.link_traced:
            yield message._replace(attempts=1)
            return
        self._waiting.append((_key(record), message))
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popleft()
            self.unsent += 1

    def _send(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        kind = record.kind or self._guess(record)
        if kind == "RTS":
            self._rts_airtime += self.rates.airtime(record.size or _RTS_SIZE, broadcast=True)
            self._asking = record.time if self._asking is None else self._asking
        elif kind == "ARP":
            self._rts_airtime, self._asking = 0.0, None
        elif kind not in LINK_KINDS:
            yield from self._send_data(record)

    def _guess(self, record: TraceRecord) -> str:
        """Return whether a frame that the new format does not name is an RTS, CTS or ACK."""
        if record.mac_time == 0:
            return "ACK"
        answers = record.time - self._heard < _SIFS_AT_MOST
        return "CTS" if answers or record.mac_from != record.node else "RTS"

    def _send_data(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        key, broadcast = _key(record), record.mac_to == -1
        airtime = self.rates.airtime(record.size, broadcast=broadcast) + self._rts_airtime
        if self._current is not None and (self._current[0] != key or broadcast):
            yield self._current[1]
            self._current = None
        if self._current is None:
            message = self._take(key) or _message(record, -1, _size_on_air(record))
            began = record.time if self._asking is None else self._asking
            self._current = (key, message._replace(time=began, to=record.mac_to))
        message = self._current[1]
        message = message._replace(attempts=message.attempts + 1, airtime=message.airtime + airtime)
        self._rts_airtime, self._asking = 0.0, None
        self._current = (key, message)
        if broadcast:
            yield message
            self._current = None

    def _hear(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        ends = record.kind == "ACK" or (not record.kind and record.mac_time == 0)
        if ends and record.mac_to == record.node and self._current is not None:
            yield self._current[1]
            self._current = None
        elif record.kind in ("", "RTS") and record.mac_to == record.node:
            self._heard = record.time

    def _drop(self, record: TraceRecord) -> Iterator[TraceTransmission]:
        key = _key(record)
        if record.layer == "MAC" and record.reason == "RET":
            message = self._current[1] if self._current and self._current[0] == key else self._take(key)
            self._current = None
            if message is not None:
                began = message.time if message.attempts or self._asking is None else self._asking
                yield message._replace(
                    time=began, to=record.mac_to, failed=True, airtime=message.airtime + self._rts_airtime
                )
            self._rts_airtime, self._asking = 0.0, None
        elif record.layer in ("IFQ", "LL"):
            self._take(key)

    def _take(self, key: tuple[int, str]) -> TraceTransmission | None:
        for place, (known, message) in enumerate(self._waiting):
            if known == key:
                del self._waiting[place]
                return message
        return None


def follow(
    records: Iterable[TraceRecord], rates: LinkRates, *, link_traced: bool
) -> Iterator[TraceTransmission]:
    """Yield the transmissions of all nodes; the records are sorted by node, then by offset."""
    station, node = NodeTrace(rates, link_traced=link_traced), None
    for record in records:
        if record.node != node:
            yield from station.finish()
            station, node = NodeTrace(rates, link_traced=link_traced), record.node
        yield from station.feed(record)
    yield from station.finish()


def _key(record: TraceRecord) -> tuple[int, str]:
    return record.uid, name_kind(record)


def _message(record: TraceRecord, to: int, size: int) -> TraceTransmission:
    category = categorise(record)
    packet = "" if category == "routing" else record.kind
    kind = name_kind(record)
    return TraceTransmission(
        record.time, record.node, max(to, -1), category, kind, packet, record.uid, size, 0, False, 0.0
    )


def _size_on_air(record: TraceRecord) -> int:
    return net_size(record._replace(size=max(record.size - _FRAME_OVERHEAD, 0)))
