"""Leases: a bounded table of soft state that expires unless it is renewed.

It is compiled (kernel/python/leases.cpp); `PlainLeases` has the rules and documents the methods.
"""

from typing import TYPE_CHECKING, TypeVar

from roamcast.routing.state.plain_leases import PlainLeases, UnequalLeases

K = TypeVar("K")
V = TypeVar("V")

if TYPE_CHECKING:
    Leases = PlainLeases
else:
    try:
        from roamcast._kernel import LeaseTable

        class Leases(LeaseTable, UnequalLeases[K, V]):
            """The compiled table; leases of unequal duration are dealt with in Python."""

            __slots__ = ()
    except ImportError:
        Leases = PlainLeases

__all__ = ["Leases"]
