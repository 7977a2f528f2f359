"""Numbers of publications and packets, which a node does not reuse after it has lost its memory."""

from __future__ import annotations

from hashlib import blake2b

from roamcast.routing.router import Host
from roamcast.routing.state.seen import Seen

INCARNATIONS = 256
"Incarnations are counted modulo this number."

_COUNT_BITS = 24
"Number of low bits of a sequence number that count; the bits above hold the incarnation."


class SequenceNumbers:
    """Generator of one publisher's sequence numbers in one incarnation; the count starts at 1."""

    def __init__(self, incarnation: int) -> None:
        self._base = incarnation % INCARNATIONS << _COUNT_BITS
        self._count = 0

    def take(self) -> int:
        """Return the next sequence number; raise `OverflowError` if the count is exhausted."""
        self._count += 1
        if self._count >> _COUNT_BITS:
            raise OverflowError(f"more than {(1 << _COUNT_BITS) - 1} publications of one publisher")
        return self._base | self._count


class PacketNumbers:
    """Generator of a source's packet numbers in one incarnation, in an order that other nodes cannot predict.

    Nodes drop a packet whose number they have seen, and messages are not signed: if another node could
    predict a number, it could send it first, and the source's own packet would be dropped.
    """

    def __init__(self, host: Host, remember: int) -> None:
        """Create a generator that does not repeat a number within `remember` packets."""
        self._base = host.incarnation % INCARNATIONS << _COUNT_BITS
        # The state of the host's generator is secret as well, and reading it does not change later draws.
        self._key = blake2b(repr(host.random.getstate()).encode(), digest_size=32).digest()
        self._count = 0
        self._used = Seen(min(remember, 1 << _COUNT_BITS - 1))

    def take(self) -> int:
        """Return the next packet number."""
        while True:
            self._count += 1
            count = self._count.to_bytes(8, "big")
            drawn = blake2b(count, key=self._key, digest_size=_COUNT_BITS // 8).digest()
            number = self._base | int.from_bytes(drawn, "big")
            if self._used.add(number):
                return number
