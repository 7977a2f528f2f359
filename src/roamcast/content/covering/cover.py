"""A cover: filters that come and go, and the fewest of them that stand for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roamcast.content.covering.candidates import FEW, Candidates
from roamcast.content.filter import Filter


class MinimalCover:
    """Filters, of which those that no other covers are known at any moment; of equals the first that came.

    Each of the others has a guard, one filter that covers it. Who comes needs a guard or is one, and who goes
    leaves behind only those that it guarded; nobody else is asked anything.
    """

    __slots__ = ("_members", "_minimal", "_next")

    def __init__(self, filters: Iterable[Filter] = (), few: int = FEW) -> None:
        self._members: dict[Filter, _Member] = {}
        self._minimal = Candidates(few)
        "Covering is transitive, so it is enough to look among these, for guards and for whom to guard."
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
        """Take a filter in, if it is new; say whether no other covers it."""
        if filter not in self._members:
            member = self._members[filter] = _Member(filter, self._next)
            self._next += 1
            self._place_member(member)
        return filter in self._minimal

    def discard(self, filter: Filter) -> None:
        """Let a filter go, if it is there; what it alone covered stands for itself again."""
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
        """Hold exactly these filters; costs only as much as has changed."""
        wanted = dict.fromkeys(filters)
        for filter in [filter for filter in self._members if filter not in wanted]:
            self.discard(filter)
        for filter in wanted:
            self.add(filter)

    def covers(self, filter: Filter) -> bool:
        """Whether one of the filters covers `filter`."""
        return filter in self._members or self._find(filter) is not None

    def covering(self, filter: Filter) -> list[Filter]:
        """Those of the minimal cover that cover `filter`."""
        return [wide for wide in self._minimal.over(filter) if wide.covers(filter)]

    def is_minimal(self, filter: Filter) -> bool:
        """Whether `filter` is one of the minimal cover."""
        return filter in self._minimal

    def minimal(self) -> list[Filter]:
        """The fewest filters that together cover all, in the order in which they came."""
        return [filter for filter in self._members if filter in self._minimal]

    def _find(self, filter: Filter) -> Filter | None:
        for wide in self._minimal.over(filter):
            if wide.covers(filter):
                return wide
        return None

    def _place_member(self, member: _Member) -> None:
        """Give a member a guard, or make it part of the minimal cover and the guard of those it covers."""
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
        "In the order of coming."
        self.guard: _Member | None = None
        "One that covers it; none for those of the minimal cover."
        self.wards: dict[Filter, _Member] = {}
