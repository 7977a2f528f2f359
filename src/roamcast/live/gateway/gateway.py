"""The gateway of one node: the connection to the broker, and both directions."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from roamcast.live.gateway.client import BrokerClient, BrokerMessage
from roamcast.live.gateway.inbound import Inbound
from roamcast.live.gateway.outbound import Outbound
from roamcast.live.gateway.settings import MqttSettings
from roamcast.live.gateway.spool import Spool
from roamcast.live.node import Node

SPOOL_FILE = "mqtt-spool.sqlite"


class MqttGateway:
    """Start and stop it with `async with`, within that of its node."""

    def __init__(self, node: Node, settings: MqttSettings) -> None:
        self._node = node
        self._settings = settings
        self.inbound: Inbound
        self.outbound: Outbound
        self.client: BrokerClient

    async def __aenter__(self) -> MqttGateway:
        node, settings = self._node, self._settings
        state = node.config.state
        self.inbound = Inbound(node, settings.publish, settings.settle, self._acknowledge)
        spool = Spool(None if state is None else state / SPOOL_FILE)
        self.outbound = Outbound(node, settings.subscribe, settings.requests, spool)
        self.client = BrokerClient(
            settings,
            settings.client or f"roamcast-{node.id}",
            [*self.inbound.topics, *self.outbound.topics],
            self._take,
            self.outbound.confirmed,
        )
        node.reports["mqtt"] = self.report
        self.inbound.start()
        self.client.start()
        self.outbound.start(self.client.publish)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.inbound.stop()
        await self.client.stop()
        self.outbound.stop()

    def _take(self, message: BrokerMessage) -> None:
        if not self.inbound.take(message):
            self.outbound.take(message)
            self._acknowledge(message)

    def _acknowledge(self, message: BrokerMessage) -> None:
        self.client.acknowledge(message)

    def report(self) -> dict[str, Any]:
        """Return counters for `roamcast top`."""
        return {
            "connected": self.client.connected,
            "inbound": dict(self.inbound.counts) | {"waiting": self.inbound.waiting},
            "outbound": dict(self.outbound.counts) | {"waiting": self.outbound.waiting},
        }
