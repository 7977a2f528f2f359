"""ns-2's wireless traces, in the old format and the new one, a line at a time.

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
    """What one line tells; None where the format or the layer does not tell it."""

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
        _column("node", pa.int32(), "where it happened"),
        _column("layer", pa.string(), "AGT agent, RTR router, IFQ interface queue, LL, MAC, PHY"),
        _column("reason", pa.string(), "why it was dropped, in ns-2's letters; --- if it was not"),
        _column("uid", pa.int64(), "of the packet; routing packets and MAC frames often share 0"),
        _column("kind", pa.string(), "the packet's type; empty for RTS, CTS and ACK in the new format"),
        _column("detail", pa.string(), "which routing packet or ARP packet it is, where ns-2 says so"),
        _column("size", pa.int32(), "bytes, as the layer counts them; 0 where the new format is silent"),
        _column("source", pa.int32(), "node that made the packet; -1 if untold"),
        _column("port", pa.int32(), "of the packet's source; 255 is the routing agents'; -1 if untold"),
        _column("target", pa.int32(), "node that the packet is for; -1 for everyone or untold"),
        _column("mac_time", pa.int32(), "the frame's duration field"),
        _column("mac_to", pa.int32(), "node that the frame is for; -1 for everyone"),
        _column("mac_from", pa.int32(), "node that sent the frame; -1 if untold"),
        _column("next", pa.int32(), "the next hop; -1 for everyone, -2 if untold"),
        _column("x", pa.float64(), "where the node was (new format), or is as it begins to move; metres"),
        _column("y", pa.float64(), "likewise"),
        _column("to_x", pa.float64(), "where it moves to; metres"),
        _column("to_y", pa.float64(), "likewise"),
        _column("speed", pa.float64(), "at which it moves; m/s"),
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
"Lines of DSR's own log and of the energy model: understood, and of no use here."
_WIRED = re.compile(r"[-+hrd] \S+ \d+ \d+ ")
_BROADCAST = 0xFFFFFFFF
_MOST = 2**31 - 1
_LAST_NODE = (1 << 17) - 1
"ns-2 runs have thousands of nodes at most; a larger number is a slip, and would cost memory for nobody."


class _Misread(Exception):
    """Why a line cannot be understood."""


def read(piece: FilePart) -> Iterator[TraceRecord | BadLine]:
    """The records of a piece of a trace."""
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
    """The record of a line; None for a line of which nothing is wanted."""
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
        raise _Misread("a line of a wired trace; only wireless ones are understood")
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
            raise _Misread(f"no addresses of a packet: [{inner[:40]}]")
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
    told = dict(zip(words[1::2], words[2::2], strict=True))
    try:
        source, port = _address(told.get("-Is", "-1.-1"))
        target, _ = _address(told.get("-Id", "-1.-1"))
        kind = told.get("-It", "ARP" if told.get("-P") == "arp" else "")
        if len(kind) > 40:
            raise _Misread("a type of packet of more than 40 letters")
        return TraceRecord(
            offset,
            event,
            _moment(told["-t"]),
            _node(told["-Ni"]),
            told["-Nl"][:8],
            told["-Nw"][:8],
            _count(told.get("-Ii", "-1")),
            kind,
            told.get("-Pc" if kind == "AODV" else "-Po" if kind == "ARP" else "", "")[:20],
            _whole(told.get("-Il", "0")),
            source,
            port,
            target,
            _hexadecimal(told["-Ma"]),
            _station(told["-Md"]),
            _station(told["-Ms"]),
            _node(told["-Hd"]),
            _real(told["-Nx"]),
            _real(told["-Ny"]),
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
        raise _Misread(f"the hierarchical address {text[:40]} names no node")
    return _node(node), _whole(port)


def _moment(text: str) -> float:
    time = _real(text)
    if time < 0:
        raise _Misread(f"a time before the start: {text[:40]}")
    return time


def _real(text: str) -> float:
    return parse_finite(text, error=_Misread)


def _whole(text: str, most: int = _MOST) -> int:
    try:
        number = int(text) if len(text) <= 20 else most + 1
    except ValueError:
        raise _Misread(f"{text[:40]!r} is no whole number") from None
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
        raise _Misread(f"{text[:40]!r} is no duration of a frame")
    return number


def _station(text: str) -> int:
    """A link address, which is the node's number in hexadecimal digits; -1 for everyone."""
    try:
        number = int(text, 16) if len(text) <= 8 else -1
    except ValueError:
        number = -1
    if number == _BROADCAST:
        return -1
    if not 0 <= number <= _LAST_NODE:
        raise _Misread(f"{text[:40]!r} is no address of the link")
    return number


def understands(line: str) -> bool:
    """Whether a line tells something in ns-2's wireless formats."""
    try:
        return parse(0, line) is not None
    except _Misread:
        return False
