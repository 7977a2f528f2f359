"""The signal with which an interface last heard each neighbour, as far as its driver tells."""

from __future__ import annotations

import logging
import math
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

from roamcast.live.link.wifi.netlink import (
    DONE,
    DUMP,
    ERROR,
    NO_OPERATION,
    REQUEST,
    NetlinkError,
    NetlinkMessage,
    read_error,
    read_messages,
    write_message,
)
from roamcast.live.link.wifi.stations import (
    CONTROL,
    GET_NEIGHBOURS,
    NEW_NEIGHBOUR,
    family_request,
    neighbour_request,
    read_family,
    read_neighbour,
    read_station,
    station_request,
    watts,
)

_log = logging.getLogger("roamcast.live")

REFRESH = 1.0
"Seconds for which signals that were read are used."
TIMEOUT = 0.1
"Seconds to wait for the kernel, which answers at once."
MOST_DATAGRAMS = 256
"Datagrams of one answer."
LONGEST = 1 << 16
GENERIC, ROUTE = 16, 0
"Protocols of netlink sockets."


class NetlinkSocket:
    """Asks the kernel by one netlink protocol."""

    def __init__(self, bound: socket.socket) -> None:
        self._socket = bound
        self._sequence = 0

    @classmethod
    def open(cls, protocol: int) -> NetlinkSocket:
        """Return a socket for the protocol `GENERIC` or `ROUTE`."""
        opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        opened.settimeout(TIMEOUT)
        opened.bind((0, 0))
        return cls(opened)

    def ask(self, type: int, body: bytes, *, dump: bool = True) -> Iterator[NetlinkMessage]:
        """Yield the messages of an answer; raise `NetlinkError` for errors and other bytes, and `OSError`."""
        self._sequence = self._sequence + 1 & 0xFFFFFFFF
        flags = REQUEST | DUMP if dump else REQUEST
        self._socket.sendto(write_message(type, flags, self._sequence, body), (0, 0))
        for _ in range(MOST_DATAGRAMS):
            data, (port, _) = self._socket.recvfrom(LONGEST)
            if port:
                continue  # not from the kernel
            for message in read_messages(data):
                if message.sequence != self._sequence or message.type == NO_OPERATION:
                    continue
                if message.type in (ERROR, DONE):
                    code = read_error(message)
                    if code:
                        raise NetlinkError(f"the kernel answered with error {code}")
                    return
                yield message
                if not dump:
                    return
        raise NetlinkError(f"an answer of more than {MOST_DATAGRAMS} datagrams")

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class WifiSignals:
    """The signals of one Wi-Fi interface."""

    def __init__(
        self,
        interface: int,
        family: int,
        generic: NetlinkSocket,
        route: NetlinkSocket,
        now: Callable[[], float],
    ) -> None:
        """`interface`: its index; `family`: the number of nl80211."""
        self._interface = interface
        self._family = family
        self._generic = generic
        self._route = route
        self._now = now
        self._read_at = -math.inf
        self._watts: dict[bytes, float] = {}
        "By IP address."
        self._failed = False

    def of(self, host: str) -> float:
        """Return the signal of a neighbour [W] by its IPv6 address, at most `REFRESH` seconds old; or nan.

        Nan if the driver does not tell, or if the system does not know the neighbour's hardware address.
        """
        now = self._now()
        if now - self._read_at >= REFRESH:
            self._read_at = now
            try:
                self._watts = self._read()
                self._failed = False
            except (OSError, NetlinkError) as error:
                self._watts = {}
                if not self._failed:
                    _log.warning("the signals of Wi-Fi neighbours cannot be read: %s", error)
                self._failed = True
        try:
            return self._watts.get(socket.inet_pton(socket.AF_INET6, host.partition("%")[0]), math.nan)
        except OSError:
            return math.nan

    def _read(self) -> dict[bytes, float]:
        answers = self._generic.ask(self._family, station_request(self._interface))
        stations = [read_station(each.body) for each in answers if each.type == self._family]
        signals = {each.mac: watts(each.dbm) for each in stations if each.dbm is not None}
        if not signals:
            return {}
        rows = self._route.ask(GET_NEIGHBOURS, neighbour_request(socket.AF_INET6))
        found = [read_neighbour(each.body) for each in rows if each.type == NEW_NEIGHBOUR]
        return {
            each.address: signals[each.mac]
            for each in found
            if each is not None and each.interface == self._interface and each.mac in signals
        }

    def close(self) -> None:
        """Close the sockets."""
        self._generic.close()
        self._route.close()


def open_signals(interface: int, now: Callable[[], float]) -> WifiSignals | None:
    """Return the signals of an interface by its index; None if it is no Wi-Fi interface."""
    if not hasattr(socket, "AF_NETLINK"):
        return None
    with ExitStack() as opened:
        try:
            generic = opened.enter_context(closing(NetlinkSocket.open(GENERIC)))
            route = opened.enter_context(closing(NetlinkSocket.open(ROUTE)))
            [answer] = generic.ask(CONTROL, family_request(), dump=False)
            family = read_family(answer.body)
            for _ in generic.ask(family, station_request(interface)):  # an error if it is no Wi-Fi interface
                pass
        except (OSError, NetlinkError, ValueError):
            return None
        opened.pop_all()
        return WifiSignals(interface, family, generic, route, now)
