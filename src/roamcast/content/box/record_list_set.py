"""Sets of sequences of records: what some of them must be, and what none of them may be.

A repeated element is a sequence of records. A test on it asks for some record, its negation that there is
none, so a constraint is a list of filters that some record each must satisfy, and one filter that no record
satisfies. Records do not depend on each other, and there may be any number, so the relations are as exact as
those between the filters: a sequence with one record for each requirement is a witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from roamcast.content.errors import ContentError

if TYPE_CHECKING:
    from roamcast.content.filter import Filter

MAX_REQUIRED = 64
"Filters that some record each must satisfy, for one repeated element in a conjunction."


class RecordListSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The sequences of records that satisfy a constraint on a repeated element."""

    required: tuple[Filter, ...]
    "Some record satisfies each; in order, and none that another one implies."
    refused: Filter
    "No record satisfies it."

    @classmethod
    def where(cls, required: Iterable[Filter], refused: Filter) -> RecordListSet:
        """The sequences in which each of `required` is satisfied and `refused` is not, without redundancy."""
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
            raise ContentError(f"more than {MAX_REQUIRED} tests on one repeated element in one conjunction")
        return cls(tuple(kept), refused)

    @property
    def empty(self) -> bool:
        """Whether nothing satisfies it."""
        return any(each.empty for each in self.required)

    @property
    def point(self) -> bool:
        """Never: there is no one sequence."""
        return False

    @property
    def absent(self) -> bool:
        """Never: an element that is not there is a sequence without records, and that is a value."""
        return False

    @property
    def patterns(self) -> int:
        """None of its own."""
        return 0

    def has(self, value: Any) -> bool:
        """Whether the records `value` satisfy it."""
        return self.test()(value)

    def test(self) -> Callable[[Any], bool]:
        """A function as quick as Python allows that says what `has` says."""
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
        """What satisfies both."""
        refused = _either(self.refused, other.refused)
        return RecordListSet.where(self.required + other.required, refused)

    def join(self, other: RecordListSet) -> RecordListSet | None:
        """What satisfies either, or None where one constraint cannot say it."""
        for one, another in ((self, other), (other, self)):
            if one.covers(another):
                return one
        for one, another in ((self, other), (other, self)):
            more = [each for each in one.required if each not in another.required]
            less = [each for each in another.required if each not in one.required]
            if len(more) != 1 or len(less) > 1:
                continue
            if len(less) == 1:  # some are like this, or some are like that
                if one.refused == another.refused:
                    kept = [each for each in one.required if each not in more]
                    return RecordListSet.where([*kept, _either(more[0], less[0])], one.refused)
            elif _either(one.refused, more[0]).equivalent(another.refused):  # some are so, or none is so
                return RecordListSet.where(another.required, one.refused)
        return None

    def outside(self, everything: RecordListSet) -> list[RecordListSet]:
        """What of `everything` does not satisfy it, as alternatives that do not overlap."""
        rest = []
        kept: tuple[Filter, ...] = everything.required
        for each in self.required:
            rest.append(RecordListSet.where(kept, _either(everything.refused, each)))
            kept += (each,)
        if not self.refused.empty:
            rest.append(RecordListSet.where((*kept, self.refused), everything.refused))
        return [each for each in rest if not each.empty]

    def covers(self, other: RecordListSet) -> bool:
        """Whether whatever satisfies `other` satisfies this; no where that is undecided."""
        try:
            return other.refused.covers(self.refused) and all(
                any(_either(each, other.refused).covers(theirs) for theirs in other.required)
                for each in self.required
            )
        except ContentError:
            return False

    def intersects(self, other: RecordListSet) -> bool:
        """Whether some sequence satisfies both; yes where that is undecided."""
        try:
            refused = _either(self.refused, other.refused)
            return not any(refused.covers(each) for each in self.required + other.required)
        except ContentError:
            return True

    def example(self) -> Any:
        """Some records that satisfy it, one for each requirement."""
        refused = self.refused
        return tuple(_some(each, refused) for each in self.required)

    def __repr__(self) -> str:
        required = [each.conjunctions for each in self.required]
        return f"Repeats({required!r}, {self.refused.conjunctions!r})"


def _some(wanted: Filter, refused: Filter) -> Any:
    """The values of some record."""
    for event in wanted.examples():
        if not refused.matches(event):
            return event.values
    found = (wanted & ~refused).example()
    assert found is not None, "a requirement that is refused makes the constraint empty"
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
