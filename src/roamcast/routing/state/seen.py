"""What a router has seen: a bounded compiled set of numbers that forgets the oldest first (decision 0060).

`Seen` is for what a host may ask about (`Router.handled`) and for what many routers have; `Recent`, for what
few have and no host asks about, costs less.
"""

from roamcast._kernel import Recent, Seen

__all__ = ["Recent", "Seen"]
