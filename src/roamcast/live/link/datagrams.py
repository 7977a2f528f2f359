"""Datagrams that wait at a socket: read by the compiled kernel in one system call, else one by one."""

from __future__ import annotations

import socket
from typing import Any, Protocol, TypeAlias

try:
    from roamcast._kernel import DatagramReader
except ImportError:
    DatagramReader = None  # type: ignore[assignment, misc]

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
