"""What follows from the declaration of a message, and what cannot be declared."""

from typing import Annotated, NamedTuple

import pytest

from roamcast.content.filter import Filter
from roamcast.wire.codec import MessageCodec, encode
from roamcast.wire.errors import DeclarationError, WireError
from roamcast.wire.fields import Blob, Float, Hops, Int, ListOf, Node, PublicationId
from roamcast.wire.message import Category, Message, Role
from roamcast.wire.publication import Publication
from tests.wire.inventing import PATTERNS, PUBLICATIONS, TYPES, Coupon

CONTROL = {"category": Category.CONTROL, "role": Role.BEACON}


class SequenceGap(NamedTuple):
    first: Annotated[int, Int(2)]
    last: Annotated[int, Int(2)]

    def inconsistency(self):
        return "it ends before it begins" if self.last < self.first else None


class Beacon(Message, number=200, category=Category.CONTROL, role=Role.BEACON):
    node: Node
    power: Annotated[float, Float(4, least=0.0, unknown=True)]
    up: bool


class Asked(Message, number=201, category=Category.CONTROL, role=Role.REPAIR_REQUEST):
    id: PublicationId
    holes: Annotated[tuple[SequenceGap, ...], ListOf(3)]
    among: Annotated[frozenset[Node], ListOf(300)]
    summary: Annotated[bytes, Blob(8)] = b""


class Carried(Message, number=202, category=Category.EVENT, role=Role.EVENT, dedup_field="publication_id"):
    publication: Publication
    hops: Hops = 0


class Standard(Message, number=203, category=Category.ROUTING, role=Role.ROUTING):
    wanted: Filter

    @property
    def minimum_size(self):
        return 44


class Letter(Message, number=204):
    to: Node
    inside: Message


WORDS = MessageCodec((Beacon, Asked, Carried, Standard, Letter), TYPES)


def test_a_message_of_fixed_fields_has_one_size():
    assert Beacon.size == Beacon.length == 1 + 4 + 4 + 1
    assert Beacon.publication_id == -1
    assert encode(Beacon(5, 0.5, True)) == bytes([200, 0, 0, 0, 5, 0x3F, 0, 0, 0, 1])


def test_lists_and_sets_count_their_length():
    asked = Asked(77, (SequenceGap(1, 2), SequenceGap(5, 9)), frozenset({9, 4}), b"abc")
    assert asked.publication_id == 77
    assert asked.size == 1 + 8 + (1 + 2 * 4) + (2 + 2 * 4) + (2 + 3) == len(encode(asked))
    assert WORDS.decode(encode(asked)) == asked


def test_a_message_that_carries_a_publication_is_padded_to_its_size():
    event = Publication(3, 2 << 24 | 7, Coupon(zone=4), 100)
    carried = Carried(event, 3)
    assert (carried.publication_id, carried.size) == (event.id, 100)
    assert encode(carried).endswith(bytes(100 - carried.length))
    assert WORDS.decode(encode(carried)) == carried
    long = Carried(Publication(3, 7, Coupon(zone=4), 1))
    assert long.size == long.length == len(encode(long)) > 1


def test_padding_is_nothing_but_zeros():
    data = encode(Carried(PUBLICATIONS[0]))
    with pytest.raises(WireError, match="padding"):
        WORDS.decode(data[:-1] + b"\1")


def test_a_length_that_a_standard_fixes_is_kept():
    assert Standard(PATTERNS[0]).size == 44
    assert WORDS.decode(encode(Standard(PATTERNS[0]))) == Standard(PATTERNS[0])


def test_an_envelope_is_what_it_holds():
    letter = Letter(4, Carried(PUBLICATIONS[0], 2))
    assert (letter.category, letter.role) == (Category.EVENT, Role.EVENT)
    assert letter.publication_id == PUBLICATIONS[0].id
    assert letter.size == 512
    assert letter.length == 5 + letter.inside.length
    assert WORDS.decode(encode(letter)) == letter
    assert Letter(4, Beacon(1, 0.0, False)).size == 5 + Beacon.size


def test_an_envelope_in_an_envelope_is_refused_on_both_sides():
    with pytest.raises(WireError, match="envelope"):
        encode(Letter(1, Letter(2, Beacon(1, 0.0, False))))
    inner = encode(Letter(2, Beacon(1, 0.0, False)))
    with pytest.raises(WireError, match="envelope"):
        WORDS.decode(bytes([204, 0, 0, 0, 1]) + inner)


@pytest.mark.parametrize(
    "said",
    [
        Beacon(2**31, 0.5, True),
        Beacon(-1, 0.5, True),
        Beacon(1, -0.5, True),
        Beacon(1, float("inf"), True),
        Beacon(1, 1e300, True),
        Beacon(1, 0.5, 1),
        Asked(-1, (), frozenset()),
        Asked(1, (SequenceGap(2, 1),), frozenset()),
        Asked(1, (SequenceGap(0, 1),) * 4, frozenset()),
        Asked(1, (), frozenset({-4})),
        Asked(1, (), frozenset(), b"123456789"),
        Carried(Publication(2**31, 1, Coupon(zone=1))),
        Carried(Publication(1, 2**32, Coupon(zone=1))),
        Carried(Publication(1, 1, Coupon(zone=1), 2**16)),
        Carried(PUBLICATIONS[0], 256),
    ],
    ids=repr,
)
def test_what_is_out_of_bounds_has_no_bytes(said):
    with pytest.raises(WireError):
        encode(said)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x07",
        bytes([200, 0x80, 0, 0, 0, 0, 0, 0, 0, 1]),
        bytes([200, 0, 0, 0, 1, 0x7F, 0x80, 0, 0, 1]),
        bytes([200, 0, 0, 0, 1, 0x7F, 0xC0, 0, 1, 1]),
        bytes([200, 0, 0, 0, 1, 0, 0, 0, 0, 2]),
        bytes([201, *bytes(8), 1, 0, 2, 0, 1, 0, 0, 0, 0]),
        bytes([201, *bytes(8), 4, *bytes(16), 0, 0, 0, 0]),
        bytes([201, *bytes(8), 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0]),
        bytes([201, *bytes(8), 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0]),
        bytes([201, *bytes(8), 0, 0, 0, 0, 9, *bytes(9)]),
        bytes([203, 0xFF, 0xFF]),
    ],
    ids=lambda data: data.hex(),
)
def test_bytes_that_no_message_has_are_refused(data):
    with pytest.raises(WireError):
        WORDS.decode(data)


def test_what_is_too_long_for_a_datagram_is_refused():
    with pytest.raises(WireError, match="the maximum is"):
        WORDS.decode(bytes(70_000))


def test_event_types_that_are_not_known_here_are_refused():
    strangers = MessageCodec((Carried, Standard))
    for message in (Carried(PUBLICATIONS[0]), Standard(PATTERNS[0])):
        with pytest.raises(WireError, match="unknown event type"):
            strangers.decode(encode(message))


def test_what_cannot_be_declared_is_told_to_its_author():
    with pytest.raises(DeclarationError, match="declare its number"):
        type(Message)("Mute", (Message,), {"__annotations__": {}})
    with pytest.raises(DeclarationError, match="has no field codec"):
        type(Message)("Vague", (Message,), {"__annotations__": {"count": int}}, number=210, **CONTROL)
    with pytest.raises(DeclarationError, match="cannot be called 'size'"):
        type(Message)("Odd", (Message,), {"__annotations__": {"size": Node}}, number=210, **CONTROL)
    with pytest.raises(DeclarationError, match="declare its category"):
        type(Message)("Idle", (Message,), {"__annotations__": {}}, number=210)
    with pytest.raises(DeclarationError, match="from 1 to 255"):
        type(Message)("High", (Message,), {"__annotations__": {}}, number=256, **CONTROL)
    with pytest.raises(DeclarationError, match="ListOf needs"):
        hints = {"nodes": Annotated[list[Node], ListOf(3)]}
        type(Message)("Loose", (Message,), {"__annotations__": hints}, number=210, **CONTROL)
    with pytest.raises(DeclarationError, match="both have the number"):
        MessageCodec(
            (Beacon, type(Message)("Twin", (Message,), {"__annotations__": {}}, number=200, **CONTROL))
        )
