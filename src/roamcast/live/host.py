"""The host that a router on a live node sees: the event loop's clock and timers, and the link."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable
from random import Random, SystemRandom
from typing import Any

from roamcast.live.link.clock import clock_of
from roamcast.live.link.link import Link
from roamcast.live.link.packets import Port
from roamcast.live.recording.observer import NodeObserver
from roamcast.live.security.signatures import SignedPublication, carried
from roamcast.live.timers import LiveTimer, TimerQueue
from roamcast.routing.numbering import INCARNATIONS
from roamcast.routing.router import (
    BROADCAST,
    Category,
    Drop,
    Message,
    NodeId,
    Position,
    Publication,
    Velocity,
)
from roamcast.wire.codec import LONGEST
from roamcast.wire.errors import WireError
from roamcast.wire.fast.writer import encode_fast

_log = logging.getLogger("roamcast.live")

_ROUTER = Port.ROUTER
_ENDLESS = math.inf
_URGENT = Category.ROUTING
"The category that goes first in the link's queues."


class LiveHost:
    """The host of one router."""

    def __init__(
        self,
        node: NodeId,
        incarnation: int,
        link: Link,
        deliver: Callable[[Publication], None],
        position: Position | None = None,
        *,
        refusal: Callable[[Publication, bool], str | None],
    ) -> None:
        """`refusal`: why an event is not delivered, if it is not (`Signatures.refusal`)."""
        self.node = node
        self.incarnation = incarnation % INCARNATIONS
        self.random = Random(SystemRandom().getrandbits(256))
        self.ended = False
        self.drops: Counter[str] = Counter()
        "Messages that went no further, by reason."
        self.states: dict[str, float] = {}
        "The latest value of each state that the router has reported."
        self.errors = 0
        "Exceptions out of the router."
        self._link = link
        self._deliver = deliver
        self._refusal = refusal
        self._position = position
        self.locate: Callable[[], tuple[Position, Velocity]] | None = None
        "Where the node is and how it moves; replaces the configured position."
        self._observer = NodeObserver()
        self._observing = False
        self._loop = asyncio.get_running_loop()
        self._time = clock_of(self._loop)
        self._start = self._time()
        self.timers = TimerQueue(self._loop, self.guard, link.hold, link.release)

    @property
    def observer(self) -> NodeObserver:
        """The observer of the router's actions."""
        return self._observer

    @observer.setter
    def observer(self, observer: NodeObserver) -> None:
        self._observer = observer
        self._observing = type(observer) is not NodeObserver  # that ignores everything

    def now(self) -> float:
        """Return the seconds since the node started, by a clock that nobody sets."""
        return self._time() - self._start

    def broadcast(self, message: Message) -> None:
        """Give `message` to everyone in range."""
        port, data = self._encode(message)
        if data:
            if self._observing:
                self._observer.sent(message, BROADCAST, len(data))
            self._link.broadcast(port, data, message.category is _URGENT)

    def send(self, message: Message, to: NodeId) -> None:
        """Give `message` to the neighbour `to`; the router's `link_failed` follows if that fails."""
        port, data = self._encode(message)
        if data:
            if self._observing:
                self._observer.sent(message, to, len(data))
            self._link.send(port, data, to, message, message.category is _URGENT)

    def _encode(self, message: Message) -> tuple[Port, bytes]:
        """Return the port and the bytes of a message; no bytes if it cannot be sent."""
        if self.ended:
            return _ROUTER, b""
        try:
            data = encode_fast(message)
            publication = carried(message)
            if not isinstance(publication, SignedPublication):
                return _ROUTER, data
            data = publication.proof + data
            if len(data) > LONGEST:
                raise WireError(f"{len(data)} bytes with the signature; the maximum is {LONGEST}")
            return Port.SIGNED, data
        except WireError as error:
            self.drops["too_large"] += 1
            _log.error("a message cannot be sent: %s", error)
            return _ROUTER, b""

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> LiveTimer:
        """Call `action(*args)` after `delay` seconds."""
        if not 0 <= delay < _ENDLESS:
            raise ValueError(f"a delay must be finite and not negative, not {delay!r}")
        return self.timers.add(delay, action, args)

    def withdraw(self, neighbour: NodeId) -> list[Message]:
        """Take back, in order, what waits in the link for `neighbour`."""
        return [token for token in self._link.withdraw(neighbour) if isinstance(token, Message)]

    def position(self) -> Position:
        """Return the node's position; raises `PermissionError` where none is known."""
        if self.locate is not None:
            return self.locate()[0]
        if self._position is None:
            raise PermissionError("this node has no position; its configuration can say `position = [x, y]`")
        return self._position

    def velocity(self) -> Velocity:
        """Return the node's velocity; a configured position does not move."""
        if self.locate is not None:
            return self.locate()[1]
        self.position()
        return Velocity(0.0, 0.0)

    def distance(self, signal: float) -> float:
        """Return nan: what a signal says of distance is not known."""
        return math.nan

    def deliver(self, publication: Publication) -> None:
        """Hand an event to the subscriptions of this node."""
        if self.ended:
            return
        refusal = self._refusal(publication, True)
        if refusal is not None:
            self.drops[refusal] += 1
            return
        self.observer.delivered(publication)
        self._deliver(publication)

    def drop(self, message: Message, reason: Drop, to: NodeId = BROADCAST) -> None:
        """Count a drop by its reason."""
        self.drops[reason.name.lower()] += 1
        self.observer.dropped(message, reason, to)

    def state(self, name: str, value: float) -> None:
        """Note the latest value of a state."""
        self.states[name] = value
        self.observer.state(name, value)

    def guard(self, action: Callable[..., Any], *args: Any) -> Any:
        """Call the router; an exception is counted and logged, and the node goes on."""
        if self.ended:
            return None
        try:
            return action(*args)
        except Exception:
            self.note_error()
            return None

    def note_error(self) -> None:
        """Count and log the exception that is being handled, which came out of the router."""
        self.errors += 1
        _log.exception("the router failed")
