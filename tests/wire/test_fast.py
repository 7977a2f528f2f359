"""The compiled codec against the declarative one: the same bytes, the same messages, the same errors."""

from random import Random
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.wire.codec import MessageCodec, encode
from roamcast.wire.encodings import Encodings, encoded_event
from roamcast.wire.errors import WireError
from roamcast.wire.fast.codec import FastCodec
from roamcast.wire.fast.reader import LONGEST_KNOWN, MOST_KNOWN
from roamcast.wire.fast.writer import encode_fast
from roamcast.wire.fields import Float, Int, ListOf
from roamcast.wire.message import Category, Message, Role, generate
from tests.wire.inventing import PATTERNS, PUBLICATIONS, TYPES, invention, messages_of_all_protocols


class Odd(Message, number=140, category=Category.CONTROL, role=Role.EVENT):
    """Fields that no protocol has: integers of odd sizes, four-byte numbers, lists in lists."""

    three: Annotated[int, Int(3, least=-5)]
    five: Annotated[int, Int(5, least=3, most=2**33)]
    six: Annotated[int, Int(6)]
    seven: Annotated[int, Int(7)]
    real: Annotated[float, Float(4, least=-1.0, most=8.0)]
    unknown: Annotated[float, Float(unknown=True)]
    pairs: Annotated[tuple[Annotated[tuple[bool, ...], ListOf(2)], ...], ListOf(300, least=1)]


MESSAGES = [*messages_of_all_protocols(), Odd]
REFERENCE = MessageCodec(MESSAGES, TYPES)
FAST = FastCodec(MESSAGES, TYPES)
SEEDS = st.integers(0, 2**32)


def outcome(function, argument):
    try:
        found = function(argument)
    except WireError as error:
        return type(error), str(error)
    return found if isinstance(found, bytes) else repr(found)


def damaged(r, data):
    changed = bytearray(data)
    roll = r.random()
    if roll < 0.25:
        return bytes(changed[: r.randrange(len(changed))])
    if roll < 0.35:
        return bytes(changed) + bytes(r.choice((1, 5)))
    for _ in range(r.choice((1, 1, 2, 5))):
        changed[r.randrange(len(changed))] = r.choice((0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)))
    return bytes(changed)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@given(SEEDS)
def test_bytes_messages_and_errors_are_those_of_the_reference(message, seed):
    r = Random(seed)
    said = generate(message, invention(r, MESSAGES))
    data = encode(said)
    assert encode_fast(said) == data
    assert repr(FAST.decode(data)) == repr(REFERENCE.decode(data))
    if message.dedup_field is not None:
        assert FAST.duplicate_id(data) in (None, getattr(said, message.dedup_field))
    for _ in range(4):
        wrong = damaged(r, data)
        assert outcome(FAST.decode, wrong) == outcome(REFERENCE.decode, wrong)


@given(st.binary(max_size=200), st.sampled_from([message.number for message in MESSAGES]))
def test_noise_has_the_same_fate(noise, number):
    data = bytes([number]) + noise
    assert outcome(FAST.decode, data) == outcome(REFERENCE.decode, data)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@given(SEEDS)
def test_values_out_of_bounds_are_refused_with_the_same_words(message, seed):
    r = Random(seed)
    said = generate(message, invention(r, MESSAGES))
    field = r.choice(list(message.fields))
    wrong = r.choice(
        (-1, 2**70, True, None, "x", 1.5, float("nan"), (), (None,), frozenset((2**40,)), b"x" * 70000)
    )
    changed = msgspec.structs.replace(said, **{field: wrong})

    def attempt(write):
        try:
            return outcome(write, changed)
        except (TypeError, AttributeError, ValueError, OverflowError, IndexError) as error:
            return type(error)

    assert attempt(encode_fast) == attempt(encode)


@pytest.mark.parametrize("data", [b"", b"\xff", bytes(70_000), b"\x01" + bytes(70_000)])
def test_bytes_of_no_message_are_refused_alike(data):
    assert outcome(FAST.decode, data) == outcome(REFERENCE.decode, data)
    assert FAST.duplicate_id(data[:3]) is None


def test_duplicates_of_events_are_known_without_decoding():
    named = {message.__name__ for message in MESSAGES if message.dedup_field is not None}
    for message in MESSAGES:
        data = encode(generate(message, invention(Random(1), MESSAGES)))
        if message.__name__ in named - {"DsrRequest"}:  # its id is not in a fixed place
            assert FAST.duplicate_id(data) is not None
        else:
            assert FAST.duplicate_id(data) is None


def test_an_event_that_was_decoded_is_not_encoded_again():
    calls = []
    encodings = Encodings(lambda event: calls.append(event) or b"bytes")
    event = PUBLICATIONS[2].event
    encodings.remember(event, b"received")
    assert encodings(event) == b"received" and not calls
    flood = next(message for message in MESSAGES if message.__name__ == "Flood")
    data = encode(flood(PUBLICATIONS[2], 3))
    received = FAST.decode(data).publication.event
    assert encoded_event(received) is encoded_event(received) == encoded_event(PUBLICATIONS[2].event)


def test_encodings_are_bounded_in_bytes():
    encodings = Encodings(bytes, most_bytes=100_000)
    for number in range(1000):
        assert len(encodings(number)) == number
        assert encodings.bytes <= 100_000
    assert 0 < len(encodings) < 20
    assert len(encodings(50_000)) == 50_000 and encodings.bytes == 0  # longer than all may be: not kept
    for number in range(1000, 2000):
        encodings.remember(number, bytes(1000))
    assert 0 < len(encodings) < 20


def test_filters_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr("roamcast.wire.fast.codec.MOST_BYTES", 2000)
    codec = FastCodec(MESSAGES, TYPES)
    for number in range(100):
        codec.remember_filter(number.to_bytes(50, "big"), PATTERNS[0])
        assert len(codec.filters) <= 2


class Routed(Message, number=141, category=Category.CONTROL, role=Role.EVENT):
    """A list of numbers, as routes have it."""

    route: Annotated[tuple[Annotated[int, Int(4, most=2**31)], ...], ListOf(40, least=2)]


@given(st.lists(st.lists(st.integers(0, 2**31), min_size=2, max_size=40), min_size=1, max_size=20), SEEDS)
def test_lists_of_numbers_that_are_remembered_are_read_as_the_first_time(routes, seed):
    r = Random(seed)
    reference, fast = MessageCodec([Routed], {}), FastCodec([Routed], {})
    for route in routes + routes:
        data = encode(Routed(tuple(route)))
        assert fast.decode(data) == Routed(tuple(route))
        for wrong in (damaged(r, data), data[: r.randrange(1, len(data))]):
            assert outcome(fast.decode, wrong) == outcome(reference.decode, wrong)


def test_a_route_that_comes_again_is_the_same_object_and_the_oldest_are_forgotten():
    fast = FastCodec([Routed], {})
    data = encode(Routed((1, 2, 3)))
    first = fast.decode(data).route
    assert fast.decode(data).route is first
    for number in range(MOST_KNOWN):
        fast.decode(encode(Routed((number, number + 7))))
    assert fast.decode(data).route == first and fast.decode(data).route is not first
    long = encode(Routed(tuple(range(LONGEST_KNOWN))[:40]))
    assert fast.decode(long).route is not fast.decode(long).route
