"""The forwarding of packets at one node: compiled where the host is the simulator's."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

from roamcast.routing.router import Host
from roamcast.routing.unicast.gpsr.messages import FARTHEST, GeoPacket, PerimeterState, PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters
from roamcast.routing.unicast.gpsr.plain_forwarding import PlainForwarding

if TYPE_CHECKING:
    from roamcast._kernel import Host as KernelHost
    from roamcast.routing.unicast.gpsr.gpsr import Gpsr

    Forwarding = PlainForwarding
else:
    try:
        from roamcast._kernel import Forwarding
        from roamcast._kernel import Host as KernelHost
    except ImportError:
        Forwarding = KernelHost = None

REMEMBERED = 1024
"Number of packets, and of edges that packets took, that a node remembers."


def new_forwarding(
    owner: Gpsr, host: Host, parameters: GpsrParameters, near: Places, held: Sized
) -> PlainForwarding:
    """Return the forwarding of a node, whose planar graph is used for a quarter of a beacon interval."""
    compiled = KernelHost is not None and isinstance(host, KernelHost)
    make: type[PlainForwarding] = Forwarding if compiled else PlainForwarding
    return make(
        owner,
        host,
        near,
        held,
        packet=GeoPacket,
        point=PointCm,
        face=PerimeterState,
        farthest=FARTHEST,
        perimeter=parameters.perimeter,
        relative=parameters.planar == "rng",
        planar=parameters.beacon / 4,
        restarts=parameters.restart,
        remembered=REMEMBERED,
    )
