"""Passive acknowledgements: a source retransmits a packet that no neighbour was overheard repeating."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, Host, Message
from roamcast.routing.state.leases import Leases

MOST = 64
"Maximum number of packets that await a repetition; the oldest is evicted."


class _UnackedPacket:
    """A packet of this source that no neighbour has repeated yet."""

    __slots__ = ("groups", "message", "times")

    def __init__(self, message: Message, groups: Collection[Hashable]) -> None:
        self.message = message
        self.groups = groups
        self.times = 1


class PassiveAcks:
    """The packets of this source that await a repetition.

    Every neighbour repeats a flood; only the forwarding group repeats data. The source therefore expects a
    repetition of data only if data of the same group was repeated recently. A collision at the first hop
    would otherwise lose the packet for all members.
    """

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._parameters = parameters
        self._unacknowledged: dict[int, _UnackedPacket] = {}
        self._repeated: Leases[Hashable, bool] = Leases(parameters.timeout, parameters.groups)
        "Groups whose data a neighbour has repeated recently."

    def broadcast(self, packet: int, message: Message, groups: Collection[Hashable] | None = None) -> None:
        """Broadcast a flood (`groups` is None) or data for some groups; await a repetition if expected."""
        self._host.broadcast(message)
        if self._parameters.passive_ack_tries <= 1:
            return
        self._unacknowledged[packet] = unacked = _UnackedPacket(message, () if groups is None else groups)
        while len(self._unacknowledged) > MOST:
            del self._unacknowledged[next(iter(self._unacknowledged))]
        now = self._host.now()
        if groups is None or any(self._repeated.get(group, now) for group in groups):
            self._listen(packet, unacked)

    def acknowledge(self, packet: int) -> None:
        """Record that a neighbour has repeated a packet of this source."""
        unacked = self._unacknowledged.pop(packet, None)
        if unacked is not None:
            for group in unacked.groups:
                self._repeated.renew(group, True, self._host.now())

    def footprint(self) -> Footprint:
        """Return the size of the table."""
        return Footprint(len(self._unacknowledged), 4 * len(self._unacknowledged), MOST)

    def _listen(self, packet: int, unacked: _UnackedPacket) -> None:
        p = self._parameters
        wait = p.passive_ack_timeout * p.backoff ** (unacked.times - 1)
        self._host.call_later(wait * (1 + self._host.random.random()), self._check, packet, unacked)

    def _check(self, packet: int, unacked: _UnackedPacket) -> None:
        """Retransmit a packet that no neighbour has repeated."""
        if self._unacknowledged.get(packet) is not unacked:
            return
        if unacked.times >= self._parameters.passive_ack_tries:
            del self._unacknowledged[packet]
            for group in unacked.groups:  # no forwarding node left: the next packet is not retransmitted
                self._repeated.discard(group)
            return
        unacked.times += 1
        self._host.broadcast(unacked.message)
        self._listen(packet, unacked)
