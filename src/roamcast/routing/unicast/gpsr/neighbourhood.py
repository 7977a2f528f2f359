"""Where neighbours are, and the ways on from there: a compiled table under lease with the geometry of greedy
and perimeter forwarding on it (decision 0157)."""

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
    """The square of the distance between two places, in cm²."""
    x, y = a[0] - b[0], a[1] - b[1]
    return x * x + y * y
