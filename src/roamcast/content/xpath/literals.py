"""Parsing of values in a subscription: strings, numbers and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal as BigDecimal
from typing import Any

from roamcast.content.errors import FilterError
from roamcast.content.xpath.cursor import Cursor
from roamcast.content.xpath.paths import PlacedLiteral
from roamcast.content.xpath.tokens import Token


class LiteralReader(Cursor):
    """Parses values."""

    def __init__(self, text: str, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.parameters = parameters or {}
        self.used: dict[str, None] = {}
        "The parameters that occurred."

    def literal(self) -> PlacedLiteral:
        """Parse a value."""
        token = self.peek
        if self.at_call("concat"):
            self.next += 2
            parts = [self.string()]
            self.expect(",", "concat() takes two strings or more; expected ','")
            parts.append(self.string())
            while self.accept(","):
                parts.append(self.string())
            self.expect(")", "expected ',' or ')'")
            return PlacedLiteral("".join(parts), token)
        if self.accept("-"):
            number = self.peek
            if number.sort != "number":
                raise self.error("expected a number after '-'")
            self.next += 1
            return PlacedLiteral(-BigDecimal(number.text), token)
        if token.sort == "number":
            self.next += 1
            return PlacedLiteral(BigDecimal(token.text), token)
        if self.accept("$"):
            name = self.name("a parameter's name").text
            self.used[name] = None
            return PlacedLiteral(self.parameter(name, token), token, name)
        return PlacedLiteral(self.string(), token)

    def parameter(self, name: str, token: Token) -> Any:
        """Return the value of a parameter."""
        if self.parameters.get(name) is None:
            raise self.error(f"the parameter ${name} has no value", token)
        return self.parameters[name]

    def refuse_unused(self) -> None:
        """Raise `FilterError` for a given parameter that the subscription does not have."""
        for name in self.parameters:
            if name not in self.used:
                known = ", ".join(f"${each}" for each in self.used) or "none"
                raise FilterError(f"the subscription has no parameter ${name}; it has {known}", self.text, 0)

    def string(self) -> str:
        """Parse a quoted string."""
        token = self.peek
        if token.sort != "string":
            raise self.error(self.reason("expected a quoted string"))
        self.next += 1
        return token.text[1:-1]
