"""Failures of routers: protocol, node, time and message."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from roamcast._kernel import BrokenContract
from roamcast.errors import UserError
from roamcast.routing.router import Message, NodeId, Router


class RouterFailed(Exception):
    """A router raised an error or violated its contract; the original error is the cause."""

    def __init__(self, protocol: str, error: Exception | SystemExit, now: float) -> None:
        self.protocol = protocol
        self.time = now
        self.node, self.message = _find(error.__traceback__)
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, BrokenContract):
            self.node, what = error.args
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        at = "" if self.node is None else f" on node {self.node}"
        over = "" if self.message is None else f" over {self.message}"
        reason = " ".join(what.split())[:300]
        super().__init__(f"{protocol} failed{at} at {now:.6f} s{over}: {reason}{where}")
        self.traceback = "".join(traceback.format_exception(error))
        "The full traceback, for debugging the router."


def router_failure(protocol: str, error: Exception | SystemExit, now: float) -> Exception | SystemExit:
    """Return a `RouterFailed` if a router was running when `error` was raised, otherwise the error itself."""
    if isinstance(error, UserError | MemoryError | RouterFailed):
        return error
    if isinstance(error, BrokenContract):
        return RouterFailed(protocol, error, now)
    trace = error.__traceback__
    while trace is not None:
        if isinstance(trace.tb_frame.f_locals.get("self"), Router) or _is_routers(trace):
            return RouterFailed(protocol, error, now)
        trace = trace.tb_next
    return error


def _is_routers(trace: TracebackType) -> bool:
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.startswith("roamcast.routing.")


def _find(trace: TracebackType | None) -> tuple[NodeId | None, str | None]:
    """Return the node whose router was running, and the message that it was handling, from the frames."""
    node: NodeId | None = None
    message: str | None = None
    while trace is not None:
        names = trace.tb_frame.f_locals
        node = _node_of(names.get("self")) if node is None else node
        message = next((_shorten(value) for value in names.values() if isinstance(value, Message)), message)
        trace = trace.tb_next
    return node, message


def _node_of(worker: Any) -> NodeId | None:
    """Return the node of an object: of a router or its part by the host, or of an application."""
    host = getattr(worker, "host", None) or getattr(worker, "_host", None)
    node = getattr(host or worker, "node", None)
    node = getattr(node, "number", node)
    return node if isinstance(node, int) else None


def _shorten(message: Message) -> str:
    text = " ".join(repr(message).split())
    return text if len(text) <= 200 else f"{text[:197]}..."
