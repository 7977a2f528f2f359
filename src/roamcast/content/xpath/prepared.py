"""Prepared subscriptions with `$parameters`: checked once, then instantiated with values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.xpath.condition import TRUE, Condition
from roamcast.content.xpath.parser import Parser, parse
from roamcast.content.xpath.paths import PathTarget, PlacedLiteral
from roamcast.content.xpath.tokens import Token


class PreparedFilter:
    """A subscription with parameters: `prepared(level=3)` returns the filter.

    An error in the subscription is raised on preparation, a value of the wrong type on instantiation.
    """

    def __init__(self, xpath: str, types: EventType | Mapping[str, EventType]) -> None:
        reader = _Reader(xpath, types)
        reader.whole()
        self.xpath = xpath
        self.types = types
        self.parameters: Mapping[str, tuple[str, ...]] = reader.found
        "By parameter name: the types of the fields that the parameter is compared with."

    def __call__(self, **values: Any) -> Filter:
        """Return the filter with values for all parameters."""
        return parse(self.xpath, self.types, values)

    def __repr__(self) -> str:
        return f"<PreparedFilter {self.xpath}>"


class _Reader(Parser):
    """Parses a subscription without parameter values."""

    def __init__(self, text: str, types: EventType | Mapping[str, EventType]) -> None:
        super().__init__(text, types)
        self.found: dict[str, tuple[str, ...]] = {}

    def parameter(self, name: str, token: Token) -> Any:
        self.found.setdefault(name, ())
        return ""

    def compared(self, target: PathTarget, operator: str, literal: PlacedLiteral) -> Condition:
        return self._note(target, literal) or super().compared(target, operator, literal)

    def applied(self, function: str, target: PathTarget, literal: PlacedLiteral) -> Condition:
        return self._note(target, literal) or super().applied(function, target, literal)

    def _note(self, target: PathTarget, literal: PlacedLiteral) -> Condition | None:
        if not literal.parameter:
            return None
        kind = self.field(target)[0].kind.name
        known = self.found[literal.parameter]
        self.found[literal.parameter] = known if kind in known else (*known, kind)
        return TRUE
