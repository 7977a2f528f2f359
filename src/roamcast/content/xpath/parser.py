"""A recursive-descent parser from XPath to filters, for the grammar in docs/subscriptions.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamcast.content.box import constraint
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.event import pick_type
from roamcast.content.filter import Filter
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType
from roamcast.content.xpath.area import INTERSECTS, WITHIN, AreaReader
from roamcast.content.xpath.condition import FALSE, TRUE, And, Condition, Not, Or, normalise
from roamcast.content.xpath.condition_builder import FLIPPED, ConditionBuilder
from roamcast.content.xpath.paths import PathTarget, PlacedLiteral, RepeatedStep, Scope
from roamcast.content.xpath.tokens import Token

MAX_NESTING = 64
LOWER = "lower-case"
_CASES = ("upper-case", "translate", "lower", "upper")


def parse(
    text: str, types: EventType | Mapping[str, EventType], parameters: Mapping[str, Any] | None = None
) -> Filter:
    """Return the filter of a subscription; raise `FilterError` with the reason and the position."""
    parser = Parser(text, types, parameters or {})
    found = parser.whole()
    parser.refuse_unused()
    return found


class Parser(ConditionBuilder):
    """The parser of one subscription; a subclass may override parts to collect other information."""

    def __init__(
        self,
        text: str,
        types: EventType | Mapping[str, EventType],
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text, parameters)
        self.types = types
        self.nesting = 0
        self.type: EventType | None = None

    def whole(self) -> Filter:
        """Parse the whole subscription."""
        conditions = [self.location()]
        while self.accept("|"):
            conditions.append(self.location())
        if self.peek.sort != "end":
            raise self.error(self.reason("expected '|' or the end"))
        assert self.type is not None
        try:
            return normalise(self.type, Or(tuple(conditions))).simplify()
        except FilterError:
            raise
        except ContentError as error:
            raise FilterError(str(error), self.text, 0) from None

    def location(self) -> Condition:
        """Parse a path from the root."""
        self.expect("/", "a subscription must begin with '/' and the event type's name")
        token = self.name("the event type's name")
        self.type = self.find_type(token)
        root = Scope(self.type, "")
        conditions = self.predicates(root)
        place = PathTarget(root, token, conditions)
        if self.accept("/"):
            place = self.path(root, conditions)
        return place.condition(self.exists(place))

    def find_type(self, token: Token) -> EventType:
        """Return the type with which the path begins; it must be the same for all paths."""
        try:
            type = pick_type(token.text, self.types)
        except ContentError as error:
            raise self.error(str(error), token) from None
        if self.type is not None and type is not self.type:
            raise self.error(
                f"all paths of a subscription must begin with the same event type, here {self.type.name}",
                token,
            )
        return type

    def path(self, scope: Scope, conditions: tuple[Condition, ...]) -> PathTarget:
        """Parse the steps below a scope, after its `/`."""
        levels: tuple[RepeatedStep, ...] = ()
        while True:
            token = self.peek
            if self.accept("@"):
                step = "@" + self.name("an attribute's name").text
            else:
                step = self.name("an element's name").text
            scope = Scope(scope.type, f"{scope.path}/{step}" if scope.path else step)
            self.check(scope, token)
            if scope.type.has(scope.path):
                place = scope.type.index(scope.path)
                kind = scope.type.fields[place].kind
                if isinstance(kind, RecordList):
                    levels += (RepeatedStep(conditions, place),)
                    scope, conditions = Scope(kind.record, ""), ()
            conditions += self.predicates(scope)
            if step.startswith("@") or not self.accept("/"):
                if self.peek.text == "/":
                    raise self.error("an attribute has nothing below it")
                return PathTarget(scope, token, conditions, levels)

    def predicates(self, scope: Scope) -> tuple[Condition, ...]:
        """Parse all predicates in brackets after a step to `scope`."""
        conditions: list[Condition] = []
        while self.accept("["):
            conditions.append(self.either(scope))
            self.expect("]", "expected 'and', 'or' or ']'")
        return tuple(conditions)

    def either(self, scope: Scope) -> Condition:
        """Parse tests joined by `or`."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error(f"nested deeper than {MAX_NESTING}")
        parts = [self.both(scope)]
        while self.keyword("or"):
            parts.append(self.both(scope))
        self.nesting -= 1
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self, scope: Scope) -> Condition:
        """Parse tests joined by `and`."""
        parts = [self.comparison(scope)]
        while self.keyword("and"):
            parts.append(self.comparison(scope))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def comparison(self, scope: Scope) -> Condition:
        """Parse one test."""
        start = self.peek
        if self.accept("("):
            inner = self.either(scope)
            self.expect(")", "expected 'and', 'or' or ')'")
            if self.peek.text in constraint.OPERATORS:
                raise self.error("only a path can be compared, not a condition")
            return inner
        if start.sort == "name" and start.text != LOWER and self.tokens[self.next + 1].text == "(":
            found = self.call(scope)
            if not isinstance(found, PlacedLiteral):
                if self.peek.text in constraint.OPERATORS:
                    raise self.error(f"{start.text}() is a condition and cannot be compared")
                return found
            left: PlacedLiteral | PathTarget = found
        else:
            left = self.operand(scope)
        operator = self.peek
        if operator.text not in constraint.OPERATORS or operator.sort != "sign":
            if isinstance(left, PlacedLiteral):
                raise self.error(
                    "a value alone is not a test (positions are not supported); compare it with a path",
                    left.token,
                )
            if operator.text in ("-", "*", "+"):
                raise self.error("arithmetic is not supported")
            if left.lowered:
                raise self.error("lower-case() returns a string; compare it with one")
            return left.condition(self.exists(left))
        self.next += 1
        return self.sides(left, operator, self.operand(scope))

    def sides(
        self, left: PlacedLiteral | PathTarget, operator: Token, right: PlacedLiteral | PathTarget
    ) -> Condition:
        """Return the condition of a comparison, of which at least one side must be a path."""
        if isinstance(left, PathTarget):
            if isinstance(right, PathTarget):
                return self.compared_fields(left, operator, right)
            return self.compared(left, operator.text, right)
        if isinstance(right, PathTarget):
            return self.compared(right, FLIPPED[operator.text], left)
        raise self.error("a comparison of two values does not depend on the event", operator)

    def operand(self, scope: Scope) -> PlacedLiteral | PathTarget:
        """Parse a side of a comparison: a value, or a path from `scope`."""
        token = self.peek
        if token.text in ("-", "$") or token.sort in ("number", "string") or self.at_call("concat"):
            return self.literal()
        if self.at_call(LOWER):
            return self.lowered(scope)
        if self.accept("."):
            if self.accept("/"):
                return self.path(scope, ())
            return PathTarget(scope, token)
        if token.text == "/":
            raise self.error("inside [ ] paths are relative to the preceding element; remove the leading '/'")
        if token.sort == "name" and self.tokens[self.next + 1].text == "(":
            if token.text in ("true", "false"):
                raise self.error(
                    f"compare with the quoted word '{token.text}'; {token.text}() would test existence"
                )
            raise self.error(f"{token.text}() is not supported here")
        return self.path(scope, ())

    def lowered(self, scope: Scope) -> PathTarget:
        """Parse `lower-case(PATH)`."""
        self.next += 2
        target = self.operand(scope)
        if not isinstance(target, PathTarget) or target.lowered:
            raise self.error("lower-case() takes a path; write a literal in lower case instead", target.token)
        self.expect(")", "lower-case() takes one path; expected ')'")
        self.refuse_several(LOWER, target)
        target.lowered = True
        return target

    def refuse_several(self, function: str, target: PathTarget) -> None:
        """Reject a repeated element as argument: XPath 1.0 would use the first, XPath 2.0 rejects it."""
        if target.levels:
            raise self.error(
                f"{function}() cannot be applied to a repeated element; use brackets,"
                f" as in element[{function}(., ...)]",
                target.token,
            )

    def call(self, scope: Scope) -> Condition | PlacedLiteral:
        """Parse a function call: a test, or a value."""
        token = self.peek
        if token.text == "concat":
            return self.literal()
        if token.text in (WITHIN, INTERSECTS):
            return AreaReader(self).test(scope)
        if token.text not in ("not", "true", "false", *constraint.FUNCTIONS):
            known = ", ".join(
                ("not", "true", "false", "concat", LOWER, WITHIN, INTERSECTS, *constraint.FUNCTIONS)
            )
            if token.text in _CASES:
                raise self.error(
                    f"{token.text}() is not supported; write lower-case(PATH) and lower-case text"
                )
            raise self.error(f"{token.text}() is not supported; the functions are {known}")
        self.next += 2
        if token.text in ("true", "false"):
            self.expect(")", f"{token.text}() takes no argument")
            return TRUE if token.text == "true" else FALSE
        if token.text == "not":
            inner = self.either(scope)
            self.expect(")", "expected 'and', 'or' or ')'")
            return Not(inner)
        target = self.operand(scope)
        if not isinstance(target, PathTarget):
            raise self.error(f"{token.text}() takes a path as its first argument", target.token)
        self.expect(",", f"{token.text}() takes a path and a string")
        text = self.literal()
        self.expect(")", "expected ')'")
        if not isinstance(text.value, str) and not (text.parameter and text.value is None):
            raise self.error("expected a quoted string", text.token)
        self.refuse_several(token.text, target)
        found = self.applied(token.text, target, text)
        # A missing path is the empty string, which contains only "".
        return target.condition(found) if text.value else found
