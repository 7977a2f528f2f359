"""The interface through which a link reports payloads, failures and neighbours."""

from __future__ import annotations

from typing import Any, Protocol

from roamcast.live.link.packets import Port
from roamcast.wire.field import NodeId


class LinkUser(Protocol):
    """Callbacks of a link."""

    def take_message(self, message: bytes, sender: NodeId) -> None:
        """Take a payload of port ROUTER from a neighbour."""

    def received(self, port: Port, payload: bytes, sender: NodeId) -> None:
        """Take a payload of any other port."""

    def failed(self, token: Any, to: NodeId) -> None:
        """Learn that the link gave up on the payload sent with `token`."""

    def overflowed(self, token: Any, to: NodeId) -> None:
        """Learn that too much waits for `to`, and the payload sent with `token` was dropped."""

    def met(self, node: NodeId) -> None:
        """Learn that a neighbour was heard for the first time."""

    def returned(self, node: NodeId) -> None:
        """Learn that a neighbour is heard again that the link had given up."""

    def clashed(self) -> None:
        """Learn that another node of the network uses the id of this one."""
