"""Frames: only those made with the network key, for this protocol, and once each, are accepted."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.live.security.counters import FrameCounters, FrameNumber
from roamcast.live.security.frame import (
    OVERHEAD,
    Frame,
    Opener,
    Refusal,
    Sealer,
    fingerprint_protocol,
)
from roamcast.live.security.keys import NetworkKey
from roamcast.routing import catalogue
from roamcast.routing.flooding import Flooding

KEY = NetworkKey(bytes(range(32)))
FLOODING = fingerprint_protocol(Flooding.messages)


def sealer(node=7, key=KEY, protocol=FLOODING, counters=None):
    return Sealer(key, protocol, node, counters or FrameCounters())


def opener(**options):
    return Opener(KEY, FLOODING, 1, **options)


@given(st.binary(max_size=1200))
def test_a_frame_opens_to_the_body_that_was_sealed(body):
    frame = sealer().seal(body)
    assert len(frame) == len(body) + OVERHEAD
    opened = opener().open(frame)
    assert isinstance(opened, Frame) and (opened.sender, opened.body) == (7, body)


@given(st.data())
def test_no_flipped_bit_is_accepted(data):
    frame = bytearray(sealer().seal(b"an event"))
    place = data.draw(st.integers(0, 8 * len(frame) - 1))
    frame[place // 8] ^= 1 << place % 8
    assert isinstance(opener().open(bytes(frame)), Refusal)


def test_a_frame_is_accepted_once():
    frame, receiver = sealer().seal(b"x"), opener()
    assert isinstance(receiver.open(frame), Frame)
    assert receiver.open(frame) is Refusal.REPLAYED
    assert receiver.refused == {Refusal.REPLAYED: 1}


def test_frames_may_overtake_each_other_within_the_window():
    sender, receiver = sealer(), opener()
    frames = [sender.seal(bytes([n])) for n in range(200)]
    Random(1).shuffle(frames)
    assert all(isinstance(receiver.open(frame), Frame) for frame in frames)
    assert all(receiver.open(frame) is Refusal.REPLAYED for frame in frames)


def test_a_frame_older_than_the_window_is_refused():
    sender, receiver = sealer(), opener()
    frames = [sender.seal(b"") for _ in range(1025)]
    receiver.open(frames[-1])
    assert receiver.open(frames[0]) is Refusal.REPLAYED
    assert isinstance(receiver.open(frames[1]), Frame)


def test_another_key_network_or_name_of_an_open_network_is_refused():
    secret = bytes(32)
    assert opener().open(sealer(key=NetworkKey(secret)).seal(b"")) is Refusal.OTHER_NETWORK
    forged = bytearray(sealer(key=NetworkKey(secret)).seal(b""))
    forged[1:5] = KEY.network
    assert opener().open(bytes(forged)) is Refusal.NOT_AUTHENTIC
    a, b = NetworkKey.of_open_network("a"), NetworkKey.of_open_network("b")
    assert a.secret != b.secret and a.network != b.network


def test_a_neighbour_with_another_protocol_is_named_and_not_parsed():
    receiver, other = opener(), fingerprint_protocol(catalogue.find("cbr").messages)
    assert receiver.open(sealer(protocol=other).seal(b"")) is Refusal.OTHER_PROTOCOL
    assert receiver.foreign == {7: other}


def test_every_built_in_protocol_with_messages_of_its_own_has_its_own_fingerprint():
    protocols = {name: catalogue.find(name) for name in catalogue.names()}
    found = {router.messages: fingerprint_protocol(router.messages) for router in protocols.values()}
    assert len(set(found.values())) == len(found) > 8


def test_another_node_with_the_own_id_is_reported_and_own_frames_are_not():
    receiver, own, other = opener(), sealer(node=1), sealer(node=1)
    receiver.own_epoch = own.epoch
    assert receiver.open(own.seal(b"")) is Refusal.OWN
    assert receiver.open(other.seal(b"")) is Refusal.CLASH


def test_an_older_epoch_is_refused_after_a_newer_one(tmp_path):
    first = FrameCounters()
    second = FrameCounters()
    second.epoch = first.epoch + 1
    old, new, receiver = sealer(counters=first), sealer(counters=second), opener()
    kept = old.seal(b"kept by an attacker")
    assert isinstance(receiver.open(old.seal(b"")), Frame)
    assert isinstance(receiver.open(new.seal(b"")), Frame)
    assert receiver.open(kept) is Refusal.REPLAYED


def test_a_restarted_receiver_refuses_what_it_had_accepted():
    sender, receiver = sealer(), opener()
    frames = [sender.seal(b"") for _ in range(3)]
    for frame in frames[:2]:
        receiver.open(frame)
    again = opener(floors=receiver.floors())
    assert [again.open(frame) for frame in frames[:2]] == [Refusal.REPLAYED] * 2
    assert isinstance(again.open(frames[2]), Frame)


def test_frames_without_the_key_make_no_table_grow():
    receiver, random = opener(), Random(2)
    for _ in range(2000):
        receiver.open(random.randbytes(random.randrange(120)))
        forged = bytearray(sealer(node=random.randrange(1 << 31)).seal(b"forged"))
        forged[-1] ^= 1
        assert receiver.open(bytes(forged)) is Refusal.NOT_AUTHENTIC
    assert not receiver.floors() and not receiver.foreign


def test_senders_are_bounded_and_the_one_silent_longest_is_forgotten():
    receiver = opener(most_senders=3)
    senders = {node: sealer(node=node) for node in (10, 11, 12, 13)}
    for node in (10, 11, 12, 10, 13):
        assert isinstance(receiver.open(senders[node].seal(b"")), Frame)
    assert set(receiver.floors()) == {10, 12, 13}


class TestCounters:
    def test_no_number_is_used_twice_over_restarts(self, tmp_path):
        used = []
        for _ in range(5):
            counters = FrameCounters(tmp_path / "counters", block=10)
            used += [counters.take() for _ in range(25)]
        assert len(set(used)) == len(used) == 125
        assert used == sorted(used)

    def test_the_block_is_on_disk_before_its_first_number_is_used(self, tmp_path):
        counters = FrameCounters(tmp_path / "counters", block=4)
        for _ in range(9):
            number = counters.take()
            assert FrameCounters(tmp_path / "counters", block=4).take() > number

    def test_counters_that_end_begin_a_new_epoch(self, tmp_path):
        path = tmp_path / "counters"
        first = FrameCounters(path, block=4)
        first.take()
        path.write_bytes(b'{"epoch":%d,"counter":%d}' % (first.epoch, (1 << 64) - 10))
        counters = FrameCounters(path, block=4)
        used = [(counters.take(), counters.epoch)[::-1] for _ in range(20)]
        assert used == sorted(set(used)) and used[0][0] == first.epoch < used[-1][0]
        receiver = opener()
        path.write_bytes(b'{"epoch":%d,"counter":%d}' % (first.epoch, (1 << 64) - 10))
        sender = sealer(counters=FrameCounters(path, block=4))
        assert all(isinstance(receiver.open(sender.seal(b"")), Frame) for _ in range(20))

    @pytest.mark.parametrize("damage", [b"", b"{}", b'{"epoch":-1,"counter":0}', b"\xff" * 30])
    def test_a_damaged_file_is_refused_with_its_name(self, tmp_path, damage):
        (tmp_path / "counters").write_bytes(damage)
        with pytest.raises(Exception, match="counters") as caught:
            FrameCounters(tmp_path / "counters")
        assert type(caught.value).__name__ == "LiveError"

    def test_a_frame_number_sorts_by_epoch_then_counter(self):
        assert FrameNumber(1, 9) < FrameNumber(2, 0)
