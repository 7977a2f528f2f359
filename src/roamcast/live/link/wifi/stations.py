"""Requests for the stations and the neighbours of an interface, and the meaning of their answers."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from roamcast.live.link.wifi.netlink import NetlinkError, read_attributes, write_attribute

# linux/genetlink.h
CONTROL = 16
"The type of messages to and from the controller of generic netlink."
_GET_FAMILY = 3
_FAMILY_ID = 1
_FAMILY_NAME = 2
_FAMILY_NUMBER = Struct("=H")
_GENERIC = Struct("=BBH")
"Command, version, reserved."

# linux/nl80211.h
FAMILY_NAME = b"nl80211\0"
_GET_STATION = 17
_NEW_STATION = 19
_INTERFACE = 3
_MAC = 6
_STATION = 21
_SIGNAL = 7
"In dBm, one signed byte."
_INDEX = Struct("=I")
_DBM = Struct("=b")

# linux/rtnetlink.h and linux/neighbour.h
GET_NEIGHBOURS = 30
NEW_NEIGHBOUR = 28
_NEIGHBOUR = Struct("=BxxxiHBB")
"Address family, index of the interface, state, flags, type."
_ADDRESS = 1
_LINK_ADDRESS = 2
MAC_BYTES = 6


class Station(NamedTuple):
    """A station that an interface hears."""

    mac: bytes
    dbm: int | None
    "None if the driver does not tell."


class LinkNeighbour(NamedTuple):
    """A row of the system's table of neighbours."""

    interface: int
    address: bytes
    mac: bytes


def family_request() -> bytes:
    """Return the body of a request for the number of nl80211."""
    return _GENERIC.pack(_GET_FAMILY, 1, 0) + write_attribute(_FAMILY_NAME, FAMILY_NAME)


def read_family(body: bytes) -> int:
    """Return the number of a family, which is the type of its messages."""
    number = _generic_attributes(body)[1].get(_FAMILY_ID)
    if number is None or len(number) != _FAMILY_NUMBER.size:
        raise NetlinkError("a family without a number")
    return int(_FAMILY_NUMBER.unpack(number)[0])


def station_request(interface: int) -> bytes:
    """Return the body of a request for the stations of an interface."""
    return _GENERIC.pack(_GET_STATION, 0, 0) + write_attribute(_INTERFACE, _INDEX.pack(interface))


def read_station(body: bytes) -> Station:
    """Return the station that a message tells of."""
    command, attributes = _generic_attributes(body)
    mac = attributes.get(_MAC)
    if command != _NEW_STATION or mac is None or len(mac) != MAC_BYTES:
        raise NetlinkError("a message about stations without the address of one")
    signal = read_attributes(attributes.get(_STATION, b"")).get(_SIGNAL)
    if signal is None:
        return Station(mac, None)
    if len(signal) != _DBM.size:
        raise NetlinkError(f"a signal of {len(signal)} bytes; it has {_DBM.size}")
    return Station(mac, _DBM.unpack(signal)[0])


def neighbour_request(family: int) -> bytes:
    """Return the body of a request for the table of neighbours of an address family."""
    return _NEIGHBOUR.pack(family, 0, 0, 0, 0)


def read_neighbour(body: bytes) -> LinkNeighbour | None:
    """Return a row of the table of neighbours; None if it has no hardware address of Ethernet or Wi-Fi."""
    if len(body) < _NEIGHBOUR.size:
        raise NetlinkError(f"a neighbour of {len(body)} bytes; {_NEIGHBOUR.size} are the least")
    attributes = read_attributes(body, _NEIGHBOUR.size)
    address, mac = attributes.get(_ADDRESS), attributes.get(_LINK_ADDRESS)
    if address is None or mac is None or len(mac) != MAC_BYTES:
        return None
    return LinkNeighbour(_NEIGHBOUR.unpack_from(body)[1], address, mac)


def watts(dbm: float) -> float:
    """Return a power in watts."""
    return float(10 ** (dbm / 10 - 3))


def _generic_attributes(body: bytes) -> tuple[int, dict[int, bytes]]:
    if len(body) < _GENERIC.size:
        raise NetlinkError(f"a generic message of {len(body)} bytes; {_GENERIC.size} are the least")
    return body[0], read_attributes(body, _GENERIC.size)
