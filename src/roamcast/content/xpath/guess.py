"""Inference of event types from subscriptions, for use without a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal as BigDecimal

from roamcast.content.errors import ContentError, FilterError
from roamcast.content.field_type import Date, Decimal, FieldType, String
from roamcast.content.schema import EventType, Field
from roamcast.content.xpath.condition import TRUE, Condition
from roamcast.content.xpath.condition_builder import NUMBER
from roamcast.content.xpath.parser import Parser
from roamcast.content.xpath.paths import PathTarget, PlacedLiteral, Scope
from roamcast.content.xpath.tokens import Token


def guess_types(texts: Iterable[str], parameters: Mapping[str, str] | None = None) -> dict[str, EventType]:
    """Return event types for which these subscriptions, with the given parameter values, are valid.

    A field is a decimal or a date if all values that it is compared with are, otherwise a string. All fields
    are optional.
    """
    found: dict[str, dict[str, list[str | BigDecimal]]] = {}
    for text in texts:
        guesser = _Guesser(text, parameters)
        guesser.whole()
        for name, fields in guesser.found.items():
            for path, values in fields.items():
                found.setdefault(name, {}).setdefault(path, []).extend(values)
            found.setdefault(name, {})
    types = {}
    for name, fields in found.items():
        # A path that is only tested for existence may be a container of other fields.
        kept = [p for p in fields if fields[p] or not any(o.startswith(f"{p}/") for o in fields)]
        types[name] = EventType(name, tuple(Field(p, _guess_kind(fields[p]), True) for p in kept))
    return types


def _guess_kind(values: list[str | BigDecimal]) -> FieldType:
    if not values:
        return String()
    if all(isinstance(value, BigDecimal) or NUMBER.fullmatch(value) for value in values):
        return Decimal()
    try:
        for value in values:
            Date().read(str(value))
    except ContentError:
        return String()
    return Date()


class _Guesser(Parser):
    """Parses a subscription only for its names, and records the values that they are compared with."""

    def __init__(self, text: str, parameters: Mapping[str, str] | None = None) -> None:
        super().__init__(text, {}, parameters)
        self.found: dict[str, dict[str, list[str | BigDecimal]]] = {}
        self.name_of_type = ""

    def find_type(self, token: Token) -> EventType:
        if self.name_of_type not in ("", token.text):
            raise FilterError(
                "all paths of a subscription must begin with the same event type", self.text, token.position
            )
        self.name_of_type = token.text
        self.found.setdefault(token.text, {})
        return EventType(token.text, ())

    def check(self, scope: Scope, token: Token) -> None:
        """Accept any step."""

    def parameter(self, name: str, token: Token) -> str | None:
        """Return the parameter's value, or None, which implies nothing about the field."""
        return self.parameters.get(name)

    def compared(self, target: PathTarget, operator: str, literal: PlacedLiteral) -> Condition:
        self._note(target, "text" if target.lowered else literal.value)
        return TRUE

    def compared_fields(self, left: PathTarget, operator: Token, right: PathTarget) -> Condition:
        for target in (left, right):
            self._note(target, BigDecimal(0) if "<" in operator.text or ">" in operator.text else None)
        return TRUE

    def coordinates(self, target: PathTarget) -> None:
        for name in ("@lat", "@lon"):
            path = f"{target.path}/{name}" if target.path else name
            self._note(PathTarget(Scope(target.type, path), target.token), BigDecimal(0))

    def applied(self, function: str, target: PathTarget, literal: PlacedLiteral) -> Condition:
        self._note(target, "text" if literal.value is None else literal.value)
        if isinstance(literal.value, str) and _guess_kind([literal.value]).name != "string":
            self._note(target, "text")  # a string function implies text, regardless of its argument
        return TRUE

    def exists(self, target: PathTarget) -> Condition:
        self._note(target, None)
        return TRUE

    def _note(self, target: PathTarget, value: str | BigDecimal | None) -> None:
        if target.path:
            values = self.found[self.name_of_type].setdefault(target.path, [])
            if value is not None:
                values.append(value)
