"""One unicast copy per receiver over GPSR, with a flooding location service or known positions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import structs

from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, NodeId, Parameters
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.serials import following, is_newer
from roamcast.routing.state.timing import call_every, call_within
from roamcast.routing.traits import ProtocolTraits
from roamcast.routing.unicast.copies import Copy, UnicastCopies
from roamcast.routing.unicast.gpsr.gpsr import Gpsr
from roamcast.routing.unicast.gpsr.messages import Beacon, GeoPacket, PointCm, Whereabouts, to_point_cm
from roamcast.routing.unicast.gpsr.parameters import GREEDY_ALONE, GpsrUnicastParameters

JITTER = 0.01
"Maximum random delay before an announcement is repeated, which desynchronises neighbours [s]."


class GpsrUnicast(UnicastCopies):
    """One copy per receiver, over GPSR."""

    shares_process = True
    main_parameters = ("beacon", "planar", "perimeter", "location")
    unicast_type = Gpsr
    unicast: Gpsr
    parameters_type = GpsrUnicastParameters
    live = MappingProxyType({"beacon": "500 ms", "silence": "2 s", "announce": "1 s", "known": "5 s"})
    parameters: GpsrUnicastParameters
    messages = (Copy, *Gpsr.messages, Whereabouts)
    needs_location = True
    knows_positions = True
    promiscuous = True

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.announced: Leases[NodeId, tuple[int, PointCm]] = Leases(p.known, p.places)
        "Serial and position of the last announcement of each node."
        self.serial = 0
        self._node = host.node
        receive = self.unicast.forwarding.receive
        self.shortcuts = {Beacon: receive, GeoPacket: receive}
        self.unicast.locate = self._locate_announced if p.location == "announced" else self._locate_known

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits: each receiver is sent its own copy; greedy forwarding alone is not complete."""
        assert isinstance(parameters, GpsrUnicastParameters)
        incomplete = "" if parameters.perimeter else GREEDY_ALONE
        return structs.replace(super().traits(parameters), incomplete=incomplete)

    def start(self) -> None:
        """Start beacons and position announcements."""
        super().start()
        if self.parameters.location == "announced":
            call_every(self.host, self.parameters.announce, self._announce_location)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the tables of GPSR, delivered publications and announced positions."""
        count = len(self.announced)
        return {**super().tables(), "places": Footprint(count, 22 * count, self.parameters.places)}

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Store an announced position, and repeat it if it is new; pass other messages to GPSR."""
        if type(message) is not Whereabouts:
            return super().receive(message, sender, signal)
        if sender == self._node:
            return Drop.MALFORMED
        now = self.host.now()
        self.unicast.hear(sender, message.here, now)
        node, serial = message.node, message.serial
        if node == self._node:
            # Own announcement. A higher serial is forged or from an earlier incarnation: continue after it.
            if is_newer(serial, self.serial):
                self.serial = serial
            return DUPLICATE
        known = self.announced.get(node, now)
        if known is not None and (serial == known[0] or not is_newer(serial, known[0])):
            return DUPLICATE
        self.announced.renew(node, (serial, message.place), now)
        if message.hops <= 1:
            return Drop.HOP_LIMIT
        call_within(self.host, JITTER, self._repeat, message)
        return None

    def _announce_location(self) -> None:
        self.announced.sweep(self.host.now())
        self.serial = following(self.serial)
        here, limit = self.unicast.here(), self.parameters.hop_limit
        self.host.broadcast(Whereabouts(self.host.node, here, self.serial, limit, here))

    def _repeat(self, announcement: Whereabouts) -> None:
        here = self.unicast.here()
        self.host.broadcast(
            Whereabouts(
                announcement.node, announcement.place, announcement.serial, announcement.hops - 1, here
            )
        )

    def _locate_announced(self, node: NodeId) -> PointCm | None:
        now = self.host.now()
        announcement = self.announced.get(node, now)
        return announcement[1] if announcement is not None else self.unicast.position_of(node)

    def _locate_known(self, node: NodeId) -> PointCm | None:
        position = self.position_of(node)
        return None if position is None else to_point_cm(position)
