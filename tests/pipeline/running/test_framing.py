"""Messages over a pipe arrive whole, one after the other, or not at all."""

import os
import threading

import pytest

from roamcast.pipeline.running.framing import PipeClosed, receive, send, split


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for end in ends:
        if end is not None:
            os.close(end)


def test_messages_come_apart_as_they_were_sent(pipe):
    sent = [b"one", b"", b"\0" * 300, b"last"]
    for message in sent:
        send(pipe[1], message)
    assert [receive(pipe[0]) for _ in sent] == sent


def test_the_length_comes_first_in_four_bytes_the_greatest_first(pipe):
    send(pipe[1], bytes(258))
    assert os.read(pipe[0], 1000) == b"\0\0\1\2" + bytes(258)


def test_a_message_that_is_longer_than_a_pipe_holds_and_than_a_read_gives_arrives_whole(pipe):
    long = os.urandom(1 << 12) * 700  # 2.8 MB
    sender = threading.Thread(target=send, args=(pipe[1], long))
    sender.start()
    assert receive(pipe[0]) == long
    sender.join()


@pytest.mark.parametrize("part", [b"", b"\0\0", b"\0\0\0\5", b"\0\0\0\5four"])
def test_a_message_that_breaks_off_is_none(pipe, part):
    os.write(pipe[1], part)
    os.close(pipe[1])
    pipe[1] = None
    with pytest.raises(PipeClosed):
        receive(pipe[0])


def test_whole_messages_are_split_off_what_was_read():
    read = b"\0\0\0\3one\0\0\0\0\0\0\0\4four"
    for cut in range(len(read) + 1):
        whole, rest = split(read[:cut])
        assert whole == [b"one", b"", b"four"][: (cut >= 7) + (cut >= 11) + (cut >= 19)]
        assert split(rest + read[cut:]) == ([b"one", b"", b"four"][len(whole) :], b"")
