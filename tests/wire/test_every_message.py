"""The law of the wire: every message of every protocol survives its bytes, and nothing else is understood."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.wire.codec import MessageCodec, encode
from roamcast.wire.errors import WireError
from roamcast.wire.message import generate
from tests.wire.inventing import TYPES, invention, messages_of_all_protocols

MESSAGES = messages_of_all_protocols()
WORDS = MessageCodec(MESSAGES, TYPES)
SEEDS = st.integers(0, 2**32)
"Of what is invented; a way of 255 nodes, each once, takes more draws than a search has."


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@given(SEEDS)
def test_it_survives_its_bytes_which_are_as_many_as_its_size(message, seed):
    said = generate(message, invention(Random(seed), MESSAGES))
    data = encode(said)
    assert len(data) == said.size
    assert WORDS.decode(data) == said


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_every_prefix_and_every_further_byte_is_refused(message):
    for seed in range(20):
        data = encode(generate(message, invention(Random(seed), MESSAGES)))
        ends = range(len(data)) if len(data) < 600 else Random(seed).sample(range(len(data)), 40)
        for end in ends:
            with pytest.raises(WireError):
                WORDS.decode(data[:end])
        for further in (0, 1, 255):
            with pytest.raises(WireError):
                WORDS.decode(data + bytes([further]))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
@given(seed=SEEDS, place=st.integers(0, 2**16), byte=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_is_another_message(message, seed, place, byte):
    data = bytearray(encode(generate(message, invention(Random(seed), MESSAGES))))
    data[place % len(data)] = byte
    try:
        understood = WORDS.decode(bytes(data))
    except WireError:
        return
    assert encode(understood) == bytes(data)  # there is one way to write each message


@given(st.binary(max_size=200), st.sampled_from([message.number for message in MESSAGES]))
def test_noise_is_refused_or_means_something(noise, kind):
    data = bytes([kind]) + noise
    try:
        understood = WORDS.decode(data)
    except WireError:
        return
    assert encode(understood) == data


@pytest.mark.parametrize("name", own_protocols())
def test_every_protocol_says_which_messages_it_speaks(name):
    router = catalogue.find(name)
    assert router.messages
    MessageCodec(router.messages)


def test_kinds_are_numbered_once_in_the_whole_catalogue_and_leave_room_for_others():
    kinds = [message.number for message in MESSAGES]
    assert len(set(kinds)) == len(kinds)
    assert max(kinds) < 128


def test_invented_messages_are_of_many_sizes_and_reach_their_bounds():
    for message in MESSAGES:
        sizes = {generate(message, invention(Random(seed), MESSAGES)).length for seed in range(200)}
        variable = any(field.fixed is None for field in message.fields.values())
        assert len(sizes) > 1 or not variable, message.__name__
