"""Numbers of publications and packets: a node that lost its memory does not use one twice."""

from __future__ import annotations

from hashlib import blake2b

from roamcast.routing.router import Host
from roamcast.routing.state.seen import Seen

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


class PacketNumbers:
    """The numbers of a source's packets in one incarnation, in an order that nobody else can foresee.

    Whoever hears a packet takes all that follow with its number for copies, and nothing on the air is signed:
    if a stranger could name a number before its owner, the owner's packet would go nowhere.
    """

    def __init__(self, host: Host, remember: int) -> None:
        """Not to use a number twice within as many packets as others remember."""
        self._base = host.incarnation % INCARNATIONS << _COUNT_BITS
        # What the host's generator holds is secret, too, and a look changes nothing that is drawn later.
        self._key = blake2b(repr(host.random.getstate()).encode(), digest_size=32).digest()
        self._count = 0
        self._used = Seen(min(remember, 1 << _COUNT_BITS - 1))

    def take(self) -> int:
        """The next number."""
        while True:
            self._count += 1
            count = self._count.to_bytes(8, "big")
            drawn = blake2b(count, key=self._key, digest_size=_COUNT_BITS // 8).digest()
            number = self._base | int.from_bytes(drawn, "big")
            if self._used.add(number):
                return number
