"""Line-by-line reader of ns-2's wireless traces, in the old and the new format.

s 1.000535000 _0_ MAC  --- 0 cbr 590 [13a 1 0 800] ------- [0:0 3:0 30 1] [0] 1 0
s -t 1.000535000 -Hs 0 -Hd 1 -Ni 0 -Nx 10.00 -Ny 100.00 ... -Nl MAC -Nw --- -Ma 13a -Md 1 ... -It cbr
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from roamcast.ingest.file_parts import BadLine, FilePart, read_lines, shorten
from roamcast.units import parse_finite


class TraceRecord(NamedTuple):
    """The content of one line; a default stands for a value that the format or the layer does not record."""

    offset: int
    event: str
    time: float
    node: int
    layer: str = ""
    reason: str = ""
    uid: int = -1
    kind: str = ""
    detail: str = ""
    size: int = 0
    source: int = -1
    port: int = -1
    target: int = -1
    mac_time: int = 0
    mac_to: int = -1
    mac_from: int = -1
    next: int = -1
    x: float | None = None
    y: float | None = None
    to_x: float | None = None
    to_y: float | None = None
    speed: float | None = None


def _column(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning})


SCHEMA = pa.schema(
    [
        _column("offset", pa.int64(), "of the line's first byte in its file"),
        _column("event", pa.string(), "s sent, r received, f forwarded, d dropped, M begins to move"),
        _column("time", pa.float64(), "seconds since the start of the simulation"),
        _column("node", pa.int32(), "node of the event"),
        _column("layer", pa.string(), "AGT agent, RTR router, IFQ interface queue, LL, MAC, PHY"),
        _column("reason", pa.string(), "ns-2's drop reason; --- if not dropped"),
        _column("uid", pa.int64(), "ns-2's packet id; routing packets and MAC frames often share 0"),
        _column("kind", pa.string(), "the packet's type; empty for RTS, CTS and ACK in the new format"),
        _column("detail", pa.string(), "type of a routing or ARP packet, if the trace contains it"),
        _column("size", pa.int32(), "bytes, as counted by the layer; 0 if the new format omits it"),
        _column("source", pa.int32(), "node that created the packet; -1 if unknown"),
        _column("port", pa.int32(), "port of the packet's source; 255 for routing agents; -1 if unknown"),
        _column("target", pa.int32(), "destination of the packet; -1 for broadcast or unknown"),
        _column("mac_time", pa.int32(), "the frame's duration field"),
        _column("mac_to", pa.int32(), "receiver of the frame; -1 for broadcast"),
        _column("mac_from", pa.int32(), "sender of the frame; -1 if unknown"),
        _column("next", pa.int32(), "the next hop; -1 for broadcast, -2 if unknown"),
        _column("x", pa.float64(), "position of the node (new format), or start of a movement; metres"),
        _column("y", pa.float64(), "likewise"),
        _column("to_x", pa.float64(), "destination of a movement; metres"),
        _column("to_y", pa.float64(), "likewise"),
        _column("speed", pa.float64(), "speed of a movement; m/s"),
    ]
)

_OLD = re.compile(
    r"([srfdD]) (\S+) _(\d+)_ (\w{1,8}) (\S{1,8}) (\d+) (\S{1,40}) (\d+) \[(\w+) (\w+) (\w+) (\w+)\]"
    r"(?: \[energy [^\]]*\])?(?: \S{1,12} \[([^\]\[]*)\](?: (.*))?)?"
)
_ADDRESSES = re.compile(r"(-?\d+):(-?\d+) (-?\d+):(-?\d+) (-?\d+) (-?\d+)")
_ARP = re.compile(r"(REQUEST|REPLY) \S+ \S+")
_MOVE = re.compile(r"M (\S+) (\d+) \((\S+), (\S+), (\S+)\), \((\S+), (\S+)\), (\S+)")
_NAMED = re.compile(r"\(([A-Z_]{1,20})\)$")
_SILENT = re.compile(r"S\w* |N -t |# ?")
"Lines of DSR's log and of the energy model, which are ignored."
_WIRED = re.compile(r"[-+hrd] \S+ \d+ \d+ ")
_BROADCAST = 0xFFFFFFFF
_MOST = 2**31 - 1
_LAST_NODE = (1 << 17) - 1
"Highest accepted node number: larger ones are errors, since ns-2 runs have at most thousands of nodes."


class _Misread(Exception):
    """The reason why a line cannot be parsed."""


def read(piece: FilePart) -> Iterator[TraceRecord | BadLine]:
    """Yield the records in a part of a trace."""
    for line in read_lines(piece):
        if isinstance(line, BadLine):
            yield line
            continue
        offset, text = line
        try:
            found = parse(offset, text)
        except _Misread as error:
            yield BadLine(offset, str(error), shorten(text))
            continue
        if found is not None:
            yield found


def parse(offset: int, line: str) -> TraceRecord | None:
    """Return the record of a line; None for a line that is ignored."""
    text = " ".join(line.split())
    if " -t " in text[:5]:
        return _parse_new(offset, text.split(" "))
    if found := _OLD.fullmatch(text):
        return _parse_old(offset, found)
    if found := _MOVE.fullmatch(text):
        return _parse_move(offset, found)
    if _SILENT.match(text):
        return None
    if _WIRED.match(text):
        raise _Misread("a line of a wired trace; only wireless traces are supported")
    raise _Misread("neither ns-2's old wireless format nor its new one")


def _parse_old(offset: int, found: re.Match[str]) -> TraceRecord:
    event, time, node, layer, reason, uid, kind, size, duration, mac_to, mac_from, _, inner, rest = (
        found.groups()
    )
    source = port = target = following = -1
    detail = ""
    if inner is not None:
        if addresses := _ADDRESSES.fullmatch(inner):
            source, target, following = (_node(addresses[place]) for place in (1, 3, 6))
            port = _whole(addresses[2])
        elif arp := _ARP.fullmatch(inner):
            detail = arp[1]
        else:
            raise _Misread(f"invalid packet addresses: [{inner[:40]}]")
        if rest and (named := _NAMED.search(rest)):
            detail = named[1]
    return TraceRecord(
        offset,
        event.lower(),
        _moment(time),
        _node(node),
        layer,
        reason,
        _count(uid),
        kind,
        detail,
        _whole(size),
        source,
        port,
        target,
        _hexadecimal(duration),
        _station(mac_to),
        _station(mac_from),
        -1 if target == -1 else following,
    )


def _parse_new(offset: int, words: list[str]) -> TraceRecord | None:
    event = words[0]
    if event == "N":
        return None
    if event not in ("s", "r", "f", "d") or len(words) % 2 == 0:
        raise _Misread(f"an event {event[:10]!r} or a tag without a value")
    fields = dict(zip(words[1::2], words[2::2], strict=True))
    try:
        source, port = _address(fields.get("-Is", "-1.-1"))
        target, _ = _address(fields.get("-Id", "-1.-1"))
        kind = fields.get("-It", "ARP" if fields.get("-P") == "arp" else "")
        if len(kind) > 40:
            raise _Misread("a packet type of more than 40 characters")
        return TraceRecord(
            offset,
            event,
            _moment(fields["-t"]),
            _node(fields["-Ni"]),
            fields["-Nl"][:8],
            fields["-Nw"][:8],
            _count(fields.get("-Ii", "-1")),
            kind,
            fields.get("-Pc" if kind == "AODV" else "-Po" if kind == "ARP" else "", "")[:20],
            _whole(fields.get("-Il", "0")),
            source,
            port,
            target,
            _hexadecimal(fields["-Ma"]),
            _station(fields["-Md"]),
            _station(fields["-Ms"]),
            _node(fields["-Hd"]),
            _real(fields["-Nx"]),
            _real(fields["-Ny"]),
        )
    except KeyError as error:
        raise _Misread(f"no {error.args[0]} in a line of the new format") from None


def _parse_move(offset: int, found: re.Match[str]) -> TraceRecord:
    time, node, x, y, _, to_x, to_y, speed = found.groups()
    begun = TraceRecord(offset, "M", _moment(time), _node(node))
    return begun._replace(x=_real(x), y=_real(y), to_x=_real(to_x), to_y=_real(to_y), speed=_real(speed))


def _address(text: str) -> tuple[int, int]:
    node, _, port = text.rpartition(".")
    if "." in node:
        raise _Misread(f"hierarchical addresses are not supported: {text[:40]}")
    return _node(node), _whole(port)


def _moment(text: str) -> float:
    time = _real(text)
    if time < 0:
        raise _Misread(f"negative time: {text[:40]}")
    return time


def _real(text: str) -> float:
    return parse_finite(text, error=_Misread)


def _whole(text: str, most: int = _MOST) -> int:
    try:
        number = int(text) if len(text) <= 20 else most + 1
    except ValueError:
        raise _Misread(f"{text[:40]!r} is not an integer") from None
    if not -2 <= number <= most:
        raise _Misread(f"{text[:40]} is out of range")
    return number


def _node(text: str) -> int:
    return _whole(text, _LAST_NODE)


def _count(text: str) -> int:
    return _whole(text, 2**63 - 1)


def _hexadecimal(text: str) -> int:
    try:
        number = int(text, 16) if len(text) <= 8 else -1
    except ValueError:
        number = -1
    if not 0 <= number <= _MOST:
        raise _Misread(f"{text[:40]!r} is not a frame duration")
    return number


def _station(text: str) -> int:
    """Return the node of a link address (hexadecimal), or -1 for the broadcast address."""
    try:
        number = int(text, 16) if len(text) <= 8 else -1
    except ValueError:
        number = -1
    if number == _BROADCAST:
        return -1
    if not 0 <= number <= _LAST_NODE:
        raise _Misread(f"{text[:40]!r} is not a link address")
    return number


def understands(line: str) -> bool:
    """Return whether a line is a record in one of ns-2's wireless formats."""
    try:
        return parse(0, line) is not None
    except _Misread:
        return False
