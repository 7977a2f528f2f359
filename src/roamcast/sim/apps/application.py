"""What all applications are to their node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast.sim.node import Node


class Application:
    """A program on a node: it starts with the node, and what it knew is gone when the node crashes."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def start(self) -> None:
        """Begin, or begin again: the node has started, with a new router."""

    def stop(self) -> None:
        """The node has crashed, and its router is gone."""

    def finish(self) -> None:
        """The run is over."""
