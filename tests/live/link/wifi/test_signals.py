"""Signals of Wi-Fi neighbours: from generated answers of the kernel, and nan without Wi-Fi."""

import asyncio
import math
import socket

import pytest

from roamcast.live import Config, Node
from roamcast.live.link.bearer import InterfaceBearer
from roamcast.live.link.packets import Port
from roamcast.live.link.wifi import signals
from roamcast.live.link.wifi.netlink import (
    DONE,
    ERROR,
    NetlinkError,
    read_messages,
    write_attribute,
    write_message,
)
from roamcast.live.link.wifi.signals import REFRESH, NetlinkSocket, WifiSignals, open_signals
from roamcast.live.link.wifi.stations import watts
from tests.live.medium import Medium, MediumBearer, until
from tests.live.virtual import run as run_in_virtual_time

FAMILY = 28
NEAR, FAR = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def station(mac, dbm):
    inside = b"" if dbm is None else write_attribute(7, dbm.to_bytes(1, "little", signed=True))
    body = b"\x13\1\0\0" + write_attribute(6, mac) + write_attribute(21 | 0x8000, inside)
    return FAMILY, body


def neighbour(interface, host, mac):
    address = write_attribute(1, socket.inet_pton(socket.AF_INET6, host))
    return 28, b"\n\0\0\0" + interface.to_bytes(4, "little") + b"\2\0\0\1" + address + write_attribute(2, mac)


class Kernel:
    """Answers like a netlink socket, with the bytes that a kernel would send."""

    def __init__(self):
        self.stations = [station(NEAR, -40), station(FAR, None)]
        self.neighbours = [neighbour(3, "fe80::1", NEAR), neighbour(3, "fe80::2", FAR)]
        self.neighbours.append(neighbour(4, "fe80::3", NEAR))
        self.asked = 0

    def ask(self, type, body, *, dump=True):
        self.asked += type == FAMILY
        rows = self.stations if type == FAMILY else self.neighbours
        for type, body in rows:
            yield from read_messages(write_message(type, 2, 1, body))


def test_a_neighbour_has_the_signal_of_its_station_on_this_interface():
    kernel, now = Kernel(), [100.0]
    found = WifiSignals(3, FAMILY, kernel, kernel, lambda: now[0])
    assert found.of("fe80::1") == found.of("fe80::1%wlan0") == pytest.approx(1e-7)
    for host in ("fe80::2", "fe80::3", "fe80::9", "no address"):
        assert math.isnan(found.of(host))
    kernel.stations = [station(NEAR, -70)]
    assert found.of("fe80::1") == pytest.approx(1e-7) and kernel.asked == 1
    now[0] += REFRESH
    assert found.of("fe80::1") == pytest.approx(1e-10) and kernel.asked == 2


@pytest.mark.parametrize(
    "broken", [(FAMILY, b""), (FAMILY, b"\x13\1\0\0"), (FAMILY, station(NEAR, -40)[1][:-3])]
)
def test_after_an_answer_that_cannot_be_read_no_signal_is_known(broken):
    kernel, now = Kernel(), [0.0]
    found = WifiSignals(3, FAMILY, kernel, kernel, lambda: now[0])
    assert found.of("fe80::1") > 0
    kernel.stations.append(broken)
    now[0] += REFRESH
    assert math.isnan(found.of("fe80::1"))
    kernel.stations.pop()
    now[0] += REFRESH
    assert found.of("fe80::1") > 0


class Answers:
    """A socket that returns prepared datagrams."""

    def __init__(self, *datagrams):
        self.datagrams = list(datagrams)

    def sendto(self, data, address):
        self.sent = data

    def recvfrom(self, size):
        if not self.datagrams:
            raise TimeoutError("no answer")
        return self.datagrams.pop(0)


def netlink(*datagrams):
    return NetlinkSocket(Answers(*datagrams))


def test_an_answer_ends_with_done_and_other_messages_are_passed_over():
    row = write_message(28, 2, 1, b"row!")
    asked = netlink(
        (write_message(28, 2, 1, b"from a process"), (77, 0)),
        (write_message(28, 2, 9, b"of another request") + row, (0, 0)),
        (row + write_message(DONE, 2, 1, bytes(4)), (0, 0)),
    )
    assert [message.body for message in asked.ask(30, b"")] == [b"row!", b"row!"]


def test_an_error_an_endless_answer_and_silence_are_noticed():
    failed = write_message(ERROR, 0, 1, (-19).to_bytes(4, "little", signed=True))
    with pytest.raises(NetlinkError, match="error 19"):
        list(netlink((failed, (0, 0))).ask(30, b""))
    endless = [(write_message(28, 2, 2, b"row!"), (0, 0))] * 300
    with pytest.raises(NetlinkError, match="more than 256"):
        list(netlink(*endless).ask(30, b""))
    with pytest.raises(TimeoutError):
        list(netlink().ask(30, b""))


def test_the_kernel_of_this_machine_answers_and_an_interface_without_wifi_has_no_signals():
    asked = NetlinkSocket.open(signals.ROUTE)
    rows = [signals.read_neighbour(each.body) for each in asked.ask(30, signals.neighbour_request(0))]
    asked.close()
    assert all(row is None or row.interface > 0 for row in rows)
    assert open_signals(socket.if_nametoindex("lo"), lambda: 0.0) is None

    async def story():
        bearer = InterfaceBearer("lo", 0)
        bearer.start(lambda data, address: True, lambda: None)
        assert not bearer.knows_signals and math.isnan(bearer.signal(("::1", 1, 0, 1)))
        bearer.close()

    asyncio.run(story())


class HearingBearer(MediumBearer):
    """A bearer that knows the signal of each sender."""

    knows_signals = True

    def signal(self, address):
        return watts(-address[0])


@pytest.mark.parametrize("hearing", [True, False])
def test_the_router_gets_the_signal_of_the_neighbour_that_sent(hearing):
    heard = []

    async def story():
        medium = Medium()
        medium.join(60, 70)
        bearer = HearingBearer(medium, 70) if hearing else medium.bearer(70)
        config = Config(protocol="flooding", types={"alert": {"level": "integer"}})
        async with Node(config, [medium.bearer(60)]) as sender, Node(config, [bearer]) as receiver:
            receive = receiver.router.receive
            receiver.router.receive = lambda message, node, signal: (
                heard.append((node, signal)) or receive(message, node, signal)
            )
            await sender.publish(config.event_types()["alert"](level=1))
            await until(lambda: heard)
            assert heard[0][0] == sender.id
            receiver.link.broadcast(Port.HELLO, b"")

    run_in_virtual_time(story())
    signal = heard[0][1]
    assert signal == pytest.approx(1e-9) if hearing else math.isnan(signal)
