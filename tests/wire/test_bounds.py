"""Numbers, lists and lengths at their limits: a bound is written and read, what lies beyond is not."""

import math
from hashlib import sha256
from random import Random
from typing import Annotated, NamedTuple

import pytest

from roamcast.content.field_type import String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.codec import LONGEST, MessageCodec, encode
from roamcast.wire.errors import DeclarationError, WireError
from roamcast.wire.field import HIGHEST_NODE, GenerationContext
from roamcast.wire.fields import Blob, Float, Hops, Int, ListOf, Node, PublicationId, field_of
from roamcast.wire.message import Category, Message, MessageType, Role, generate
from roamcast.wire.publication import Publication
from tests.wire.inventing import PUBLICATIONS, TYPES, Coupon, invention

BEACON = {"category": Category.CONTROL, "role": Role.BEACON}
Note = EventType("note", {"text": String()})


class Pair(NamedTuple):
    name: Annotated[bytes, Blob(4)]
    count: Annotated[int, Int(2, least=1)]

    def inconsistency(self):
        return "it counts to thirteen" if self.count == 13 else None


class Span(NamedTuple):
    first: Annotated[int, Int(2, least=1)]
    last: Hops


class Numbers(Message, number=200, **BEACON):
    node: Node
    small: Annotated[int, Int(1, least=-128)]
    some: Annotated[int, Int(2, least=3, most=500)]
    real: Annotated[float, Float(4, least=-2.0, most=8.0)]
    any: Annotated[float, Float(unknown=True)]
    yes: bool


class Lists(Message, number=201, **BEACON):
    about_id: PublicationId
    pairs: Annotated[tuple[Pair, ...], ListOf(255, least=1)]
    nodes: Annotated[frozenset[Node], ListOf(256)]

    def inconsistency(self):
        return "it serves 66" if self.about_id == 66 else None


class Carried(Message, number=255, category=Category.EVENT, role=Role.EVENT):
    publication: Publication
    hops: Hops = 0


class Told(Message, number=1, **BEACON):
    wanted: Annotated[tuple[Hops, ...], ListOf(65_535)]


WORDS = MessageCodec((Numbers, Lists, Carried, Told), {**TYPES, "note": Note})


def written(field, value):
    out = bytearray()
    field.write(out, value)
    assert len(out) == field.length(value)
    return bytes(out)


def read(field, data):
    octets = ByteReader(data, {}, TYPES)
    value = field.read(octets)
    octets.close(0)
    return value


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        (Int(1), (0, 255), (-1, 256, True, 1.0, None)),
        (Int(1, least=-128), (-128, -1, 127), (-129, 128)),
        (Int(1, least=-128, most=5), (-128, 5), (6,)),
        (Int(2, least=7, most=9), (7, 9), (6, 10)),
        (Int(2, least=1), (1, 65_535), (0, 65_536)),
        (field_of(Node), (0, HIGHEST_NODE), (-1, HIGHEST_NODE + 1)),
        (field_of(PublicationId), (0, 2**63 - 1), (-1, 2**63)),
        (Float(4, least=-2.0, most=8.0), (-2.0, 8.0), (-2.125, 8.5, math.nan, 3)),
        (Float(8), (-1e308, 1e308), (math.inf, -math.inf, math.nan)),
        (Float(4), (-1e38,), (1e39,)),
        (Blob(3), (b"", b"abc"), (b"abcd", "abc", bytearray(b"a"))),
        (ListOf(2, least=1).of(Int(1), ordered=True), ((1,), (2, 1)), ((), (1, 2, 3), [1], frozenset({1}))),
        (
            ListOf(2).of(Int(1), ordered=False),
            (frozenset(), frozenset({2, 9})),
            ((1,), frozenset({1, 2, 3})),
        ),
        (field_of(bool), (True, False), (0, 1, None)),
        (field_of(Span), (Span(1, 0), Span(9, 255)), (Span(0, 0), Span(1, 256), (1, 2))),
        (field_of(Pair), (Pair(b"ab", 1), Pair(b"", 65_535)), (Pair(b"", 13), Pair(b"abcde", 1), (b"ab", 1))),
    ],
    ids=lambda each: each.describe() if hasattr(each, "describe") else "",
)
def test_a_bound_is_written_and_read_and_what_is_beyond_has_no_bytes(field, inside, outside):
    for value in inside:
        back = read(field, written(field, value))
        assert back == pytest.approx(value, rel=1e-6) if isinstance(value, float) else back == value
    for value in outside:
        with pytest.raises(WireError):
            field.write(bytearray(), value)


@pytest.mark.parametrize(
    ("field", "data"),
    [
        (Int(2, least=7, most=9), "0006 000a"),
        (Int(1, least=-128, most=5), "06"),
        (Float(4, least=-2.0, most=8.0), "c0080000 41080000 7fc00000 7f800000"),
        (Float(8), "7ff0000000000000 fff0000000000000 7ff8000000000000"),
        (Blob(3), "000461626364"),
        (ListOf(2, least=1).of(Int(1), ordered=True), "00 03010203"),
        (ListOf(2).of(Int(1), ordered=False), "03010203 020202 020201"),
        (field_of(bool), "02 ff"),
        (field_of(Pair), "0000000d 00000000 00056162636465 0001"),
    ],
)
def test_bytes_of_what_is_beyond_a_bound_are_refused(field, data):
    for each in data.split():
        with pytest.raises(WireError):
            read(field, bytes.fromhex(each))


def test_nan_is_written_in_one_way_where_it_is_allowed():
    field = Float(4, least=0.0, unknown=True)
    assert math.isnan(read(field, written(field, math.nan)))
    assert written(field, -math.nan) == written(field, math.nan)
    with pytest.raises(WireError):
        read(field, bytes.fromhex("ffc00000"))


def test_a_list_of_255_counts_with_one_byte_and_one_of_256_with_two():
    assert len(written(ListOf(255).of(Int(1), ordered=True), (1,) * 255)) == 1 + 255
    assert len(written(ListOf(256).of(Int(1), ordered=True), (1,) * 256)) == 2 + 256


@pytest.mark.parametrize(
    "bounds", [{"most": 256}, {"least": -129}, {"least": -1, "most": 128}, {"least": 6, "most": 5}]
)
def test_bounds_that_no_byte_has_cannot_be_declared(bounds):
    with pytest.raises(ValueError, match="do not fit into 1 bytes"):
        Int(1, **bounds)
    assert (Int(1, least=5, most=5).least, Int(1, least=-128, most=127).most) == (5, 127)


def test_kinds_are_bytes_and_none_is_zero():
    assert (Told.number, Carried.number) == (1, 255)
    with pytest.raises(DeclarationError, match="from 1 to 255, not 0"):
        MessageType("None_", (Message,), {"__annotations__": {}}, number=0, **BEACON)


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        (Publication(HIGHEST_NODE, 2**32 - 1, Coupon(zone=1), 0), True),
        (Publication(0, 0, Coupon(zone=1), LONGEST), True),
        (Publication(0, 0, Coupon(zone=1), LONGEST + 1), False),
        (Publication(0, 0, Coupon(zone=1), -1), False),
        (Publication(-1, 0, Coupon(zone=1)), False),
        (Publication(0, -1, Coupon(zone=1)), False),
        (Publication(0, 0, Note(text="x" * 65_400)), True),
        (Publication(0, 0, Note(text="x" * 65_525)), False),
    ],
    ids=lambda said: f"{said.publisher} {said.sequence} {said.size}" if isinstance(said, Publication) else "",
)
def test_publications_at_their_limits(said, fits):
    if fits:
        data = encode(Carried(said))
        assert len(data) == Carried(said).size == max(said.size, 2 + said.length)
        assert WORDS.decode(data) == Carried(said)
    else:
        with pytest.raises(WireError):
            encode(Carried(said))


@pytest.mark.parametrize(
    ("letters", "flaw"), [(65_520, None), (65_521, "a filter of 65536"), (65_522, "the maximum is")]
)
def test_a_filter_is_told_up_to_the_last_byte_that_its_length_can_say(letters, flaw):
    field, out = field_of(Filter), bytearray()
    wanted = Note.text == "x" * letters
    if flaw is None:
        field.write(out, wanted)
        assert len(out) == 2 + 65_535 == field.length(wanted)
        assert field.read(ByteReader(bytes(out), {}, {"note": Note})) == wanted
    else:
        with pytest.raises(WireError, match=flaw):
            field.write(out, wanted)


def test_what_is_no_filter_is_not_written_as_one():
    with pytest.raises(WireError, match="is not a filter"):
        field_of(Filter).write(bytearray(), "/note")


def test_a_publisher_that_is_no_node_is_refused():
    data = bytearray(encode(Carried(Publication(HIGHEST_NODE, 1, Coupon(zone=1), 0))))
    data[1] = 0x80
    with pytest.raises(WireError, match="is not a valid node id"):
        WORDS.decode(bytes(data))


def test_a_datagram_is_full_at_its_last_byte():
    most = Told((7,) * (LONGEST - 3))
    data = encode(most)
    assert len(data) == most.size == LONGEST
    assert WORDS.decode(data) == most
    with pytest.raises(WireError, match="the maximum is"):
        encode(Told((7,) * (LONGEST - 2)))


def test_contradictions_are_neither_written_nor_read():
    fine = Lists(65, (Pair(b"ab", 12),), frozenset({1}))
    data = encode(fine)
    assert WORDS.decode(data) == fine
    with pytest.raises(WireError, match="it serves 66"):
        encode(Lists(66, (Pair(b"", 12),), frozenset()))
    with pytest.raises(WireError, match="it serves 66"):
        WORDS.decode(data[:8] + b"\x42" + data[9:])
    with pytest.raises(WireError, match=r"Lists\.pairs: it counts to thirteen"):
        encode(Lists(1, (Pair(b"", 13),), frozenset()))


def test_the_length_of_records_that_differ_is_the_sum_of_theirs():
    said = Lists(1, (Pair(b"ab", 12), Pair(b"", 1), Pair(b"abcd", 9)), frozenset({4, 9}))
    assert said.length == said.size == len(encode(said)) == 1 + 8 + (1 + 6 + 4 + 8) + (2 + 2 * 4)


def test_a_message_that_always_contradicts_itself_cannot_be_invented():
    class Wrong(Message, number=202, **BEACON):
        count: Hops

        def inconsistency(self):
            return "always"

    class Odd(NamedTuple):
        count: Hops

        def inconsistency(self):
            return "always"

    with pytest.raises(DeclarationError, match="no consistent Wrong"):
        generate(Wrong, invention(Random(1)))
    with pytest.raises(AssertionError, match="no Odd could be generated"):
        field_of(Odd).generate(invention(Random(1)))


def test_a_seed_invents_the_same_messages_for_good():
    """A seed that a finding names must show the same hostile messages to whoever looks at it later."""
    chance = Random(8)
    about = GenerationContext(
        chance, patterns=(Coupon.zone > 1,), publications=PUBLICATIONS, messages=(Numbers, Lists)
    )
    result = sha256()
    for _ in range(600):
        for kind in (Numbers, Lists, Carried):
            result.update(encode(generate(kind, about)))
    assert result.hexdigest()[:16] == "d13692d3160d4914"
