"""The medium: datagrams of live nodes become frames of the simulator's radio and MAC, in real time.

Each node has a socket of its own at the medium. A datagram that arrives there is a unicast to that node; a
datagram at the common socket is a broadcast. The kernel of the simulator decides when a frame is sent and who
receives it; its clock follows the machine's. A frame is `late` if the medium hands it on after the kernel's
time.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import numpy as np

from roamcast import _kernel
from roamcast.routing.router import Category, NodeId
from roamcast.scenario.model import Scenario
from roamcast.sim import kernel

LOOPBACK = "127.0.0.1"
UDP_HEADER = 8
TICK = 0.0005
"Seconds between two looks at the clock while frames are under way."
IDLE_TICK = 0.004
INPUT_DELAY = 0.001
"Seconds from the arrival of a datagram, by the system's timestamp, to the queue of its node."
DRAIN = 64
LONGEST_READ = 2048
BUFFER = 1 << 20
"Bytes that a socket keeps while its process is busy."


class MediumFrame:
    """A datagram of a node as a message of the kernel."""

    __slots__ = ("data", "publication_id", "size")
    category = Category.EVENT

    def __init__(self, data: bytes, number: int) -> None:
        self.data = data
        self.size = len(data) + UDP_HEADER
        self.publication_id = number
        "The number of the datagram, which the kernel's records then have in the column publication."


class SentDatagram(NamedTuple):
    """A datagram as it came from a node."""

    time: float
    node: NodeId
    to: NodeId
    data: bytes


class Lateness(msgspec.Struct, frozen=True):
    """How late frames or timers were in a run."""

    count: int
    late: int
    "Of these, how many were later than allowed."
    worst: float
    "The latest [s]."


class _Station:
    """The router of a node in the kernel: hands received frames to the process."""

    handled = None

    def __init__(self, medium: Medium, host: _kernel.Host) -> None:
        self._medium = medium
        self.host = host

    def receive(self, message: MediumFrame, sender: NodeId, signal: float) -> None:
        self._medium.hand_on(message, sender, self.host.node)

    def link_failed(self, message: MediumFrame, to: NodeId) -> None:
        """Ignore it: the node's link retries by itself."""


class Medium:
    """The sockets of a testbed, and the kernel between them."""

    def __init__(self, scenario: Scenario, seed: int, allowed: float) -> None:
        """`allowed`: seconds that a frame may be late."""
        self.world = kernel.build(scenario, seed)
        self.world.start()
        self.world.record_losses(True)
        self.node_sockets = [_bind() for _ in range(scenario.count)]
        "The sockets of the nodes, for their processes."
        self._common = _bind()
        self._sockets = [_bind() for _ in range(scenario.count)]
        "The sockets of the medium, one for each node."
        self._addresses = [each.getsockname() for each in self.node_sockets]
        self._numbers = {address: node for node, address in enumerate(self._addresses)}
        self._hosts = [_kernel.Host(self.world, node) for node in range(scenario.count)]
        for node, host in enumerate(self._hosts):
            self.world.attach(node, _Station(self, host))
        self._selector = selectors.DefaultSelector()
        for to, each in enumerate((self._common, *self._sockets)):
            self._selector.register(each, selectors.EVENT_READ, to - 1)
        self.sent: list[SentDatagram] = []
        self._start = self._clock = 0.0
        self._allowed = allowed
        self._busy_until = 0.0
        self._handed: list[float] = []
        self.unsent = 0
        "Datagrams that a node's full socket refused."

    @property
    def broadcast_address(self) -> Any:
        """The address to which nodes send broadcasts."""
        return self._common.getsockname()

    def set_radio(self, node: NodeId, on: bool) -> None:
        """Switch a node's radio on or off; what waits in its socket is lost."""
        self.world.set_radio(node, on)
        if on:
            _empty(self.node_sockets[node])

    def run(self, start: float, until: float, each_tick: Callable[[float], object]) -> None:
        """Carry datagrams from `start` on the monotonic clock for `until` seconds."""
        self._start = start
        self._clock = time.monotonic() - time.time()
        while (now := time.monotonic() - start) < until:
            self.world.run_until(max(now, 0.0))
            each_tick(now)
            wait = TICK if now < self._busy_until else IDLE_TICK
            for key, _ in self._selector.select(wait):
                self._read(key.fileobj, key.data)
        self.world.run_until(until)

    def _read(self, source: Any, to: NodeId) -> None:
        """Hand datagrams to the kernel, with the intervals at which they arrived.

        Datagrams that are read together would otherwise be sent at the same time and collide.
        """
        for _ in range(DRAIN):
            try:
                data, ancillary, _, address = source.recvmsg(LONGEST_READ, _ANCILLARY)
            except BlockingIOError:
                return
            node = self._numbers.get(address)
            sent = _timestamp(ancillary) + self._clock - self._start
            if node is None or sent < 0:
                continue
            due = max(sent + INPUT_DELAY, self.world.now())
            self._busy_until = due + 0.02
            self.world.call_at(due, self._post, node, to, data)

    def _post(self, node: NodeId, to: NodeId, data: bytes) -> None:
        if not self.world.radio_on(node):
            return
        message = MediumFrame(data, len(self.sent))
        self.sent.append(SentDatagram(self.world.now(), node, to, data))
        self.world.enter(node)
        if to < 0:
            self._hosts[node].broadcast(message)
        else:
            self._hosts[node].send(message, to)

    def hand_on(self, message: MediumFrame, sender: NodeId, to: NodeId) -> None:
        """Give a received frame to a node, from the address of its sender."""
        self._busy_until = self.world.now() + 0.02
        self._handed.append(time.monotonic() - self._start - self.world.now())
        try:
            self._sockets[sender].sendto(message.data, self._addresses[to])
        except OSError:
            self.unsent += 1

    def lateness(self) -> Lateness:
        """Return how late frames were handed to nodes."""
        handed = np.array(self._handed)
        late = int(np.count_nonzero(handed > self._allowed))
        return Lateness(len(handed), late, float(handed.max(initial=0.0)))

    def close(self) -> None:
        """Close all sockets."""
        self._selector.close()
        for each in (self._common, *self._sockets, *self.node_sockets):
            each.close()
        self.world.close()


_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_ANCILLARY = socket.CMSG_SPACE(_TIMESPEC.size)


def _timestamp(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Return when the system received a datagram, on the clock of `time.time`."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) == _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def _bind() -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    bound.bind((LOOPBACK, 0))
    bound.setblocking(False)
    return bound


def _empty(source: socket.socket) -> None:
    while True:
        try:
            source.recv(1)
        except BlockingIOError:
            return
