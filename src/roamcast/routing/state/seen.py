"""Duplicate detection: bounded compiled sets of numbers that remove the oldest first (decision 0060).

`Seen` is for what a host may ask about (`Router.handled`) and for what many routers have; `Recent`, for what
few have and no host asks about, costs less. Without the compiled kernel both are a dict.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast._kernel import Recent, Seen
else:
    try:
        from roamcast._kernel import Recent, Seen
    except ImportError:
        from roamcast.routing.state.plain_seen import PlainSeen as Recent
        from roamcast.routing.state.plain_seen import PlainSeen as Seen

__all__ = ["Recent", "Seen"]
