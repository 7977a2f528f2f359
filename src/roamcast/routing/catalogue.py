"""Protocols by name: ours, and those that other packages add by the entry point `roamcast.routers`."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

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


class BrokenProtocol(UserError):
    """A protocol of another package that cannot be used, with the reason."""


def _load(name: str, entry: EntryPoint) -> Any:
    """What an entry point of another package names; whatever goes wrong in there is told in a line."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # its import runs code that is not ours
        package = f" of {entry.dist.name}" if entry.dist is not None else ""
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        raise BrokenProtocol(
            f"the protocol {name!r}{package} ({entry.value}) cannot be loaded: {told}"
        ) from error


def working() -> tuple[list[str], dict[str, str]]:
    """The names of all protocols that can be loaded; and of those that cannot, with the reason."""
    known: list[str] = []
    broken: dict[str, str] = {}
    for name in names():
        try:
            find(name)
            known.append(name)
        except UserError as error:
            broken[name] = str(error)
    return known, broken


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
        found = _load(name, entries[0])
    if not (isinstance(found, type) and issubclass(found, Router)):
        raise BrokenProtocol(f"the entry point {name!r} gives {found!r}, which is not a Router class")
    return found


def roles(name: str) -> dict[str, str]:
    """Return the role of each kind of message of protocol `name`, as facts record it; envelopes have none."""
    messages = find(name).messages
    return {message.__name__: message.role.name.lower() for message in messages if not message.envelope}
