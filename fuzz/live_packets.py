"""Fuzz what a live node reads from a socket: frames, the packets in them, and fragments put together."""

import sys

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.live.errors import FrameError
    from roamcast.live.link.fragments import MOST_BYTES, Reassembly
    from roamcast.live.link.packets import PIECE_BYTES, Piece, UnicastPiece, read_packet, write_packet
    from roamcast.live.security.frame import Opener, Refusal
    from roamcast.live.security.keys import NetworkKey

OPENER = Opener(NetworkKey.of_open_network("fuzz"), b"fuzz", 1)
REASSEMBLY = Reassembly(lambda: 0.0)


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input as a datagram, and as the packet in an authentic frame."""
    assert isinstance(OPENER.open(data), Refusal)
    assert not OPENER.floors()
    try:
        packet = read_packet(data)
    except FrameError:
        return
    assert write_packet(packet) == data
    if isinstance(packet, Piece | UnicastPiece):
        REASSEMBLY.add(1, packet.message, packet.place, packet.pieces, packet.payload)
        assert REASSEMBLY.bytes <= MOST_BYTES + 2 * PIECE_BYTES


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
