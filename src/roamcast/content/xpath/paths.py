"""Targets of the paths in a subscription, and literals with their position."""

from __future__ import annotations

from typing import Any, NamedTuple

from roamcast.content.schema import EventType
from roamcast.content.xpath.condition import And, AnyRecord, Condition
from roamcast.content.xpath.tokens import Token


class PlacedLiteral:
    """A quoted string, a number, or the value of a parameter, with its token."""

    def __init__(self, value: Any, token: Token, parameter: str = "") -> None:
        self.value = value
        self.token = token
        self.parameter = parameter


class Scope(NamedTuple):
    """The start of a relative path: an element of an event, or of a record in it."""

    type: EventType
    path: str


class RepeatedStep(NamedTuple):
    """A repeated element on a path: the predicates before it, and its field index."""

    conditions: tuple[Condition, ...]
    place: int


class PathTarget:
    """The target of a path: a field or a container, with the predicates on the path."""

    def __init__(
        self,
        scope: Scope,
        token: Token,
        conditions: tuple[Condition, ...] = (),
        levels: tuple[RepeatedStep, ...] = (),
    ) -> None:
        self.type, self.path = scope
        self.token = token
        self.conditions = conditions
        "Predicates since the last repeated element."
        self.levels = levels
        self.lowered = False
        "Whether comparisons use the text in lower case."

    def condition(self, test: Condition) -> Condition:
        """Return the condition that the path leads to an element for which `test` holds."""
        found: Condition = And((*self.conditions, test)) if self.conditions else test
        for level in reversed(self.levels):
            found = AnyRecord(level.place, found)
            found = And((*level.conditions, found)) if level.conditions else found
        return found
