"""The minimal cover of a changing set of filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roamcast.content.covering.candidates import FEW, Candidates
from roamcast.content.filter import Filter


class MinimalCover:
    """A set of filters that always knows its minimal cover: the filters that no other filter covers.

    Of equivalent filters, the first one is in the minimal cover. Each other filter has a guard, a filter of
    the minimal cover that covers it. Adding a filter searches for its guard; removing a filter affects only
    the filters that it guarded.
    """

    __slots__ = ("_members", "_minimal", "_next")

    def __init__(self, filters: Iterable[Filter] = (), few: int = FEW) -> None:
        self._members: dict[Filter, _Member] = {}
        self._minimal = Candidates(few)
        "The minimal cover. Covering is transitive, so guards and guarded filters are searched only here."
        self._next = 0
        for filter in filters:
            self.add(filter)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._members

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._members)

    def add(self, filter: Filter) -> bool:
        """Add a filter if it is new; return whether it is in the minimal cover."""
        if filter not in self._members:
            member = self._members[filter] = _Member(filter, self._next)
            self._next += 1
            self._place_member(member)
        return filter in self._minimal

    def discard(self, filter: Filter) -> None:
        """Remove a filter if it is in the set; filters that only it covered join the minimal cover."""
        member = self._members.pop(filter, None)
        if member is None:
            return
        if member.guard is None:
            self._minimal.remove(filter)
        else:
            del member.guard.wards[filter]
        for ward in member.wards.values():
            ward.guard = None
            self._place_member(ward)

    def replace_all(self, filters: Iterable[Filter]) -> None:
        """Replace the set by these filters; the cost depends only on the number of changes."""
        target = dict.fromkeys(filters)
        for filter in [filter for filter in self._members if filter not in target]:
            self.discard(filter)
        for filter in target:
            self.add(filter)

    def covers(self, filter: Filter) -> bool:
        """Return whether one of the filters covers `filter`."""
        return filter in self._members or self._find(filter) is not None

    def covering(self, filter: Filter) -> list[Filter]:
        """Return the filters of the minimal cover that cover `filter`."""
        return [wide for wide in self._minimal.over(filter) if wide.covers(filter)]

    def is_minimal(self, filter: Filter) -> bool:
        """Return whether `filter` is in the minimal cover."""
        return filter in self._minimal

    def minimal(self) -> list[Filter]:
        """Return the minimal cover, in the order in which the filters were added."""
        return [filter for filter in self._members if filter in self._minimal]

    def _find(self, filter: Filter) -> Filter | None:
        for wide in self._minimal.over(filter):
            if wide.covers(filter):
                return wide
        return None

    def _place_member(self, member: _Member) -> None:
        """Assign a guard to a member, or add it to the minimal cover as the guard of the filters that it
        covers.
        """
        filter = member.filter
        wide = self._find(filter)
        if wide is not None:
            guard = self._members[wide]
            if guard.number < member.number or not filter.covers(wide):
                member.guard = guard
                guard.wards[filter] = member
                return
        for narrow in [other for other in self._minimal.under(filter) if filter.covers(other)]:
            ward = self._members[narrow]
            self._minimal.remove(narrow)
            ward.guard = member
            member.wards[narrow] = ward
        self._minimal.add(filter)


class _Member:
    __slots__ = ("filter", "guard", "number", "wards")

    def __init__(self, filter: Filter, number: int) -> None:
        self.filter = filter
        self.number = number
        "Position in the order of adding."
        self.guard: _Member | None = None
        "A member that covers this one; None for members of the minimal cover."
        self.wards: dict[Filter, _Member] = {}
