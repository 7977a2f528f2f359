"""Duplicate detection: bounded compiled sets of numbers that remove the oldest first (decision 0060).

`Seen` shares memory between routers: use it for numbers that many nodes see, and for `Router.handled`.
`Recent` costs less for numbers that few nodes see. Without the compiled kernel both are a dict.
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
