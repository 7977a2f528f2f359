"""Table of neighbours' positions with leases, and the geometry of greedy and perimeter forwarding.

It is compiled (decision 0157).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast._kernel import AROUND, STUCK, TAKEN, Places
else:
    try:
        from roamcast._kernel import AROUND, STUCK, TAKEN, Places
    except ImportError:
        from roamcast.routing.unicast.gpsr.plain_places import AROUND, STUCK, TAKEN
        from roamcast.routing.unicast.gpsr.plain_places import PlainPlaces as Places

__all__ = ["AROUND", "STUCK", "TAKEN", "Places", "squared"]


def squared(a: tuple[int, int], b: tuple[int, int]) -> int:
    """Return the squared distance between two points [cm²]."""
    x, y = a[0] - b[0], a[1] - b[1]
    return x * x + y * y
