"""Metrics of a node for Prometheus, over HTTP; imported only where they are configured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import start_http_server
from prometheus_client.registry import Collector, CollectorRegistry

from roamcast.live.config import parse_address
from roamcast.live.errors import LiveError
from roamcast.live.monitoring.view import view
from roamcast.live.node import Node

PATIENCE = 2.0
"Seconds that a scrape waits for the event loop."

_TOTALS = {
    "published": "Events published by applications of this node.",
    "delivered": "Events of other nodes delivered to applications of this node.",
    "malformed": "Router messages that could not be decoded.",
    "router_errors": "Exceptions out of the router.",
}
_BY_REASON = {
    "link": ("link", "what", "Frames and payloads of the link."),
    "refused": ("frames_refused", "reason", "Datagrams that were not accepted as frames."),
    "drops": ("messages_dropped", "reason", "Messages that the router or the link dropped."),
}


class NodeCollector(Collector):
    """Collects the metrics of a node at each scrape, in the node's event loop."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._loop = asyncio.get_running_loop()

    def collect(self) -> Iterator[Any]:
        """Yield the metrics; called in the thread of the HTTP server."""
        asked = asyncio.run_coroutine_threadsafe(_view(self._node), self._loop)
        yield from families(asked.result(PATIENCE))


async def _view(node: Node) -> dict[str, Any]:
    return view(node)


def families(state: dict[str, Any]) -> Iterator[Any]:
    """Yield the metric families of a node's state, as `view` gives it."""
    labels = {"protocol": state["protocol"], "network": state["network"], "name": state["name"]}
    yield InfoMetricFamily("roamcast_node", "The node.", value=labels | {"node": str(state["node"])})
    yield GaugeMetricFamily("roamcast_uptime_seconds", "Seconds since the start.", value=state["uptime"])
    yield GaugeMetricFamily("roamcast_incarnation", "Earlier starts.", value=state["incarnation"])
    yield GaugeMetricFamily("roamcast_neighbours", "Neighbours heard.", value=len(state["neighbours"]))
    yield GaugeMetricFamily("roamcast_routes", "Nodes with a route.", value=len(state["routes"]))
    for name, meaning in _TOTALS.items():
        yield CounterMetricFamily(f"roamcast_{name}", meaning, value=state[name])
    for name, (metric, label, meaning) in _BY_REASON.items():
        counter = CounterMetricFamily(f"roamcast_{metric}", meaning, labels=[label])
        for key, value in sorted(state[name].items()):
            counter.add_metric([key], value)
        yield counter
    for unit in ("entries", "bytes"):
        gauge = GaugeMetricFamily(f"roamcast_table_{unit}", f"Size in {unit} by table.", labels=["table"])
        for table, size in sorted(state["tables"].items()):
            gauge.add_metric([table], size[unit])
        yield gauge
    trips = GaugeMetricFamily("roamcast_round_trip_seconds", "Round trip by neighbour.", labels=["neighbour"])
    for each in state["neighbours"]:
        if each["round_trip"] is not None:
            trips.add_metric([str(each["node"])], each["round_trip"])
    yield trips
    if "mqtt" in state:
        yield GaugeMetricFamily(
            "roamcast_mqtt_connected", "Whether the broker is connected.", value=state["mqtt"]["connected"]
        )
        counter = CounterMetricFamily(
            "roamcast_mqtt_messages", "Messages by what became of them.", labels=["direction", "what"]
        )
        waiting = GaugeMetricFamily("roamcast_mqtt_waiting", "Unconfirmed messages.", labels=["direction"])
        for direction in ("inbound", "outbound"):
            for key, value in sorted(state["mqtt"][direction].items()):
                if key == "waiting":
                    waiting.add_metric([direction], value)
                else:
                    counter.add_metric([direction, key], value)
        yield counter
        yield waiting


@asynccontextmanager
async def serve_metrics(node: Node, address: str) -> AsyncIterator[int]:
    """Serve the metrics at an address; yields the port."""
    host, port = parse_address(address)
    registry = CollectorRegistry()
    registry.register(NodeCollector(node))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise LiveError(f"cannot serve metrics on {address}: {error.strerror or error}") from None
    try:
        yield server.server_port
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()
