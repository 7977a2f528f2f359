"""Reassembly: any order of fragments gives the payload once; hostile ones hold few bytes for a while."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roamcast.live.link.fragments import FINISHED, LIFETIME, Reassembly, RepairStore, cut
from roamcast.live.link.packets import PIECE_BYTES


class Clock:
    time = 0.0

    def __call__(self):
        return self.time


@given(st.integers(2, 60_000), st.randoms(use_true_random=False))
def test_fragments_in_any_order_and_twice_give_the_payload_once(length, random):
    payload = random.randbytes(length)
    pieces = list(enumerate(cut(payload)))
    arriving = pieces * 2
    random.shuffle(arriving)
    reassembly = Reassembly(Clock())
    found = [reassembly.add(1, 5, index, len(pieces), piece) for index, piece in arriving]
    assert [each for each in found if each is not None] in ([payload], [payload, payload])
    if len(pieces) > 1:
        assert [each for each in found if each is not None] == [payload]
    assert reassembly.bytes == 0 and not reassembly.open


def test_bytes_are_bounded_in_all_and_for_one_sender():
    reassembly = Reassembly(Clock(), most_bytes=100_000)
    for message in range(500):
        reassembly.add(1, message, 0, 50, bytes(PIECE_BYTES))
        assert reassembly.bytes <= 25_000 + 2 * PIECE_BYTES
    for sender in range(2, 300):
        reassembly.add(sender, 1, 0, 50, bytes(PIECE_BYTES))
        assert reassembly.bytes <= 100_000 + PIECE_BYTES
    assert reassembly.given_up > 600


def test_an_incomplete_payload_is_given_up_in_time():
    clock = Clock()
    reassembly = Reassembly(clock)
    reassembly.add(1, 1, 0, 2, bytes(PIECE_BYTES))
    clock.time += LIFETIME + 0.1
    reassembly.add(2, 1, 0, 2, bytes(PIECE_BYTES))
    assert list(reassembly.open) == [(2, 1)] and reassembly.given_up == 1


def test_fragments_that_contradict_each_other_make_no_payload():
    reassembly = Reassembly(Clock())
    assert reassembly.add(1, 1, 0, 2, bytes(PIECE_BYTES)) is None
    assert reassembly.add(1, 1, 1, 3, b"x") is None
    assert reassembly.add(1, 1, 0, 2, bytes(PIECE_BYTES)) is None
    assert reassembly.add(1, 1, 1, 2, b"x") == bytes(PIECE_BYTES) + b"x"


def test_completed_payloads_are_remembered_within_bounds():
    reassembly, random = Reassembly(Clock()), Random(1)
    for message in range(FINISHED + 50):
        for index, piece in enumerate(cut(random.randbytes(2000))):
            reassembly.add(1, message, index, 2, piece)
    assert len(reassembly._finished) == FINISHED


def test_payloads_for_repairs_are_bounded_in_bytes_and_time():
    clock = Clock()
    store = RepairStore(clock, most_bytes=10_000)
    for message in range(10):
        store.keep(message, cut(bytes(3000)))
        assert store.bytes <= 10_000
    assert store.pieces(9) and not store.pieces(0)
    clock.time += LIFETIME + 0.1
    store.keep(10, cut(bytes(3000)))
    assert not store.pieces(9) and store.bytes == 3000
