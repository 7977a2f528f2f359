"""What a router has seen: a bounded compiled set of numbers that forgets the oldest first (decision 0060)."""

from roamcast._kernel import Seen

__all__ = ["Seen"]
