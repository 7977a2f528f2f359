"""A bridge between ATAK clients and the mesh: Cursor on Target over UDP multicast, as ATAK's default network.

    python cot_bridge.py node.toml [INTERFACE-ADDRESS]

Every CoT message heard on 239.2.3.1:6969 becomes an event `cot`; every event `cot` of other nodes is sent
there. The configuration declares the type:

    [types.cot]
    uid = "string"
    type = "string"
    lat = "decimal"
    lon = "decimal"
    xml = "string"
"""

from __future__ import annotations

import asyncio
import socket
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roamcast.live import Node, read_config
from roamcast.live.errors import LiveError

GROUP, PORT = "239.2.3.1", 6969
LONGEST = 32_768
"Bytes of a CoT message; longer ones are ignored."


def read_cot(data: bytes) -> dict[str, Any]:
    """Return the fields of an event for a CoT message; raises ValueError if it is none."""
    if len(data) > LONGEST or b"<!" in data:  # no document type, so no entities
        raise ValueError("not a CoT message")
    try:
        root = ElementTree.fromstring(data)
        point = root.find("point")
        if root.tag != "event" or point is None:
            raise ValueError("not a CoT message")
        lat, lon = Decimal(point.attrib["lat"]), Decimal(point.attrib["lon"])
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            raise ValueError("no position on earth")
        fields = {"uid": root.attrib["uid"], "type": root.attrib["type"], "lat": lat, "lon": lon}
    except (ElementTree.ParseError, KeyError, InvalidOperation) as error:
        raise ValueError(f"not a CoT message: {error}") from None
    return fields | {"xml": data.decode()}


def join(interface: str) -> socket.socket:
    """Return a socket of the multicast group on an interface, given by its address."""
    heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    heard.bind((GROUP, PORT))
    member = socket.inet_aton(GROUP) + socket.inet_aton(interface)
    heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    heard.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
    heard.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    heard.setblocking(False)
    return heard


class CotBridge:
    """Carries CoT messages between a multicast group and a node."""

    def __init__(self, node: Node, group: socket.socket, address: tuple[str, int] = (GROUP, PORT)) -> None:
        self._node, self._group, self._address = node, group, address
        self._sent: set[str] = set()
        "Messages of the mesh that were sent here, and are heard again."

    async def run(self) -> None:
        """Carry messages both ways until cancelled."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._to_mesh())
            both.create_task(self._to_group())

    async def _to_mesh(self) -> None:
        loop = asyncio.get_running_loop()
        cot = self._node.types.by_name["cot"]
        while True:
            data = await loop.sock_recv(self._group, LONGEST + 1)
            try:
                fields = read_cot(data)
            except ValueError:
                continue
            if fields["xml"] in self._sent:
                self._sent.discard(fields["xml"])
            else:
                await self._node.publish(cot(fields))

    async def _to_group(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._node.subscribe("/cot") as events:
            while True:
                publication = await events.next_publication()
                if publication.publisher != self._node.id:
                    text = publication.event["xml"]
                    if len(self._sent) < 1024:
                        self._sent.add(text)
                    await loop.sock_sendto(self._group, text.encode(), self._address)


async def main(config: str, interface: str = "127.0.0.1") -> None:
    """Run a node with a bridge."""
    settings = read_config(Path(config))
    if "cot" not in settings.types:
        raise LiveError(f"{config}: declare the type `cot`")
    with join(interface) as group:
        async with Node(settings) as node:
            await CotBridge(node, group).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
