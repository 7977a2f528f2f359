"""Replay windows and openers of frames: the compiled ones do what the plain ones do."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.live.security import known_frames, replay
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import Frame, Opener, Refusal, Sealer
from roamcast.live.security.keys import NetworkKey
from roamcast.live.security.known_frames import PlainFrameOpener
from roamcast.live.security.replay import WINDOW, PlainReplayWindow

HIGHEST = 2**64 - 1
NEAR = st.integers(0, 4 * WINDOW)
NUMBERS = st.one_of(NEAR, NEAR.map(lambda number: HIGHEST - number), st.integers(0, HIGHEST))
PREFIX = b"prefix..."


class Invalid(Exception):
    pass


def need_kernel():
    if known_frames.FrameOpener is PlainFrameOpener:
        pytest.skip("the kernel is not installed")


@given(st.one_of(st.just(-1), NUMBERS), st.lists(NUMBERS, max_size=40))
@example(-1, [HIGHEST, HIGHEST - WINDOW + 1, HIGHEST - WINDOW])
@example(5, [WINDOW + 4, 6, 5])
@example(-1, [WINDOW - 1, 0, 0])
def test_the_compiled_window_accepts_what_the_plain_one_accepts(floor, numbers):
    need_kernel()
    compiled, plain = replay.ReplayWindow(floor), PlainReplayWindow(floor)
    for number in numbers:
        assert compiled.has(number) == plain.has(number)
        assert compiled.accept(number) == plain.accept(number)
        assert compiled.highest == plain.highest


@pytest.mark.parametrize("number", [-2, 2**64])
def test_the_compiled_window_has_no_numbers_beyond_64_bits(number):
    need_kernel()
    with pytest.raises((OverflowError, ValueError)):
        replay.ReplayWindow(number)
    with pytest.raises((OverflowError, ValueError)):
        replay.ReplayWindow().accept(number)


def decrypt(nonce, body, header):
    """Stand in for a cipher: return everything it was given, unless the tag is damaged."""
    if body.endswith(b"!"):
        raise Invalid
    return nonce + b"|" + body + b"|" + header


HEADERS = st.builds(
    lambda sender, epoch, counter: (
        PREFIX + sender.to_bytes(4, "big") + epoch.to_bytes(8, "big") + counter.to_bytes(8, "big")
    ),
    st.sampled_from([0, 7, 2**32 - 1]),
    st.sampled_from([0, 1, HIGHEST]),
    st.one_of(st.integers(0, 3), st.just(HIGHEST)),
)
DATAGRAMS = st.one_of(
    st.builds(lambda header, body: header + body, HEADERS, st.binary(min_size=14, max_size=20)),
    st.builds(lambda header, body: header + body + b"!", HEADERS, st.binary(min_size=15, max_size=20)),
    st.binary(max_size=60),
)


@given(st.lists(DATAGRAMS, max_size=12))
@example([PREFIX + bytes(20) + bytes(16), PREFIX + bytes(20) + bytes(16), PREFIX + bytes(20) + bytes(15)])
def test_the_compiled_opener_opens_what_the_plain_one_opens(datagrams):
    need_kernel()
    openers = [kind(PREFIX, Frame, Invalid) for kind in (known_frames.FrameOpener, PlainFrameOpener)]
    for each in openers:
        each.admit(0, 0, decrypt, replay.ReplayWindow())
        each.admit(7, HIGHEST, decrypt, replay.ReplayWindow(1))
        each.admit(2**32 - 1, 1, decrypt, replay.ReplayWindow())
    for place, data in enumerate(datagrams):
        if place == 8:
            for each in openers:
                each.forget(7)
                each.admit(0, 1, decrypt, replay.ReplayWindow())
        found = [each.open(data) for each in openers]
        assert found[0] == found[1] and type(found[0]) is type(found[1])


@pytest.mark.parametrize("plain", [True, False])
def test_frames_are_opened_once_and_others_refused_with_either(plain):
    key = NetworkKey(bytes(32))
    sealer, opener = (
        Sealer(key, b"some", 7, FrameCounters()),
        Opener(key, b"some", 1, most_senders=2, plain=plain),
    )
    frames = [sealer.seal(bytes([number])) for number in range(4)]
    assert [opener.open(frame).body for frame in (frames[0], frames[2], frames[1])] == [b"\0", b"\2", b"\1"]
    assert opener.open(frames[1]) is Refusal.REPLAYED
    assert opener.open(frames[3][:-1] + bytes([frames[3][-1] ^ 1])) is Refusal.NOT_AUTHENTIC
    assert opener.refused == {Refusal.REPLAYED: 1, Refusal.NOT_AUTHENTIC: 1}
    for other in (8, 9):  # the opener forgets sender 7
        assert opener.open(Sealer(key, b"some", other, FrameCounters()).seal(b"")).sender == other
    assert opener.open(frames[3]).body == b"\3"
    assert set(opener.floors()) == {9, 7}


def test_errors_of_the_cipher_are_not_hidden():
    for opener in (known_frames.FrameOpener, PlainFrameOpener):
        opened = opener(PREFIX, Frame, Invalid)
        opened.admit(0, 0, lambda nonce, body, header: 1 // 0, replay.ReplayWindow())
        with pytest.raises(ZeroDivisionError):
            opened.open(PREFIX + bytes(40))
        with pytest.raises(ValueError, match="9 bytes"):
            opener(b"short", Frame, Invalid)
