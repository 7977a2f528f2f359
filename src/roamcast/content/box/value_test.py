"""Compiled tests of whether the values of an event satisfy a disjunction of conjunctions of constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from roamcast.content.box import conjunction as boxes
from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.field_order import PAIR, value_at

Test: TypeAlias = Callable[[tuple[Any, ...]], bool]
"Returns whether the stored values of an event, one for each field of its type, satisfy the constraints."


def compile_test(conjunctions: tuple[Conjunction, ...]) -> Test:
    """Return the test of an event's values as nested closures, which are faster than a loop."""
    tests = [_compile_one(each) for each in conjunctions]
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda values: first(values) or second(values)
    return lambda values: any(test(values) for test in tests)


def _compile_one(conjunction: Conjunction) -> Test:
    """Return the test of one conjunction, which checks equality constraints first."""
    if boxes.compares(conjunction):
        return _compile_pairs(conjunction)
    parts = [(place, domain.test()) for place, domain in sorted(conjunction, key=lambda c: not c[1].point)]
    if not parts:
        return lambda values: True
    place_a, test_a = parts[0]
    if len(parts) == 1:
        return lambda values: test_a(values[place_a])
    place_b, test_b = parts[1]
    if len(parts) == 2:
        return lambda values: test_a(values[place_a]) and test_b(values[place_b])
    rest = parts[2:]
    if len(rest) == 1:
        [(place_c, test_c)] = rest
        return lambda values: test_a(values[place_a]) and test_b(values[place_b]) and test_c(values[place_c])
    return lambda values: (
        test_a(values[place_a])
        and test_b(values[place_b])
        and all(test(values[place]) for place, test in rest)
    )


def _compile_pairs(conjunction: Conjunction) -> Test:
    """Return the test of a conjunction that checks single fields first, then compared pairs and positions."""
    fields = _compile_one(boxes.fields_of(conjunction))
    pairs = [(place, domain.test()) for place, domain in conjunction if place >= PAIR]
    return lambda values: fields(values) and all(test(value_at(values, place)) for place, test in pairs)
