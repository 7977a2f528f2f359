"""Where paths of a subscription lead, and the values that stand beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

from roamcast.content.schema import EventType
from roamcast.content.xpath.condition import And, AnyRecord, Condition
from roamcast.content.xpath.tokens import Token


class PlacedLiteral:
    """A quoted string, a number, or the value of a parameter, with its place."""

    def __init__(self, value: Any, token: Token, parameter: str = "") -> None:
        self.value = value
        self.token = token
        self.parameter = parameter


class Scope(NamedTuple):
    """Where a relative path begins: an element of an event, or of a record in it."""

    type: EventType
    path: str


class RepeatedStep(NamedTuple):
    """A repeated element that a path has entered: what was asked before it, and its place."""

    asked: tuple[Condition, ...]
    place: int


class PathTarget:
    """Where a path leads: a field, or a container; with what its predicates ask on the way."""

    def __init__(
        self,
        scope: Scope,
        token: Token,
        asked: tuple[Condition, ...] = (),
        levels: tuple[RepeatedStep, ...] = (),
    ) -> None:
        self.type, self.path = scope
        self.token = token
        self.asked = asked
        "Since the last repeated element."
        self.levels = levels
        self.lowered = False
        "Whether its text is looked at in lower case."

    def condition(self, test: Condition) -> Condition:
        """That the path leads to something for which `test` holds."""
        found: Condition = And((*self.asked, test)) if self.asked else test
        for level in reversed(self.levels):
            found = AnyRecord(level.place, found)
            found = And((*level.asked, found)) if level.asked else found
        return found
