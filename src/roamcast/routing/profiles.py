"""Profiles: named sets of parameter values, such as those of a protocol as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamcast.errors import UserError
from roamcast.routing.router import Router

AS_PUBLISHED = "as-published"
"The profile that disables all extensions beyond the protocol's paper."


LIVE = "live"
"The profile with timers for nodes on real sockets."


NS2 = "ns2"
"The profile with the parameters of ns-2's implementation of the protocol."


class UnknownProfile(UserError):
    """The protocol does not declare a profile of this name."""


def profiles(router: type[Router]) -> dict[str, Mapping[str, Any]]:
    """The profiles of a protocol by name."""
    named = {AS_PUBLISHED: router.as_published, NS2: router.ns2, LIVE: router.live}
    return {name: parameters for name, parameters in named.items() if parameters is not None}


def with_profile(router: type[Router], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `given` merged over the parameters of the profile that its key `profile` names, if there is
    one."""
    own = dict(given)
    name = own.pop("profile", None)
    if name is None:
        return own
    known = profiles(router)
    if name not in known:
        raise UnknownProfile(f"no profile {name!r}; the protocol has {', '.join(known)}")
    return _merge(_nest(known[name]), own)


def _nest(dotted: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in dotted.items():
        *path, last = key.split(".")
        here = nested
        for name in path:
            here = here.setdefault(name, {})
        here[last] = value
    return nested


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            merged[key] = _merge(under, value)
        else:
            merged[key] = value
    return merged
