"""Readers and writers of sockets: the compiled ones and the plain ones do the same."""

import asyncio
import socket

import pytest

from roamcast.live.link import datagrams
from roamcast.live.link.bearer import PeerBearer
from roamcast.live.link.datagrams import LONGEST, MOST, PlainReader, PlainWriter


def open_socket(host):
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    bound.bind((host, 0))
    bound.setblocking(False)
    return bound


def compiled(source):
    if datagrams.DatagramReader is None:
        pytest.skip("the kernel is not installed")
    found = datagrams.reader(source)
    assert not isinstance(found, PlainReader)
    return found


@pytest.fixture(params=[compiled, PlainReader])
def reader(request):
    return request.param


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_datagrams_are_read_in_order_with_the_sources_that_recvfrom_returns(reader, host):
    with open_socket(host) as here, open_socket(host) as there, open_socket(host) as other:
        there.sendto(b"first", here.getsockname())
        _, expected = here.recvfrom(100)
        assert expected == there.getsockname()
        for data, source in ((b"one", there), (b"", other), (bytes(range(256)), there)):
            source.sendto(data, here.getsockname())
        found = reader(here)
        first, second, third = found.read()
        assert first == (b"one", expected)
        assert second == (b"", other.getsockname())
        assert third == (bytes(range(256)), expected)
        assert found.read() == []


def test_many_datagrams_come_in_parts_and_long_ones_are_cut(reader):
    with open_socket("127.0.0.1") as here, open_socket("127.0.0.1") as there:
        for number in range(MOST + 3):
            there.sendto(bytes((number,)), here.getsockname())
        there.sendto(bytes(5000), here.getsockname())
        found = reader(here)
        parts = [found.read() for _ in range(3)]
        assert [len(part) for part in parts] == [MOST, 4, 0]
        assert [data for part in parts for data, _ in part] == [
            *(bytes((number,)) for number in range(MOST + 3)),
            bytes(LONGEST),
        ]


def test_sources_that_are_forgotten_are_learned_again(reader):
    with open_socket("127.0.0.1") as here:
        others = [open_socket("127.0.0.1") for _ in range(20)]
        found = reader(here)
        for _ in range(2):
            for other in others:
                other.sendto(b"x", here.getsockname())
            assert [source for _, source in found.read()] == [other.getsockname() for other in others]
        for other in others:
            other.close()


def test_a_refused_datagram_does_not_hide_those_that_wait(reader):
    with open_socket("127.0.0.1") as here, open_socket("127.0.0.1") as there:
        gone = open_socket("127.0.0.1")
        address = gone.getsockname()
        gone.close()
        here.connect(there.getsockname())
        there.sendto(b"before", here.getsockname())
        here.connect(address)
        here.send(b"to nobody")  # its error is reported by the next call
        here.connect(there.getsockname())
        assert [data for data, _ in reader(here).read()] == [b"before"]


def test_sockets_of_other_families_have_the_plain_reader():
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with here, there:
        here.setblocking(False)
        assert isinstance(datagrams.reader(here), PlainReader)


@pytest.fixture(params=["compiled", "plain"])
def writer(request):
    if request.param == "plain":
        return PlainWriter
    if datagrams.DatagramWriter is None:
        pytest.skip("the kernel is not installed")
    return datagrams.writer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_datagrams_are_sent_in_order_at_once_or_together(writer, host):
    with open_socket(host) as here, open_socket(host) as there, open_socket(host) as other:
        found = writer(here)
        waiting = PlainReader(there)
        assert found.send(b"first", there.getsockname())
        assert [data for data, _ in waiting.read()] == [b"first"]
        found.hold()
        for number in range(MOST + 3):
            assert found.send(bytes((number,)), there.getsockname())
        assert found.send(b"", other.getsockname()) and found.send(b"last", there.getsockname())
        kept = [data for data, _ in waiting.read()]
        found.release()
        rest = [data for _ in range(2) for data, _ in waiting.read()]
        assert kept + rest == [*(bytes((number,)) for number in range(MOST + 3)), b"last"]
        assert [data for data, _ in PlainReader(other).read()] == [b""]
        found.send(b"again", there.getsockname())
        assert [data for data, _ in waiting.read()] == [b"again"] and found.unsent == 0


def test_the_compiled_writer_keeps_what_it_is_given_until_it_is_released():
    if datagrams.DatagramWriter is None:
        pytest.skip("the kernel is not installed")
    with open_socket("127.0.0.1") as here, open_socket("127.0.0.1") as there:
        found = datagrams.writer(here)
        found.hold()
        found.send(b"kept", there.getsockname())
        assert PlainReader(there).read() == []
        found.release()
        assert [data for data, _ in PlainReader(there).read()] == [b"kept"]


def test_what_the_system_refuses_is_counted_and_hides_nothing(writer):
    with open_socket("127.0.0.1") as here, open_socket("127.0.0.1") as there:
        found = writer(here)
        found.send(bytes(70_000), there.getsockname())
        assert found.unsent == 1
        found.hold()
        for data in (b"before", bytes(70_000), b"after"):
            found.send(data, there.getsockname())
        found.release()
        assert [data for data, _ in PlainReader(there).read()] == [b"before", b"after"]
        assert found.unsent == 2


def test_an_address_that_is_a_name_is_left_to_the_plain_writer():
    if datagrams.DatagramWriter is None:
        pytest.skip("the kernel is not installed")
    with open_socket("127.0.0.1") as here, open_socket("127.0.0.1") as there:
        found = datagrams.writer(here)
        for address in (("localhost", there.getsockname()[1]), ("fe80::1%lo", 1, 0, 1), (7, 7), ()):
            assert not found.send(b"x", address)
        with pytest.raises(TypeError):
            found.send(b"x", ("127.0.0.1", 1 << 16))
        with pytest.raises(TypeError):
            found.send("text", there.getsockname())
        assert PlainReader(there).read() == []


def test_more_neighbours_than_addresses_are_remembered_get_their_own_datagrams(writer):
    with open_socket("127.0.0.1") as here:
        others = [open_socket("127.0.0.1") for _ in range(20)]
        found = writer(here)
        for _ in range(2):
            found.hold()
            for number, other in enumerate(others):
                found.send(bytes((number,)), other.getsockname())
            found.release()
            for number, other in enumerate(others):
                assert other.recv(10) == bytes((number,))
        for other in others:
            other.close()


def test_a_peer_that_is_given_by_name_gets_broadcasts():
    async def story():
        with open_socket("127.0.0.1") as there:
            bearer = PeerBearer(("127.0.0.1", 0), [("localhost", there.getsockname()[1])])
            bearer.start(lambda data, address: True, lambda: None)
            bearer.broadcast(b"hello")
            bearer.send(b"alone", ("localhost", there.getsockname()[1]))
            assert [data for data, _ in PlainReader(there).read()] == [b"hello", b"alone"]
            assert bearer.unsent == 0
            bearer.close()
            bearer.send(b"closed", there.getsockname())
            assert PlainReader(there).read() == []

    asyncio.run(story())
