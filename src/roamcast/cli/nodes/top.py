"""The command `roamcast top`: show the state of a live node."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Any

from roamcast.cli.shared.live import ConfigFile, Json, run
from roamcast.live.config import read_config
from roamcast.live.control import ask
from roamcast.live.errors import LiveError


def command(config: ConfigFile, json: Json = False) -> None:
    """Print neighbours, routes, tables and counters of the node that runs with CONFIG."""
    run(_show(config, json))


async def _show(file: Path, json: bool) -> int:
    control = read_config(file).control
    if control is None:
        raise LiveError(f"{file}: no `control` socket is configured")
    async for answer in ask(control, {"do": "top"}):
        print(json_module.dumps(answer) if json else describe(answer))
    return 0


def describe(state: dict[str, Any]) -> str:
    """Return a node's state as text."""
    name = f" ({state['name']})" if state["name"] else ""
    lines = [
        f"node {state['node']}{name}: {state['protocol']}, incarnation {state['incarnation']},"
        f" up {state['uptime']:.0f} s, {state['published']} published, {state['delivered']} delivered",
        *(f"subscription {each}" for each in state["subscriptions"]),
    ]
    for each in state["neighbours"]:
        trip = "" if each["round_trip"] is None else f", round trip {1000 * each['round_trip']:.1f} ms"
        name = f" ({each['name']})" if each["name"] else ""
        lines.append(f"neighbour {each['node']}{name}: heard {each['heard']:.1f} s ago{trip}")
    lines += [f"route to {to} by {hop}" for to, hop in state["routes"].items()]
    lines += [
        f"another protocol: node {node}, {protocol}" for node, protocol in state["other_protocols"].items()
    ]
    lines += [f"duplicate id: two nodes use {node}" for node in state["clashes"]]
    for title in ("link", "refused", "drops"):
        if state[title]:
            counts = ", ".join(f"{key} {value}" for key, value in sorted(state[title].items()))
            lines.append(f"{title}: {counts}")
    return "\n".join(lines)
