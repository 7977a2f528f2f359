"""Protocols by name: ours, and those that other packages add by the entry point `roamcast.routers`."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from roamcast.errors import UserError

if TYPE_CHECKING:
    from roamcast.routing.router import Router

ENTRY_POINT = "roamcast.routers"

BUILT_IN: dict[str, str] = {
    "flooding": "roamcast.routing.flooding:Flooding",
    "cbr": "roamcast.routing.cbr.cbr:Cbr",
    "ft-cbr": "roamcast.routing.cbr.ft:FtCbr",
    "raft-cbr": "roamcast.routing.cbr.raft.raft:RaftCbr",
    "p-pubs": "roamcast.routing.tpsr.ppubs:PPubs",
    "tpsr": "roamcast.routing.tpsr.tpsr:Tpsr",
    "dsdv-unicast": "roamcast.routing.unicast.copies:DsdvUnicast",
    "grid-cbr": "roamcast.routing.clone.grid:GridCbr",
    "clone": "roamcast.routing.clone.clone:Clone",
    "aodv-unicast": "roamcast.routing.unicast.copies:AodvUnicast",
    "dsr-unicast": "roamcast.routing.unicast.copies:DsrUnicast",
    "gpsr-unicast": "roamcast.routing.unicast.gpsr.baseline:GpsrUnicast",
    "odmrp": "roamcast.routing.odmrp.odmrp:Odmrp",
    "pubsub-odmrp": "roamcast.routing.odmrp.pubsub.pubsub:PubSubOdmrp",
}
"Name -> module:class; imported when asked for, so that listing protocols costs nothing."


class UnknownProtocol(UserError):
    """A protocol name that neither Roamcast nor an installed package knows."""


def names() -> list[str]:
    """All protocol names, ours first."""
    third_party = sorted({entry.name for entry in entry_points(group=ENTRY_POINT)} - BUILT_IN.keys())
    return [*BUILT_IN, *third_party]


def find(name: str) -> type[Router]:
    """The router class called `name`."""
    from roamcast.routing.router import Router

    if name in BUILT_IN:
        module, _, cls = BUILT_IN[name].partition(":")
        found = getattr(import_module(module), cls)
    else:
        entries = [entry for entry in entry_points(group=ENTRY_POINT) if entry.name == name]
        if not entries:
            near = difflib.get_close_matches(name, names(), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names())}"
            raise UnknownProtocol(f"no protocol is called {name!r}; {hint}")
        found = entries[0].load()
    if not (isinstance(found, type) and issubclass(found, Router)):
        raise UnknownProtocol(f"the entry point {name!r} gives {found!r}, which is not a Router class")
    return found
