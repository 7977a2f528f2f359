"""Receipts: what became of a publication, as far as the protocol confirms it."""

from __future__ import annotations

import asyncio

from roamcast.live.errors import LiveError
from roamcast.routing.router import NodeId, Publication


class NotConfirmed(LiveError):
    """A publication that not all its receivers acknowledged, or a protocol without acknowledgements."""


class Receipt:
    """The receipt of one publication."""

    def __init__(self, publication: Publication, confirms: str | None) -> None:
        """`confirms`: the name of a protocol that does not confirm, None if it does."""
        self.publication = publication
        self._without = confirms
        self.receivers: set[NodeId] = set()
        "Nodes that have acknowledged it, and deliver it to their applications."
        self.lost: set[NodeId] = set()
        "Nodes that were to get it, and for which the router gave up waiting."
        self._news = asyncio.Event()
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def id(self) -> int:
        """The id of the publication in the whole network."""
        return self.publication.id

    @property
    def settled(self) -> bool:
        """Whether no receiver is waited for any more."""
        return self._done.done()

    async def acknowledged(self) -> frozenset[NodeId]:
        """Wait until every node it was addressed to has acknowledged it, and return those nodes.

        Empty if no subscription matched. Raises `NotConfirmed` if the router gave up on a receiver, if the
        node stopped first, or if the protocol has no acknowledgements.
        """
        if self._without is not None:
            raise NotConfirmed(f"{self._without} does not acknowledge events; raft-cbr does")
        await asyncio.shield(self._done)
        if self.lost:
            nodes = ", ".join(map(str, sorted(self.lost)))
            raise NotConfirmed(f"publication {self.id} was not acknowledged by {nodes}")
        return frozenset(self.receivers)

    async def received_by(self, count: int) -> frozenset[NodeId]:
        """Wait until `count` nodes have acknowledged it, also such as subscribe later, and return them."""
        if self._without is not None:
            raise NotConfirmed(f"{self._without} does not acknowledge events; raft-cbr does")
        while len(self.receivers) < count:
            self._news.clear()
            await self._news.wait()
        return frozenset(self.receivers)

    def note(self, receiver: NodeId, acknowledged: bool | None) -> None:
        """Take what the router says of one receiver (`Router.settled`)."""
        if acknowledged is not None:
            (self.receivers if acknowledged else self.lost).add(receiver)
        self._news.set()

    def settle(self) -> None:
        """Note that no receiver is waited for any more."""
        if not self._done.done():
            self._done.set_result(None)

    def cancel(self) -> None:
        """End the wait: the node stops."""
        if not self._done.done():
            self._done.set_exception(
                NotConfirmed(f"the node stopped before publication {self.id} was acknowledged")
            )
            self._done.exception()  # nobody need ask
