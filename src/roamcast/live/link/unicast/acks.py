"""Acknowledgements of the link, which wait a moment for a packet that can carry them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from roamcast.live.link.unicast.deadline import Deadline
from roamcast.wire.field import NodeId

ACK_HOLD = 0.012
"Seconds for which an acknowledgement waits for a packet to the same neighbour that can carry it."


class _Held:
    """Acknowledgements for one neighbour that wait."""

    __slots__ = ("due", "numbers")

    def __init__(self, due: float) -> None:
        self.due = due
        self.numbers: list[int] = []


class HeldAcks:
    """The acknowledgements of one node that wait, by neighbour."""

    def __init__(self, deadline: Deadline, send: Callable[[NodeId, list[int]], None], most: int) -> None:
        """`send` sends acknowledgements in a packet of their own; as many as `most` do not wait.

        The action of `deadline` calls `flush`.
        """
        self._deadline = deadline
        self._send = send
        self._most = most
        self._held: dict[NodeId, _Held] = {}
        self._prompt = False
        "Whether some do not wait."

    def add(self, node: NodeId, number: int, prompt: bool, now: float) -> None:
        """Acknowledge a packet of a neighbour; `prompt`: with the next `flush`."""
        held = self._held.get(node)
        if held is None:
            due = now + ACK_HOLD
            held = self._held[node] = _Held(due)
            if due < self._deadline.when:
                self._deadline.ask(due)
        held.numbers.append(number)
        if prompt:
            held.due = 0.0
            self._prompt = True
        elif len(held.numbers) >= self._most:
            self._prompt = True

    def take(self, node: NodeId, most: int) -> list[int] | None:
        """Return and forget what waits for a neighbour; nothing if these are more than `most`."""
        held = self._held.get(node)
        if held is None or len(held.numbers) > most:
            return None
        del self._held[node]
        return held.numbers

    def flush_prompt(self) -> None:
        """Send what does not wait."""
        if self._prompt:
            self.flush(0.0)

    def flush(self, now: float) -> None:
        """Send what is due at `now`, and what does not wait."""
        self._prompt = False
        if not self._held:
            return
        earliest = inf
        for node, held in list(self._held.items()):
            if held.due <= now or len(held.numbers) >= self._most:
                del self._held[node]
                self._send(node, held.numbers)
            else:
                earliest = min(earliest, held.due)
        self._deadline.ask(earliest)

    def close(self) -> None:
        """Forget all."""
        self._held.clear()
