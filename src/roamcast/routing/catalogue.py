"""Protocols by name: entry points of the group `roamcast.routers`, and classes in files (`FILE.py:CLASS`).

Roamcast declares its own protocols in its pyproject.toml, as every other package does.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError

if TYPE_CHECKING:
    from roamcast.routing.router import Router
    from roamcast.routing.router_file import RouterFile

ENTRY_POINT = "roamcast.routers"

_added: dict[str, type[Router] | RouterFile] = {}
"Protocols added in this process only, by name: classes, or files that are executed on first use."


class UnknownProtocol(UserError):
    """A protocol name that no installed package and no given file has."""


class BrokenProtocol(UserError):
    """A protocol that cannot be used, with the reason."""


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the entry points of all installed protocols by name: Roamcast's own, then the others sorted.

    If several distributions use one name, Roamcast's own protocol is taken, otherwise the first that Python
    finds. The result is cached, because the search takes 3 ms.
    """
    found: dict[str, EntryPoint] = {}
    own: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINT):
        (own if entry.module.startswith("roamcast.") else found).setdefault(entry.name, entry)
    return own | {name: found[name] for name in sorted(found.keys() - own.keys())}


def names() -> list[str]:
    """Return all protocol names: those installed, then those added."""
    return list(dict.fromkeys([*installed(), *_added]))


def add(name: str, router: type[Router] | RouterFile) -> None:
    """Make `router` known as `name` in this process; an installed protocol keeps its name."""
    if name in installed():
        raise UserError(f"a protocol called {name!r} is installed already; give the class another name")
    _added[name] = router


def remove(name: str) -> None:
    """Remove a protocol that was added."""
    _added.pop(name, None)


def file_of(name: str) -> RouterFile | None:
    """Return the file that the protocol `name` was added from, if it was."""
    from roamcast.routing.router_file import RouterFile

    router = _added.get(name)
    return router if isinstance(router, RouterFile) else None


def _load(name: str, entry: EntryPoint) -> Any:
    """Return the object that an entry point names; an error while loading becomes one line."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # its import runs code of another package
        package = f" of {entry.dist.name}" if entry.dist is not None else ""
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise BrokenProtocol(
            f"the protocol {name!r}{package} ({entry.value}) cannot be loaded: {reason}"
        ) from error


def working() -> tuple[list[str], dict[str, str]]:
    """Return the names of the protocols that can be loaded, and the reason for each that cannot."""
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
    """Return the router class called `name`."""
    from roamcast.routing.router import Router

    added = _added.get(name)
    if added is not None:
        return added if isinstance(added, type) else added.load()
    entry = installed().get(name)
    if entry is None:
        near = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names())}"
        raise UnknownProtocol(f"unknown protocol {name!r}; {hint}")
    found = _load(name, entry)
    if not (isinstance(found, type) and issubclass(found, Router)):
        raise BrokenProtocol(f"the entry point {name!r} refers to {found!r}; expected a subclass of Router")
    return found


def roles(name: str) -> dict[str, str]:
    """Return the role of each message kind of protocol `name`, as recorded in the facts.

    Envelopes have none.
    """
    messages = find(name).messages
    return {message.__name__: message.role.value for message in messages if not message.envelope}
