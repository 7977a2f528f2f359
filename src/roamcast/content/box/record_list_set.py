"""Sets of lists of records: filters that some record must match, and a filter that no record may match.

A repeated element is a list of records. A test on it requires some record, its negation that there is none. A
constraint therefore is a list of filters, each of which some record must match, and one filter that no record
may match. Records are independent of each other and their number is not limited, so the relations are as
exact as those between the filters: a list with one record per required filter is a witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.filter import Filter

MAX_REQUIRED = 64
"Maximum number of required filters for one repeated element in a conjunction."


class RecordListSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The lists of records that satisfy a constraint on a repeated element."""

    required: tuple[Filter, ...]
    "Some record matches each of these filters; they are sorted, and none implies another."
    refused: Filter
    "No record matches this filter."

    @classmethod
    def where(cls, required: Iterable[Filter], refused: Filter) -> RecordListSet:
        """Return the set for the given required and refused filters, without redundant ones."""
        several = sorted({each.simplify() for each in required}, key=_written)
        refused = refused.simplify()
        kept: list[Filter] = []
        for number, each in enumerate(several):
            if refused.covers(each):
                return _nothing(refused)
            if any(each.covers(other) for other in kept):
                continue
            if any(each.covers(later) and not later.covers(each) for later in several[number + 1 :]):
                continue
            kept.append(each)
        if len(kept) > MAX_REQUIRED:
            raise ContentError(f"one conjunction has more than {MAX_REQUIRED} tests on one repeated element")
        return cls(tuple(kept), refused)

    @property
    def empty(self) -> bool:
        """Whether the set is empty."""
        return any(each.empty for each in self.required)

    @property
    def point(self) -> bool:
        """Always False: the set is not looked up by value."""
        return False

    @property
    def absent(self) -> bool:
        """Always False: a missing element is an empty list of records, which is a value."""
        return False

    @property
    def patterns(self) -> int:
        """Always 0: the patterns of the filters do not count."""
        return 0

    def has(self, value: Any) -> bool:
        """Return whether the list of records `value` is in the set."""
        return self.test()(value)

    def test(self) -> Callable[[Any], bool]:
        """Return a compiled function that is equivalent to `has`."""
        required = [each.test() for each in self.required]
        refused = None if self.refused.empty else self.refused.test()
        if len(required) == 1 and refused is None:
            some = required[0]
            return lambda records: any(map(some, records))
        if not required and refused is not None:
            none = refused
            return lambda records: not any(map(none, records))
        return lambda records: (
            all(any(map(some, records)) for some in required)
            and (refused is None or not any(map(refused, records)))
        )

    def meet(self, other: RecordListSet) -> RecordListSet:
        """Return the intersection of the two sets."""
        refused = _either(self.refused, other.refused)
        return RecordListSet.where(self.required + other.required, refused)

    def join(self, other: RecordListSet) -> RecordListSet | None:
        """Return the union of the two sets, or None if it cannot be represented as one constraint."""
        for one, another in ((self, other), (other, self)):
            if one.covers(another):
                return one
        for one, another in ((self, other), (other, self)):
            more = [each for each in one.required if each not in another.required]
            less = [each for each in another.required if each not in one.required]
            if len(more) != 1 or len(less) > 1:
                continue
            if len(less) == 1:  # some record matches one or the other
                if one.refused == another.refused:
                    kept = [each for each in one.required if each not in more]
                    return RecordListSet.where([*kept, _either(more[0], less[0])], one.refused)
            elif _either(one.refused, more[0]).equivalent(
                another.refused
            ):  # some record matches, or none does
                return RecordListSet.where(another.required, one.refused)
        return None

    def outside(self, everything: RecordListSet) -> list[RecordListSet]:
        """Return `everything` minus this set, as disjoint sets."""
        rest = []
        kept: tuple[Filter, ...] = everything.required
        for each in self.required:
            rest.append(RecordListSet.where(kept, _either(everything.refused, each)))
            kept += (each,)
        if not self.refused.empty:
            rest.append(RecordListSet.where((*kept, self.refused), everything.refused))
        return [each for each in rest if not each.empty]

    def covers(self, other: RecordListSet) -> bool:
        """Return whether this set contains `other`; False if undecided."""
        try:
            return other.refused.covers(self.refused) and all(
                any(_either(each, other.refused).covers(theirs) for theirs in other.required)
                for each in self.required
            )
        except ContentError:
            return False

    def intersects(self, other: RecordListSet) -> bool:
        """Return whether the two sets have a common element; True if undecided."""
        try:
            refused = _either(self.refused, other.refused)
            return not any(refused.covers(each) for each in self.required + other.required)
        except ContentError:
            return True

    def example(self) -> Any:
        """Return some list in the set, with one record per required filter."""
        refused = self.refused
        return tuple(_some(each, refused) for each in self.required)

    def __repr__(self) -> str:
        required = [each.conjunctions for each in self.required]
        return f"RecordListSet({required!r}, {self.refused.conjunctions!r})"


def _some(accepted: Filter, refused: Filter) -> Any:
    """Return the values of some record that matches `accepted` and not `refused`."""
    for event in accepted.examples():
        if not refused.matches(event):
            return event.values
    found = (accepted & ~refused).example()
    assert found is not None, "a required filter that is refused makes the constraint empty"
    return found.values


def _either(one: Filter, other: Filter) -> Filter:
    if other.empty or one is other:
        return one
    return other if one.empty else one.merge(other)


def _nothing(refused: Filter) -> RecordListSet:
    nothing = type(refused).nothing(refused.type)
    return RecordListSet((nothing,), nothing)


def _written(filter: Filter) -> str:
    return repr(filter.conjunctions)
