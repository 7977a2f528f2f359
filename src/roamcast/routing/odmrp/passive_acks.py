"""Insistence: a source says again what none of its neighbours was heard to repeat."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, Host, Message
from roamcast.routing.state.leases import Leases

MOST = 64
"Packets that are listened for at a time; the oldest is given up."


class _UnackedPacket:
    """A packet of this source, until somebody repeats it."""

    __slots__ = ("groups", "message", "times")

    def __init__(self, message: Message, groups: Collection[Hashable]) -> None:
        self.message = message
        self.groups = groups
        self.times = 1


class PassiveAcks:
    """What this source has sent and wants to hear repeated.

    A flood is repeated by every neighbour, data by those of the forwarding group: so a repetition is missed
    where some data of the group was repeated lately. One collision at the source loses a packet for everyone,
    and nothing later on the way can make up for that.
    """

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._parameters = parameters
        self._said: dict[int, _UnackedPacket] = {}
        self._repeated: Leases[Hashable, bool] = Leases(parameters.timeout, parameters.groups)
        "Groups whose data somebody repeated lately."

    def broadcast(self, packet: int, message: Message, groups: Collection[Hashable] | None = None) -> None:
        """Broadcast a flood, or what the forwarding nodes of some groups repeat, if there are any."""
        self._host.broadcast(message)
        if self._parameters.passive_ack_tries <= 1:
            return
        self._said[packet] = said = _UnackedPacket(message, () if groups is None else groups)
        while len(self._said) > MOST:
            del self._said[next(iter(self._said))]
        now = self._host.now()
        if groups is None or any(self._repeated.get(group, now) for group in groups):
            self._listen(packet, said)

    def acknowledge(self, packet: int) -> None:
        """Note that a packet of this source was heard from a neighbour."""
        said = self._said.pop(packet, None)
        if said is not None:
            for group in said.groups:
                self._repeated.renew(group, True, self._host.now())

    def footprint(self) -> Footprint:
        """The size of what is listened for."""
        return Footprint(len(self._said), 4 * len(self._said), MOST)

    def _listen(self, packet: int, said: _UnackedPacket) -> None:
        p = self._parameters
        wait = p.passive_ack_timeout * p.backoff ** (said.times - 1)
        self._host.call_later(wait * (1 + self._host.random.random()), self._check, packet, said)

    def _check(self, packet: int, said: _UnackedPacket) -> None:
        """Say it again if nobody was heard to repeat it."""
        if self._said.get(packet) is not said:
            return
        if said.times >= self._parameters.passive_ack_tries:
            del self._said[packet]
            for group in said.groups:  # its forwarding nodes are gone: the next packet is not insisted on
                self._repeated.discard(group)
            return
        said.times += 1
        self._host.broadcast(said.message)
        self._listen(packet, said)
