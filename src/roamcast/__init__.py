"""Simulator and protocols of content-based publish/subscribe in mobile ad hoc networks.

The names below are the public interface (docs/api.md). Each is imported when it is first used, so that
`import roamcast` is quick and needs only the libraries of the core.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roamcast import lake
    from roamcast.api.campaigns import Campaign, compare
    from roamcast.api.runs import run
    from roamcast.content.filter import Filter
    from roamcast.content.schema import EventType
    from roamcast.facts.tables import Facts
    from roamcast.routing.router import Router
    from roamcast.scenario.model import Scenario
    from roamcast.testing import Mesh
    from roamcast.wire.message import Message

__version__ = "0.1.0"
__all__ = [
    "Campaign",
    "EventType",
    "Facts",
    "Filter",
    "Mesh",
    "Message",
    "Router",
    "Scenario",
    "compare",
    "lake",
    "run",
]

_WHERE = {
    "Campaign": "roamcast.api.campaigns",
    "EventType": "roamcast.content.schema",
    "Facts": "roamcast.facts.tables",
    "Filter": "roamcast.content.filter",
    "Mesh": "roamcast.testing",
    "Message": "roamcast.wire.message",
    "Router": "roamcast.routing.router",
    "Scenario": "roamcast.scenario.model",
    "compare": "roamcast.api.campaigns",
    "run": "roamcast.api.runs",
}


def __getattr__(name: str) -> Any:
    if name == "lake":
        return import_module("roamcast.lake")  # the package is callable: roamcast.lake(FOLDER)
    if name not in _WHERE:
        raise AttributeError(f"module 'roamcast' has no attribute {name!r}")
    try:
        found = getattr(import_module(_WHERE[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "roamcast":
            raise
        raise ImportError(
            f"roamcast.{name} needs {error.name}: pip install 'roamcast[lab]'", name=error.name
        ) from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
