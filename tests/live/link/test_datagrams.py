"""Readers of sockets: the compiled one and the plain one return the same."""

import socket

import pytest

from roamcast.live.link import datagrams
from roamcast.live.link.datagrams import LONGEST, MOST, PlainReader


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
