"""The base class of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast.sim.node import Node


class Application:
    """A program on a node: it starts with the node, and a crash of the node erases its state."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def start(self) -> None:
        """Handle a start or restart of the node, which has a new router."""

    def stop(self) -> None:
        """Handle a crash of the node, which has no router any more."""

    def finish(self) -> None:
        """Handle the end of the run."""
