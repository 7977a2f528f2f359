"""Bearers: the sockets under a link, one per interface or address."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable
from typing import TypeAlias

from roamcast.live.errors import LiveError
from roamcast.live.link.datagrams import Address, DatagramSink, DatagramSource, PlainWriter, reader, writer
from roamcast.live.link.wifi.signals import WifiSignals, open_signals

PAUSE = 0.005
"Seconds for which a socket is not read after a batch without any frame of this network, to save wake-ups."

Arrival: TypeAlias = Callable[[bytes, Address], bool]
"Takes a datagram and its source; returns whether the datagram is a frame of this network."


class Bearer:
    """Datagrams to everyone in range, and to one address. Subclasses make the sockets."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sockets: list[socket.socket] = []
        self._writer: DatagramSink
        self._plain: PlainWriter
        "For addresses that are names."

    def open_sockets(self) -> list[socket.socket]:
        """Return the sockets to read, that to send with first."""
        raise NotImplementedError

    def destinations(self) -> list[Address]:
        """Return the addresses that a broadcast is sent to."""
        raise NotImplementedError

    def start(self, arrive: Arrival, drained: Callable[[], None]) -> None:
        """Call `arrive` with each datagram and its source, and `drained` after each batch."""
        self._loop = asyncio.get_running_loop()
        self._sockets = self.open_sockets()
        for each in self._sockets:
            each.setblocking(False)
            self._loop.add_reader(each, self._drain, each, reader(each), arrive, drained)
        self._writer, self._plain = writer(self._sockets[0]), PlainWriter(self._sockets[0])

    @property
    def unsent(self) -> int:
        """Datagrams that the system refused."""
        return self._writer.unsent + self._plain.unsent if self._sockets else 0

    @property
    def knows_signals(self) -> bool:
        """Whether `signal` may return anything but nan."""
        return False

    def signal(self, address: Address) -> float:
        """Return the signal with which the node at an address was last heard [W]; nan if unknown."""
        return math.nan

    def hold(self) -> None:
        """Keep what is sent until `release`, to send it together."""
        if self._sockets:
            self._writer.hold()

    def release(self) -> None:
        """Send what was kept, and keep no more."""
        if self._sockets:
            self._writer.release()

    def _drain(
        self, source: socket.socket, waiting: DatagramSource, arrive: Arrival, drained: Callable[[], None]
    ) -> None:
        datagrams = waiting.read()
        accepted = False
        several = len(datagrams) > 1
        if several:
            self._writer.hold()
        try:
            for data, address in datagrams:
                if arrive(data, address):
                    accepted = True
            if accepted:
                drained()
        finally:
            if several:
                self.release()  # unless the bearer was closed meanwhile
        if accepted:
            return
        if datagrams and self._loop is not None:
            self._loop.remove_reader(source)
            self._loop.call_later(PAUSE, self._read_again, source, waiting, arrive, drained)

    def _read_again(
        self, source: socket.socket, waiting: DatagramSource, arrive: Arrival, drained: Callable[[], None]
    ) -> None:
        if source in self._sockets and self._loop is not None:
            self._loop.add_reader(source, self._drain, source, waiting, arrive, drained)

    def broadcast(self, data: bytes) -> None:
        """Send a datagram to everyone in range."""
        if self._sockets:
            send = self._writer.send
            for address in self.destinations():
                if not send(data, address):
                    self._plain.send(data, address)

    def send(self, data: bytes, address: Address) -> None:
        """Send a datagram to one address; what the system refuses is counted as lost."""
        if self._sockets and not self._writer.send(data, address):
            self._plain.send(data, address)

    def close(self) -> None:
        """Close the sockets."""
        for each in self._sockets:
            if self._loop is not None:
                self._loop.remove_reader(each)
            each.close()
        self._sockets = []


class PeerBearer(Bearer):
    """Explicit peers: a broadcast is one datagram to each of them. For one machine, tests and tunnels."""

    def __init__(self, listen: Address, peers: list[Address]) -> None:
        super().__init__()
        self.listen = listen
        self.peers = list(peers)

    @property
    def port(self) -> int:
        """The port of the socket, once it is open."""
        return int(self._sockets[0].getsockname()[1])

    def open_sockets(self) -> list[socket.socket]:
        """Bind one socket."""
        family = socket.AF_INET6 if ":" in self.listen[0] else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_DGRAM)
        _bind(bound, self.listen)
        return [bound]

    def destinations(self) -> list[Address]:
        """All peers."""
        return self.peers


class InterfaceBearer(Bearer):
    """Everyone on an interface, by IPv6 link-local multicast.

    One socket, with a port of its own, sends and receives unicast; another receives what the group is sent.
    Several nodes on one machine can thus share an interface.
    """

    GROUP = "ff02::726f:616d"

    def __init__(self, interface: str, port: int) -> None:
        super().__init__()
        self.interface = interface
        self.port = port
        try:
            self._index = socket.if_nametoindex(interface)
        except OSError:
            known = ", ".join(name for _, name in socket.if_nameindex())
            raise LiveError(f"no network interface is called {interface!r}; there are {known}") from None
        self._signals: WifiSignals | None = None

    def start(self, arrive: Arrival, drained: Callable[[], None]) -> None:
        """Open the sockets, and those to read the signals of a Wi-Fi interface."""
        super().start(arrive, drained)
        self._signals = open_signals(self._index, asyncio.get_running_loop().time)

    @property
    def knows_signals(self) -> bool:
        """Whether it is a Wi-Fi interface."""
        return self._signals is not None

    def signal(self, address: Address) -> float:
        """Return the signal with which the interface last heard an address [W]; nan if unknown."""
        return math.nan if self._signals is None else self._signals.of(address[0])

    def close(self) -> None:
        """Close the sockets."""
        super().close()
        if self._signals is not None:
            self._signals.close()
            self._signals = None

    def open_sockets(self) -> list[socket.socket]:
        """Open one socket for sending and unicast, and one for the group."""
        sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, self._index)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 1)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 1)
        _bind(sender, ("::", 0))
        listener = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listener, (self.GROUP, self.port, 0, self._index))
        joined = socket.inet_pton(socket.AF_INET6, self.GROUP) + self._index.to_bytes(4, "little")
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, joined)
        return [sender, listener]

    def destinations(self) -> list[Address]:
        """The group."""
        return [(self.GROUP, self.port, 0, self._index)]


class BroadcastBearer(Bearer):
    """Everyone in an IPv4 network, by broadcast: where an interface has no IPv6."""

    def __init__(self, broadcast: str, port: int) -> None:
        super().__init__()
        self.address = broadcast
        self.port = port

    def open_sockets(self) -> list[socket.socket]:
        """Open one socket for sending and unicast, and one for broadcasts."""
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        _bind(sender, ("0.0.0.0", 0))
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listener, (self.address, self.port))
        return [sender, listener]

    def destinations(self) -> list[Address]:
        """The broadcast address."""
        return [(self.address, self.port)]


def _bind(bound: socket.socket, address: Address) -> None:
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise LiveError(f"cannot listen on {address[0]} port {address[1]}: {error.strerror}") from None
