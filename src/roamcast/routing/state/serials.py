"""Four-byte serial numbers with circular comparison (RFC 1982): the highest is followed by 0.

Every serial is newer than half of all serials, so none is final: a node can always exceed a serial that
another node forged in its name.
"""

from __future__ import annotations

SERIALS = 2**32
"Serials are counted modulo this number."


def following(serial: int) -> int:
    """Return the serial after `serial`."""
    return (serial + 1) % SERIALS


def behind(serial: int, newest: int) -> int:
    """Return the number of steps from `serial` to `newest`."""
    return (newest - serial) % SERIALS


def is_newer(serial: int, than: int) -> bool:
    """Return whether `serial` is newer than `than`; of two serials half a circle apart, each is newer.

    RFC 1982 leaves that case open. If neither were newer, a node that holds one would reject the other
    permanently.
    """
    return 0 < (serial - than) % SERIALS <= SERIALS // 2
