"""The numbers of publications: a publisher that lost its memory does not use one twice."""

from __future__ import annotations

INCARNATIONS = 256
"Incarnations are counted modulo this."

_COUNT_BITS = 24
"The lower bits of a sequence number count; those above name the incarnation."


class SequenceNumbers:
    """The sequence numbers of one publisher in one incarnation, from 1."""

    def __init__(self, incarnation: int) -> None:
        self._base = incarnation % INCARNATIONS << _COUNT_BITS
        self._count = 0

    def take(self) -> int:
        """The next number."""
        self._count += 1
        if self._count >> _COUNT_BITS:
            raise OverflowError(f"more than {(1 << _COUNT_BITS) - 1} publications of one publisher")
        return self._base | self._count
