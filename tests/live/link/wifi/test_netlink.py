"""Netlink: what is written is read again, and bytes that are cut short are refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.live.link.wifi.netlink import (
    DONE,
    ERROR,
    HEADER,
    NetlinkError,
    NetlinkMessage,
    read_attributes,
    read_error,
    read_messages,
    write_attribute,
    write_message,
)
from roamcast.live.link.wifi.stations import (
    Station,
    read_family,
    read_neighbour,
    read_station,
    watts,
)

# Generated from linux/nl80211.h for a little-endian machine: NL80211_CMD_NEW_STATION of interface 3 with a
# generation and, in the nested station, the inactive time, the signal -67 dBm and the average -65 dBm.
STATION = bytes.fromhex(
    "13010000"
    "0800030003000000"
    "0a000600021122334455 0000"
    "08002e0007000000"
    "1c001580 0800010028000000 0500 0700 bd000000 0500 0d00 bf000000"
)
MAC = bytes.fromhex("021122334455")


@given(st.lists(st.tuples(st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1), st.binary(max_size=9))))
def test_messages_are_read_as_they_were_written(rows):
    data = b"".join(write_message(type, 1, sequence, body) for type, sequence, body in rows)
    assert list(read_messages(data)) == [NetlinkMessage(*row) for row in rows]


@given(st.dictionaries(st.integers(0, 0x3FFF), st.binary(max_size=9)))
def test_attributes_are_read_as_they_were_written(attributes):
    data = b"".join(write_attribute(type, value) for type, value in attributes.items())
    assert read_attributes(data) == attributes
    assert read_attributes(b"head" + data, 4) == attributes


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_message_that_is_cut_short_is_refused(cut):
    data = write_message(20, 0, 1, b"body")
    with pytest.raises(NetlinkError):
        list(read_messages(data[:-cut]))


def test_a_message_or_an_attribute_shorter_than_its_header_is_refused():
    with pytest.raises(NetlinkError, match="a message of 3 bytes"):
        list(read_messages(HEADER.pack(3, 1, 0, 0, 0)))
    for data in (b"\3\0\1\0", b"\5\0\1\0", b"\4\0"):
        with pytest.raises(NetlinkError):
            read_attributes(data)
    with pytest.raises(NetlinkError, match="given twice"):
        read_attributes(2 * write_attribute(7, b"x"))


def test_the_end_of_an_answer_tells_of_errors():
    assert read_error(NetlinkMessage(ERROR, 1, (-19).to_bytes(4, "little", signed=True) + bytes(16))) == 19
    assert read_error(NetlinkMessage(DONE, 1, bytes(4))) == 0 == read_error(NetlinkMessage(DONE, 1, b""))
    for type, body in ((ERROR, b""), (ERROR, b"\1\0"), (ERROR, b"\1\0\0\0")):
        with pytest.raises(NetlinkError):
            read_error(NetlinkMessage(type, 1, body))


def test_a_station_is_read_with_its_signal():
    assert read_station(STATION) == Station(MAC, -67)


@given(st.integers(1, len(STATION) - 1))
def test_a_station_that_is_cut_short_is_refused_or_has_no_signal(cut):
    left = len(STATION) - cut
    if left in (22, 23, 24, 32):  # at the end of the address, with padding or without, and of the generation
        assert read_station(STATION[:-cut]) == Station(MAC, None)
    else:
        with pytest.raises(NetlinkError):
            read_station(STATION[:-cut])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x13\1\0\0",
        b"\x12" + STATION[1:],  # another command
        STATION.replace(bytes.fromhex("0a000600021122334455"), bytes.fromhex("09000600021122334400")),
        STATION.replace(bytes.fromhex("05000700bd"), bytes.fromhex("06000700bd")),  # a signal of two bytes
    ],
)
def test_another_station_message_is_refused(body):
    with pytest.raises(NetlinkError):
        read_station(body)


def test_a_family_and_a_neighbour_are_read_and_others_refused():
    family = b"\1\2\0\0" + write_attribute(2, b"nl80211\0") + write_attribute(1, b"\x1c\0")
    assert read_family(family) == 28
    for body in (b"", b"\1\2\0\0", b"\1\2\0\0" + write_attribute(1, b"\x1c")):
        with pytest.raises(NetlinkError):
            read_family(body)
    head = b"\n\0\0\0\3\0\0\0\2\0\0\1"
    row = head + write_attribute(1, bytes(15) + b"\1") + write_attribute(2, MAC)
    assert read_neighbour(row) == (3, bytes(15) + b"\1", MAC)
    assert read_neighbour(head + write_attribute(1, bytes(16))) is None
    with pytest.raises(NetlinkError):
        read_neighbour(head[:-1])


@pytest.mark.parametrize(("dbm", "power"), [(0, 1e-3), (30, 1.0), (-67, 1.9953e-10), (-128, 1.5849e-16)])
def test_decibels_become_watts(dbm, power):
    assert watts(dbm) == pytest.approx(power, rel=1e-4)


@given(st.binary(max_size=80))
def test_noise_is_read_or_refused(noise):
    for read in (lambda data: list(read_messages(data)), read_attributes, read_station, read_neighbour):
        with suppress(NetlinkError):
            read(noise)
