"""From XPath to a filter: recursive descent over the grammar in docs/subscriptions.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal as BigDecimal
from typing import Any, NamedTuple

from roamcast.content.box import constraint
from roamcast.content.box.discs import Discs, spot_place
from roamcast.content.box.glob import fits
from roamcast.content.box.order import compare_fields, pair_place
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.event import pick_type
from roamcast.content.filter import Filter
from roamcast.content.kind import Boolean, Decimal, Enumeration, Integer
from roamcast.content.repetition import VALUE, Records
from roamcast.content.schema import EventType, Field
from roamcast.content.xpath.condition import FALSE, TRUE, Both, Condition, Either, Is, Not, Some, normalise
from roamcast.content.xpath.cursor import Cursor
from roamcast.content.xpath.tokens import Token

MAX_NESTING = 64

NUMBER = re.compile(r"[ \t\r\n]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")
"A quoted number."
LOWER = "lower-case"
WITHIN = "within"
_CASES = ("upper-case", "translate", "lower", "upper")
_AREAS = 'circle(LAT, LON, "5 km") or box(SOUTH, WEST, NORTH, EAST)'
_LENGTH = re.compile(r" *([0-9]{1,20}(?:\.[0-9]{1,20})?) *(km|m) *")
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parse(
    text: str, types: EventType | Mapping[str, EventType], parameters: Mapping[str, Any] | None = None
) -> Filter:
    """The filter that `text` writes; raises `FilterError` with the reason and the position."""
    parser = Parser(text, types, parameters or {})
    found = parser.whole()
    parser.refuse_unused()
    return found


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


class Level(NamedTuple):
    """A repeated element that a path has entered: what was asked before it, and its place."""

    asked: tuple[Condition, ...]
    place: int


class PathEnd:
    """Where a path leads: a field, or a container; with what its predicates ask on the way."""

    def __init__(
        self, scope: Scope, token: Token, asked: tuple[Condition, ...] = (), levels: tuple[Level, ...] = ()
    ) -> None:
        self.type, self.path = scope
        self.token = token
        self.asked = asked
        "Since the last repeated element."
        self.levels = levels
        self.lowered = False
        "Whether its text is looked at in lower case."

    def ask(self, test: Condition) -> Condition:
        """That the path leads to something for which `test` holds."""
        found: Condition = Both((*self.asked, test)) if self.asked else test
        for level in reversed(self.levels):
            found = Some(level.place, found)
            found = Both((*level.asked, found)) if level.asked else found
        return found


class Parser(Cursor):
    """One subscription being read; a subclass may read it for another purpose."""

    def __init__(
        self,
        text: str,
        types: EventType | Mapping[str, EventType],
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text)
        self.parameters = parameters or {}
        self.used: dict[str, None] = {}
        "The parameters that were read."
        self.types = types
        self.nesting = 0
        self.type: EventType | None = None

    def whole(self) -> Filter:
        """The whole subscription."""
        conditions = [self.location()]
        while self.accept("|"):
            conditions.append(self.location())
        if self.peek.sort != "end":
            raise self.error(self.reason("expected '|' or the end"))
        assert self.type is not None
        try:
            return normalise(self.type, Either(tuple(conditions))).simplify()
        except FilterError:
            raise
        except ContentError as error:
            raise FilterError(str(error), self.text, 0) from None

    def location(self) -> Condition:
        """A path from the root."""
        self.expect("/", "a subscription begins with '/' and the event type's name")
        token = self.name("the event type's name")
        self.type = self.find_type(token)
        root = Scope(self.type, "")
        asked = self.predicates(root)
        place = PathEnd(root, token, asked)
        if self.accept("/"):
            place = self.path(root, asked)
        return place.ask(self.exists(place))

    def find_type(self, token: Token) -> EventType:
        """The type that the path begins with, the same for all paths."""
        try:
            type = pick_type(token.text, self.types)
        except ContentError as error:
            raise self.error(str(error), token) from None
        if self.type is not None and type is not self.type:
            raise self.error(f"one subscription speaks of one event type, here {self.type.name}", token)
        return type

    def path(self, scope: Scope, asked: tuple[Condition, ...]) -> PathEnd:
        """Steps below a scope; a `/` has been read or none is needed."""
        levels: tuple[Level, ...] = ()
        while True:
            token = self.peek
            if self.accept("@"):
                step = "@" + self.name("an attribute's name").text
            else:
                step = self.name("an element's name").text
            scope = Scope(scope.type, f"{scope.path}/{step}" if scope.path else step)
            self.check(scope, token)
            if scope.type.has(scope.path):
                place = scope.type.place(scope.path)
                kind = scope.type.fields[place].kind
                if isinstance(kind, Records):
                    levels += (Level(asked, place),)
                    scope, asked = Scope(kind.record, ""), ()
            asked += self.predicates(scope)
            if step.startswith("@") or not self.accept("/"):
                if self.peek.text == "/":
                    raise self.error("nothing lies below an attribute")
                return PathEnd(scope, token, asked, levels)

    def predicates(self, scope: Scope) -> tuple[Condition, ...]:
        """All that stand in brackets after a step to `scope`."""
        asked: list[Condition] = []
        while self.accept("["):
            asked.append(self.either(scope))
            self.expect("]", "expected 'and', 'or' or ']'")
        return tuple(asked)

    def either(self, scope: Scope) -> Condition:
        """Tests joined by `or`."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error(f"nested deeper than {MAX_NESTING}")
        parts = [self.both(scope)]
        while self.word("or"):
            parts.append(self.both(scope))
        self.nesting -= 1
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def both(self, scope: Scope) -> Condition:
        """Tests joined by `and`."""
        parts = [self.comparison(scope)]
        while self.word("and"):
            parts.append(self.comparison(scope))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def comparison(self, scope: Scope) -> Condition:
        """One test."""
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
                    raise self.error(f"{start.text}() says true or false; it cannot be compared")
                return found
            left: PlacedLiteral | PathEnd = found
        else:
            left = self.operand(scope)
        operator = self.peek
        if operator.text not in constraint.OPERATORS or operator.sort != "sign":
            if isinstance(left, PlacedLiteral):
                raise self.error(
                    "a value alone says nothing here (a number would be a position); compare it with a path",
                    left.token,
                )
            if operator.text in ("-", "*", "+"):
                raise self.error("arithmetic is not understood")
            if left.lowered:
                raise self.error("lower-case() gives a text; compare it with one")
            return left.ask(self.exists(left))
        self.next += 1
        return self.sides(left, operator, self.operand(scope))

    def sides(
        self, left: PlacedLiteral | PathEnd, operator: Token, right: PlacedLiteral | PathEnd
    ) -> Condition:
        """Two sides that are compared, at least one of them a path."""
        if isinstance(left, PathEnd):
            if isinstance(right, PathEnd):
                return self.compared_fields(left, operator, right)
            return self.compared(left, operator.text, right)
        if isinstance(right, PathEnd):
            return self.compared(right, _FLIPPED[operator.text], left)
        raise self.error("a comparison of two values says nothing of an event", operator)

    def operand(self, scope: Scope) -> PlacedLiteral | PathEnd:
        """A side of a comparison: a value, or a path from `scope`."""
        token = self.peek
        if token.text in ("-", "$") or token.sort in ("number", "string") or self.at_call("concat"):
            return self.literal()
        if self.at_call(LOWER):
            return self.lowered(scope)
        if self.accept("."):
            if self.accept("/"):
                return self.path(scope, ())
            return PathEnd(scope, token)
        if token.text == "/":
            raise self.error("inside [ ] paths begin at the element before it, not at the root")
        if token.sort == "name" and self.tokens[self.next + 1].text == "(":
            if token.text in ("true", "false"):
                raise self.error(
                    f"compare with the quoted word, '{token.text}'; in XPath {token.text}() asks if it exists"
                )
            raise self.error(f"{token.text}() is not understood here")
        return self.path(scope, ())

    def lowered(self, scope: Scope) -> PathEnd:
        """A path whose text is looked at in lower case."""
        self.next += 2
        target = self.operand(scope)
        if not isinstance(target, PathEnd) or target.lowered:
            raise self.error("lower-case() takes a path; write its text in lower case yourself", target.token)
        self.expect(")", "lower-case() takes a path alone; expected ')'")
        self.refuse_several(LOWER, target)
        target.lowered = True
        return target

    def refuse_several(self, function: str, target: PathEnd) -> None:
        """A function takes one node: XPath 1.0 would look at the first of several, XPath 2.0 refuses."""
        if target.levels:
            raise self.error(
                f"{function}() looks at the first of several; ask for some in brackets,"
                f" as in element[{function}(., ...)]",
                target.token,
            )

    def literal(self) -> PlacedLiteral:
        """A value."""
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
        """The value of a parameter."""
        if self.parameters.get(name) is None:
            raise self.error(f"the parameter ${name} has no value", token)
        return self.parameters[name]

    def refuse_unused(self) -> None:
        """Complain about parameters that the subscription does not have."""
        for name in self.parameters:
            if name not in self.used:
                known = ", ".join(f"${each}" for each in self.used) or "none"
                raise FilterError(f"the subscription has no parameter ${name}; it has {known}", self.text, 0)

    def string(self) -> str:
        """A quoted string."""
        token = self.peek
        if token.sort != "string":
            raise self.error(self.reason("expected a quoted string"))
        self.next += 1
        return token.text[1:-1]

    def call(self, scope: Scope) -> Condition | PlacedLiteral:
        """A function: a test, or a value."""
        token = self.peek
        if token.text == "concat":
            return self.literal()
        if token.text == WITHIN:
            return Area(self).within(scope)
        if token.text not in ("not", "true", "false", *constraint.FUNCTIONS):
            known = ", ".join(("not", "true", "false", "concat", LOWER, WITHIN, *constraint.FUNCTIONS))
            if token.text in _CASES:
                raise self.error(
                    f"{token.text}() is not understood; write lower-case(PATH) and small letters"
                )
            raise self.error(f"{token.text}() is not understood; the functions are {known}")
        self.next += 2
        if token.text in ("true", "false"):
            self.expect(")", f"{token.text}() takes nothing")
            return TRUE if token.text == "true" else FALSE
        if token.text == "not":
            inner = self.either(scope)
            self.expect(")", "expected 'and', 'or' or ')'")
            return Not(inner)
        target = self.operand(scope)
        if not isinstance(target, PathEnd):
            raise self.error(f"{token.text}() looks into a path first", target.token)
        self.expect(",", f"{token.text}() takes a path and a string")
        text = self.literal()
        self.expect(")", "expected ')'")
        if not isinstance(text.value, str) and not (text.parameter and text.value is None):
            raise self.error("expected a quoted string", text.token)
        self.refuse_several(token.text, target)
        found = self.applied(token.text, target, text)
        # A path that leads nowhere is the empty string, which has "" in it and nothing else.
        return target.ask(found) if text.value else found

    def applied(self, function: str, target: PathEnd, literal: PlacedLiteral) -> Condition:
        """The test that a string function makes."""
        field, place = self.field(target)
        try:
            if target.lowered and literal.value:
                return Is(place, constraint.any_case(field, constraint.glob_of(function, str(literal.value))))
            return Is(place, constraint.apply(field, function, str(literal.value)))
        except ContentError as error:
            raise self.error(str(error), literal.token) from None

    def compared(self, target: PathEnd, operator: str, literal: PlacedLiteral) -> Condition:
        """The test that a comparison makes."""
        if isinstance(literal.value, list | tuple | set | frozenset):  # some of them, as in XPath 2.0
            each = [PlacedLiteral(value, literal.token, literal.parameter) for value in literal.value]
            return Either(tuple(self.compared(target, operator, value) for value in each))
        field, place = self.field(target)
        try:
            if target.lowered:
                return self.compared_in_lower_case(target, operator, literal)
            if (
                operator in ("=", "!=")
                and isinstance(literal.value, str)
                and not literal.parameter  # a star in the value of a parameter is a star
                and _is_pattern(field, literal.value)
            ):
                domain = constraint.like(field, constraint.read_glob(literal.value))
                found: Condition = Is(place, domain)
                if operator == "!=":
                    found = Both((Is(place, constraint.present(field)), Not(found)))
            else:
                value = _value(field, literal.value)
                found = Is(place, constraint.compare(field, operator, value))
        except ContentError as error:
            given = f"${literal.parameter}: " if literal.parameter else ""
            raise self.error(f"{given}{error}", literal.token) from None
        return target.ask(found)

    def compared_fields(self, left: PathEnd, operator: Token, right: PathEnd) -> Condition:
        """The test that two fields compare so."""
        if left.levels or right.levels:
            raise self.error(
                "two fields are compared in one record; ask in brackets, as in element[a < b]", operator
            )
        if left.lowered or right.lowered:
            raise self.error("lower-case() is compared with a value, not with a field", operator)
        (one, first), (other, second) = self.field(left), self.field(right)
        try:
            signs = compare_fields(one, operator.text, other)
        except ContentError as error:
            raise self.error(str(error), operator) from None
        if first == second:
            found: Condition = Is(first, constraint.present(one)) if signs.has(0) else FALSE
        elif first < second:
            found = Is(pair_place(first, second), signs)
        else:
            found = Is(pair_place(second, first), compare_fields(other, _FLIPPED[operator.text], one))
        return left.ask(right.ask(found))

    def compared_in_lower_case(self, target: PathEnd, operator: str, literal: PlacedLiteral) -> Condition:
        """The test of a text in lower case; a path that leads nowhere is the empty one, as in XPath 2.0."""
        field, place = self.field(target)
        value = literal.value
        if operator not in ("=", "!=") or not isinstance(value, str):
            raise ContentError("lower-case() gives a text: compare it by = or != with a quoted one")
        glob = (value,) if literal.parameter else constraint.read_glob(value)
        equal = Is(place, constraint.any_case(field, glob))
        present = Is(place, constraint.present(field))
        if fits(glob, ""):
            equals: Condition = Not(target.ask(Both((present, Not(equal)))))
        else:
            equals = target.ask(equal)
        return equals if operator == "=" else Not(equals)

    def field(self, target: PathEnd) -> tuple[Field, int]:
        """The field that a path leads to, and its place."""
        type = target.type
        path = target.path or VALUE
        if not type.has(path):
            whole = target.path or type.name
            raise self.error(f"{whole!r} holds other fields and has no value itself", target.token)
        place = type.place(path)
        return type.fields[place], place

    def coordinates(self, target: PathEnd) -> tuple[int, int] | None:
        """The fields of latitude and longitude in the element that a path leads to."""
        found = constraint.find_place(target.type, target.path)
        if found is None:
            where = target.path or target.type.name
            raise ContentError(f"{where!r} has no latitude and longitude (lat, lon) that are numbers")
        return found

    def exists(self, target: PathEnd) -> Condition:
        """The test that something is there."""
        places = target.type.evidence(target.path)
        if places is None:
            return TRUE
        fields = target.type.fields
        return Either(tuple(Is(place, constraint.present(fields[place])) for place in places))

    def check(self, scope: Scope, token: Token) -> None:
        """Refuse a step that leads nowhere in the type."""
        if scope.type.inside(scope.path) is None and not scope.type.has(scope.path):
            raise self.error(str(scope.type.unknown(scope.path)), token)


class Area:
    """Reads `within(PATH, circle(LAT, LON, "5 km"))` and `within(PATH, box(SOUTH, WEST, NORTH, EAST))`."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def within(self, scope: Scope) -> Condition:
        """The test that a place lies in an area."""
        parser = self.parser
        parser.next += 2
        target = parser.operand(scope)
        if not isinstance(target, PathEnd) or target.lowered:
            raise parser.error("within() takes the path of a place first", target.token)
        parser.expect(",", "within() takes a path and an area")
        shape = parser.peek
        if not parser.at_call("circle") and not parser.at_call("box"):
            raise parser.error(parser.reason(f"expected {_AREAS}"))
        parser.next += 2
        numbers = [self.number()]
        while parser.accept(","):
            numbers.append(self.number())
        for _ in range(2):
            parser.expect(")", "expected ',' or ')'")
        try:
            return self.area(target, shape.text, numbers)
        except ContentError as error:
            raise parser.error(str(error), shape) from None

    def number(self) -> float:
        """A number, or a length with its unit."""
        literal = self.parser.literal()
        if isinstance(literal.value, BigDecimal | int | float) and not isinstance(literal.value, bool):
            return float(literal.value)
        found = _LENGTH.fullmatch(literal.value) if isinstance(literal.value, str) else None
        if found is None:
            raise self.parser.error("expected a number, or a length like '5 km'", literal.token)
        return float(found[1]) * (1000 if found[2] == "km" else 1)

    def area(self, target: PathEnd, shape: str, numbers: list[float]) -> Condition:
        """The conditions on latitude and longitude."""
        if len(numbers) != (3 if shape == "circle" else 4):
            raise ContentError(f"write {_AREAS}")
        found = self.parser.coordinates(target)
        if found is None:
            return TRUE
        fields = target.type.fields
        if shape == "circle":
            there: list[Condition] = [Is(at, constraint.present(fields[at])) for at in found]
            domain = Discs.where([constraint.disc(*numbers)])
            return target.ask(Both((*there, Is(spot_place(*found), domain))))
        south, west, north, east = numbers
        constraint.disc(south, west, 1)
        constraint.disc(north, east, 1)
        if south > north:
            raise ContentError("a box has its south below its north")
        lats, lons = ((at, fields[at]) for at in found)
        sides = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
        across = [_between(*lons, low, high) for low, high in sides]
        return target.ask(Both((_between(*lats, south, north), Either(tuple(across)))))


def _between(place: int, field: Field, low: float, high: float) -> Condition:
    ends = (constraint.compare(field, ">=", low), constraint.compare(field, "<=", high))
    return Both(tuple(Is(place, domain) for domain in ends))


def _is_pattern(field: Field, text: str) -> bool:
    if "*" not in text:
        return False
    return not (isinstance(field.kind, Enumeration) and text in field.kind.values)


def _value(field: Field, value: Any) -> Any:
    """The literal as the field's kind wants it: quoted numbers are numbers where the field is one."""
    kind = field.kind
    if not isinstance(value, str | BigDecimal):
        return value  # of a parameter, as it is
    if isinstance(kind, Integer | Decimal):
        if isinstance(value, BigDecimal):
            return value
        number = NUMBER.fullmatch(value)
        if number is None:
            raise ContentError(
                f"{field.path} is {constraint.article(kind.name)}, and {value[:40]!r} is no number"
            )
        return BigDecimal(number[1])
    if isinstance(value, BigDecimal):
        raise ContentError(f"{field.path} is {constraint.article(kind.name)}; quote the value")
    if isinstance(kind, Boolean):
        return bool(kind.read(value))
    return value
