"""The status of a node as data: identity, neighbours, routes, tables, counters."""

from __future__ import annotations

from typing import Any

from roamcast.live.node import Node


def view(node: Node) -> dict[str, Any]:
    """Return a node's state as a JSON object."""
    now = node.link.now()
    return {
        "node": node.id,
        "name": node.config.name,
        "protocol": node.config.protocol,
        "network": node.key.network.hex(),
        "open": node.key.is_open,
        "incarnation": node.incarnation,
        "uptime": round(node.host.now(), 3),
        "published": node.published,
        "delivered": node.delivered,
        "subscriptions": [str(each.filter) for each in node.subscriptions],
        "neighbours": [
            {
                "node": peer.node,
                "name": greeted.name if (greeted := node.greeting.known.get(peer.node)) else "",
                "heard": round(now - peer.heard, 3),
                "round_trip": None if peer.round_trip.mean is None else round(peer.round_trip.mean, 6),
                "waiting": len(peer.waiting) + len(peer.urgent) + len(peer.inflight),
                "failures": peer.failures,
            }
            for peer in node.link.peers.values()
            if peer.heard
        ],
        "other_protocols": {str(node): protocol.hex() for node, protocol in node.opener.foreign.items()},
        "clashes": sorted(node.greeting.clashes),
        "routes": {str(to): via for to, via in node.router.routes().items()},
        "types": sorted(node.types.by_name),
        "tables": {name: each._asdict() for name, each in node.router.tables().items()},
        "states": dict(node.host.states),
        "link": dict(node.link.counts),
        "refused": {reason.name.lower(): count for reason, count in node.opener.refused.items()},
        "drops": dict(node.host.drops),
        "malformed": node.malformed,
        "router_errors": node.host.errors,
        **{name: report() for name, report in node.reports.items()},
    }
