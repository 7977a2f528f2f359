"""Datagrams: read and sent by the compiled kernel, many in one system call, else one by one."""

from __future__ import annotations

import socket
from typing import Any, Protocol, TypeAlias

try:
    from roamcast._kernel import DatagramReader, DatagramWriter
except ImportError:
    DatagramReader = DatagramWriter = None  # type: ignore[assignment, misc]

Address: TypeAlias = tuple[Any, ...]

MOST = 64
"Datagrams returned at once, so that the event loop gets its turn."
LONGEST = 2048
"Bytes read of a datagram: no frame is longer."


class DatagramSource(Protocol):
    """Reads the datagrams that wait at one socket."""

    def read(self) -> list[tuple[bytes, Address]]:
        """Return up to `MOST` datagrams, each with its source."""


class PlainReader:
    """Reads one datagram per system call: sockets other than IP, and installations without the kernel."""

    def __init__(self, source: socket.socket) -> None:
        self._source = source

    def read(self) -> list[tuple[bytes, Address]]:
        """Return up to `MOST` datagrams, each with its source."""
        found = []
        for _ in range(MOST):
            try:
                found.append(self._source.recvfrom(LONGEST))
            except BlockingIOError:
                break
            except OSError:  # an earlier datagram of ours was refused by its receiver
                continue
        return found


def reader(source: socket.socket) -> DatagramSource:
    """Return the fastest reader of a socket that does not block."""
    if DatagramReader is not None and source.family in {socket.AF_INET, socket.AF_INET6}:
        return DatagramReader(source.fileno())
    return PlainReader(source)


class DatagramSink(Protocol):
    """Sends datagrams from one socket."""

    def send(self, data: bytes, address: Address, /) -> bool:
        """Send a datagram; what the system refuses is counted. False, and nothing is sent: for `sendto`."""

    def hold(self) -> None:
        """Keep datagrams until `release`, or until `MOST` wait."""

    def release(self) -> None:
        """Send what was kept, and keep no more."""

    @property
    def unsent(self) -> int:
        """Datagrams that the system refused."""


class PlainWriter:
    """Sends each datagram at once: to any address, and without the kernel."""

    def __init__(self, source: socket.socket) -> None:
        self._sendto = source.sendto
        self.unsent = 0

    def send(self, data: bytes, address: Address) -> bool:
        """Send a datagram; what the system refuses is counted."""
        try:
            self._sendto(data, address)
        except OSError:
            self.unsent += 1
        return True

    def hold(self) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


def writer(source: socket.socket) -> DatagramSink:
    """Return the fastest writer of a socket that does not block."""
    if DatagramWriter is not None and source.family in {socket.AF_INET, socket.AF_INET6}:
        return DatagramWriter(source.fileno())
    return PlainWriter(source)
