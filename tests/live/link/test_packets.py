"""Packets as bytes: one way to write each, and nothing else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.live.errors import FrameError
from roamcast.live.link.packets import (
    PIECE_BYTES,
    Acks,
    Broadcast,
    Piece,
    Repair,
    Unicast,
    UnicastPiece,
    read_packet,
    write_packet,
)

NODES = st.integers(0, 2**31 - 1)
NUMBERS = st.integers(0, 2**64 - 1)
PAYLOADS = st.binary(min_size=1, max_size=100)
LAST = st.integers(2, 255).flatmap(lambda n: st.tuples(st.integers(0, 2**32 - 1), st.just(n - 1), st.just(n)))
PACKETS = st.one_of(
    st.builds(Broadcast, PAYLOADS),
    st.builds(Unicast, NODES, NUMBERS, PAYLOADS, st.lists(NUMBERS, max_size=100).map(tuple)),
    st.builds(Acks, NODES, st.lists(NUMBERS, min_size=1, max_size=100).map(tuple)),
    st.builds(lambda part, payload: Piece(*part, payload), LAST, PAYLOADS),
    st.builds(
        lambda to, n, part, payload: UnicastPiece(to, n, *part, payload), NODES, NUMBERS, LAST, PAYLOADS
    ),
    st.builds(
        Repair,
        NODES,
        st.integers(0, 2**32 - 1),
        st.sets(st.integers(0, 254), min_size=1).map(sorted).map(tuple),
    ),
)


@given(PACKETS)
def test_a_packet_reads_back(packet):
    assert read_packet(write_packet(packet)) == packet


@given(st.binary(max_size=80))
def test_bytes_are_refused_or_written_the_same_again(body):
    try:
        packet = read_packet(body)
    except FrameError:
        return
    assert write_packet(packet) == body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00rest",
        b"\x08rest",
        write_packet(Unicast(1, 2, b"x", (3,)))[:-1],
        write_packet(Unicast(1, 2, b"x", (3,)))[:13] + bytes(2),
        write_packet(Acks(1, (2,)))[:-1],
        write_packet(Piece(1, 1, 1, b"x")),
        write_packet(Piece(1, 2, 2, b"x")),
        write_packet(Piece(1, 0, 2, b"shorter than all but the last may be")),
        write_packet(Piece(1, 1, 2, bytes(PIECE_BYTES + 1))),
        write_packet(Repair(1, 2, (3, 3))),
        write_packet(Repair(1, 2, (4, 3))),
    ],
)
def test_malformed_packets_are_refused(body):
    with pytest.raises(FrameError):
        read_packet(body)
