"""Receipts: what became of a publication, as far as the protocol confirms it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from roamcast.live.errors import LiveError
from roamcast.routing.router import NodeId, Publication


class NotConfirmed(LiveError):
    """A publication that not all its receivers acknowledged, or a protocol without acknowledgements."""


class Receipt:
    """The receipt of one publication."""

    def __init__(self, publication: Publication, confirms: str | None, recall: float = 0.0) -> None:
        """`confirms`: the name of a protocol that does not confirm, None if it does.

        `recall`: how long after the publication a subscription that was on its way still gets it [s].
        """
        self.publication = publication
        self._without = confirms
        self.receivers: set[NodeId] = set()
        "Nodes that have acknowledged it, and deliver it to their applications."
        self.lost: set[NodeId] = set()
        "Nodes that were to get it, and for which the router gave up waiting."
        self._news = asyncio.Event()
        self._stopped = False
        loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = loop.create_future()
        self._open_until = loop.time() + recall
        "When no further subscription can get it, by the clock of the loop [s]."

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
        """Wait until `count` nodes have acknowledged it, also such as subscribe later, and return them.

        Raises `NotConfirmed` if no receiver is waited for and no further subscription can get it, if the node
        stopped first, or if the protocol has no acknowledgements.
        """
        if self._without is not None:
            raise NotConfirmed(f"{self._without} does not acknowledge events; raft-cbr does")
        loop = asyncio.get_running_loop()
        while len(self.receivers) < count:
            left = self._open_until - loop.time()
            if self._stopped:
                raise NotConfirmed(self._stop_message)
            if self.settled and left <= 0:
                raise NotConfirmed(
                    f"publication {self.id} was acknowledged by {len(self.receivers)} nodes, expected"
                    f" {count}; no further subscription can get it"
                )
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left if left > 0 else None)
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
            self._news.set()

    def cancel(self) -> None:
        """End the wait: the node stops."""
        self._stopped = True
        self._news.set()
        if not self._done.done():
            self._done.set_exception(NotConfirmed(self._stop_message))
            self._done.exception()  # nobody need ask

    @property
    def _stop_message(self) -> str:
        return f"the node stopped before publication {self.id} was acknowledged"
