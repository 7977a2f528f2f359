"""Serial numbers of four bytes, compared in a circle (RFC 1982): after the highest comes 0.

Every serial is newer than half of the others, so no serial is final: whatever number somebody gives out in a
node's name, the node can outdo it.
"""

from __future__ import annotations

SERIALS = 2**32
"Serials are counted modulo this."


def following(serial: int) -> int:
    """Return the serial after `serial`."""
    return (serial + 1) % SERIALS


def behind(serial: int, newest: int) -> int:
    """Return how many steps lead from `serial` to `newest`."""
    return (newest - serial) % SERIALS


def is_newer(serial: int, than: int) -> bool:
    """Return whether `serial` comes after `than`; two serials half a circle apart are both newer.

    RFC 1982 leaves that case open. If neither were newer, a node that holds one would refuse the other for
    ever.
    """
    return 0 < (serial - than) % SERIALS <= SERIALS // 2
