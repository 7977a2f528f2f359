"""Recorded datagrams are decoded to the messages that they carried."""

from roamcast.content.declare import declare_type
from roamcast.live.link.fragments import cut
from roamcast.live.link.packets import ATTEMPT_SHIFT, Acks, Broadcast, Piece, Port, Unicast, write_packet
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import Sealer, fingerprint_protocol
from roamcast.live.security.keys import NetworkKey
from roamcast.routing.flooding import Flood, Flooding
from roamcast.routing.router import Publication
from roamcast.testbed.frames import FrameReader
from roamcast.testbed.medium import SentDatagram
from roamcast.wire.codec import encode

KEY = NetworkKey.of_open_network("test")
TYPE = declare_type("alert", {"level": "integer"})
FLOOD = Flood(Publication(7, 1, TYPE(level=3), 100), 0)
LARGE = Flood(Publication(7, 2, TYPE(level=4), 3000), 0)


def read(*bodies):
    sealer = Sealer(KEY, fingerprint_protocol(Flooding.messages), 7, FrameCounters())
    sent = [SentDatagram(0.0, 0, -1, sealer.seal(body)) for body in bodies]
    return FrameReader(KEY, Flooding.messages, [TYPE]).read(sent)


def whole(message):
    return bytes((Port.ROUTER,)) + encode(message)


def test_a_routers_message_is_told_by_kind_category_and_publication():
    [result] = read(write_packet(Broadcast(whole(FLOOD))))
    assert (result.kind, result.category, result.by_router) == ("Flood", "event", True)
    assert (result.publication, result.size) == (7 << 32 | 1, len(encode(FLOOD)))


def test_repetitions_of_a_unicast_are_one_transfer():
    numbers = (5 | 1 << ATTEMPT_SHIFT, 5 | 2 << ATTEMPT_SHIFT, 6 | 1 << ATTEMPT_SHIFT)
    first, second, other = read(*(write_packet(Unicast(9, number, whole(FLOOD))) for number in numbers))
    assert first.transfer == second.transfer != other.transfer and first.to == 9


def test_fragments_are_told_as_the_message_they_are_part_of():
    pieces = cut(whole(LARGE))
    result = read(*(write_packet(Piece(3, n, len(pieces), each)) for n, each in enumerate(pieces)))
    assert {each.publication for each in result} == {7 << 32 | 2} and len(
        {each.transfer for each in result}
    ) == 1


def test_messages_between_links_are_no_messages_of_the_router():
    result = read(write_packet(Acks(9, (5,))), write_packet(Broadcast(bytes((Port.HELLO,)) + b"x")))
    assert [each.kind for each in result] == ["LinkAck", "Greeting"]
    assert not any(each.by_router for each in result)


def test_bytes_that_are_no_frame_are_unreadable():
    [result] = FrameReader(KEY, Flooding.messages, [TYPE]).read([SentDatagram(0.0, 0, -1, b"x" * 80)])
    assert result.kind == "Unreadable"
