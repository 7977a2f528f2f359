"""Construction of conditions from the single tests of a subscription."""

from __future__ import annotations

import re
from decimal import Decimal as BigDecimal
from typing import Any

from roamcast.content.box import constraint
from roamcast.content.box.field_order import compare_fields, pair_index
from roamcast.content.box.glob import fits
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Boolean, Decimal, Enumeration, Integer
from roamcast.content.record_list import VALUE
from roamcast.content.schema import Field
from roamcast.content.xpath.condition import FALSE, TRUE, And, Condition, FieldIn, Not, Or
from roamcast.content.xpath.literals import LiteralReader
from roamcast.content.xpath.paths import PathTarget, PlacedLiteral, Scope
from roamcast.content.xpath.tokens import Token

NUMBER = re.compile(r"[ \t\r\n]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")
"A number in quotes."
FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class ConditionBuilder(LiteralReader):
    """Turns tests into conditions; a subclass may override this to collect other information."""

    def applied(self, function: str, target: PathTarget, literal: PlacedLiteral) -> Condition:
        """Return the condition of a string function."""
        field, place = self.field(target)
        try:
            if target.lowered and literal.value:
                return FieldIn(
                    place, constraint.any_case(field, constraint.glob_of(function, str(literal.value)))
                )
            return FieldIn(place, constraint.apply(field, function, str(literal.value)))
        except ContentError as error:
            raise self.error(str(error), literal.token) from None

    def compared(self, target: PathTarget, operator: str, literal: PlacedLiteral) -> Condition:
        """Return the condition of a comparison."""
        if isinstance(
            literal.value, list | tuple | set | frozenset
        ):  # one of several values, as in XPath 2.0
            each = [PlacedLiteral(value, literal.token, literal.parameter) for value in literal.value]
            return Or(tuple(self.compared(target, operator, value) for value in each))
        field, place = self.field(target)
        try:
            if target.lowered:
                return self.compared_in_lower_case(target, operator, literal)
            if (
                operator in ("=", "!=")
                and isinstance(literal.value, str)
                and not literal.parameter  # a star in a parameter's value is literal
                and _is_pattern(field, literal.value)
            ):
                domain = constraint.like(field, constraint.read_glob(literal.value))
                found: Condition = FieldIn(place, domain)
                if operator == "!=":
                    found = And((FieldIn(place, constraint.present(field)), Not(found)))
            else:
                value = _value(field, literal.value)
                found = FieldIn(place, constraint.compare(field, operator, value))
        except ContentError as error:
            given = f"${literal.parameter}: " if literal.parameter else ""
            raise self.error(f"{given}{error}", literal.token) from None
        return target.condition(found)

    def compared_fields(self, left: PathTarget, operator: Token, right: PathTarget) -> Condition:
        """Return the condition that compares two fields."""
        if left.levels or right.levels:
            raise self.error(
                "two fields must belong to the same record; compare them in brackets, as in element[a < b]",
                operator,
            )
        if left.lowered or right.lowered:
            raise self.error("lower-case() can be compared only with a value, not with a field", operator)
        (one, first), (other, second) = self.field(left), self.field(right)
        try:
            signs = compare_fields(one, operator.text, other)
        except ContentError as error:
            raise self.error(str(error), operator) from None
        if first == second:
            found: Condition = FieldIn(first, constraint.present(one)) if signs.has(0) else FALSE
        elif first < second:
            found = FieldIn(pair_index(first, second), signs)
        else:
            found = FieldIn(pair_index(second, first), compare_fields(other, FLIPPED[operator.text], one))
        return left.condition(right.condition(found))

    def compared_in_lower_case(self, target: PathTarget, operator: str, literal: PlacedLiteral) -> Condition:
        """Return the condition on a text in lower case; a missing field is the empty text, as in XPath
        2.0.
        """
        field, place = self.field(target)
        value = literal.value
        if operator not in ("=", "!=") or not isinstance(value, str):
            raise ContentError("lower-case() returns a string: compare it by = or != with a quoted string")
        glob = (value,) if literal.parameter else constraint.read_glob(value)
        equal = FieldIn(place, constraint.any_case(field, glob))
        present = FieldIn(place, constraint.present(field))
        if fits(glob, ""):
            equals: Condition = Not(target.condition(And((present, Not(equal)))))
        else:
            equals = target.condition(equal)
        return equals if operator == "=" else Not(equals)

    def field(self, target: PathTarget) -> tuple[Field, int]:
        """Return the field that a path leads to, and its index."""
        type = target.type
        path = target.path or VALUE
        if not type.has(path):
            whole = target.path or type.name
            raise self.error(f"{whole!r} contains other fields and has no value of its own", target.token)
        place = type.index(path)
        return type.fields[place], place

    def coordinates(self, target: PathTarget) -> tuple[int, int] | None:
        """Return the latitude and longitude fields in the element that a path leads to."""
        found = constraint.find_location(target.type, target.path)
        if found is None:
            where = target.path or target.type.name
            raise ContentError(f"{where!r} has neither decimal fields lat and lon nor an area")
        return found

    def exists(self, target: PathTarget) -> Condition:
        """Return the condition that the target is present."""
        places = target.type.presence_fields(target.path)
        if places is None:
            return TRUE
        fields = target.type.fields
        return Or(tuple(FieldIn(place, constraint.present(fields[place])) for place in places))

    def check(self, scope: Scope, token: Token) -> None:
        """Raise `FilterError` if the type has no element or field at the path."""
        if scope.type.fields_below(scope.path) is None and not scope.type.has(scope.path):
            raise self.error(str(scope.type.unknown(scope.path)), token)


def _is_pattern(field: Field, text: str) -> bool:
    if "*" not in text:
        return False
    return not (isinstance(field.kind, Enumeration) and text in field.kind.values)


def _value(field: Field, value: Any) -> Any:
    """Convert a literal to the field's type: a quoted number is a number for a numeric field."""
    kind = field.kind
    if not isinstance(value, str | BigDecimal):
        return value  # the value of a parameter is used as it is
    if isinstance(kind, Integer | Decimal):
        if isinstance(value, BigDecimal):
            return value
        number = NUMBER.fullmatch(value)
        if number is None:
            raise ContentError(
                f"{field.path} is {constraint.article(kind.name)}; {value[:40]!r} is not a number"
            )
        return BigDecimal(number[1])
    if isinstance(value, BigDecimal):
        raise ContentError(f"{field.path} is {constraint.article(kind.name)}; quote the value")
    if isinstance(kind, Boolean):
        return bool(kind.read(value))
    return value
