"""Conditions: the parsed form of a predicate, before normalisation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeAlias

import msgspec

from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter, unite
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType


class FieldIn(msgspec.Struct, frozen=True):
    """The field with this index has one of these values."""

    place: int
    domain: Domain


class AnyRecord(msgspec.Struct, frozen=True):
    """Some record of the repeated element with this index satisfies the part."""

    place: int
    part: Condition


class And(msgspec.Struct, frozen=True):
    """A condition that holds if all its parts hold."""

    parts: tuple[Condition, ...]


class Or(msgspec.Struct, frozen=True):
    """At least one part holds."""

    parts: tuple[Condition, ...]


class Not(msgspec.Struct, frozen=True):
    """The part does not hold."""

    part: Condition


Condition: TypeAlias = FieldIn | AnyRecord | And | Or | Not

TRUE = And(())
FALSE = Or(())


def normalise(type: EventType, condition: Condition, negated: bool = False) -> Filter:
    """Return the condition as a filter, with every `not()` moved down to single fields."""
    if isinstance(condition, AnyRecord):
        kind = type.fields[condition.place].kind
        assert isinstance(kind, RecordList)
        condition = FieldIn(condition.place, kind.where(normalise(kind.record, condition.part)))
    if isinstance(condition, FieldIn):
        domains: Iterable[Domain] = [condition.domain]
        if negated:
            domains = condition.domain.outside(type.domain(condition.place))  # type: ignore[arg-type]
        return Filter.of(type, [[(condition.place, domain)] for domain in domains])
    if isinstance(condition, Not):
        return normalise(type, condition.part, not negated)
    parts = [normalise(type, part, negated) for part in condition.parts]
    if isinstance(condition, And) is not negated:
        # Parts without alternatives are intersected at once, so that thousands of tests on one field stay
        # cheap.
        plain = Filter.of(type, [[c for p in parts if len(p.conjunctions) == 1 for c in p.conjunctions[0]]])
        forked = [part for part in parts if len(part.conjunctions) != 1]
        return reduce(lambda a, b: (a & b).simplify(), forked, plain)
    return unite(type, parts)
