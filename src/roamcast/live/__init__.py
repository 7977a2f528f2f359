"""Live nodes: the routers of `roamcast.routing` on real sockets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roamcast.live.config import Config, read_config
    from roamcast.live.errors import LiveError
    from roamcast.live.node import Full, Node
    from roamcast.live.receipt import NotConfirmed, Receipt
    from roamcast.live.subscription import Subscription

__all__ = ["Config", "Full", "LiveError", "Node", "NotConfirmed", "Receipt", "Subscription", "read_config"]

_HOMES = {
    "Config": "config",
    "Full": "node",
    "LiveError": "errors",
    "Node": "node",
    "NotConfirmed": "receipt",
    "Receipt": "receipt",
    "Subscription": "subscription",
    "read_config": "config",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: the parts of a link need no router."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
