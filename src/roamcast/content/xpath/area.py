"""Parsing of tests on positions and areas."""

from __future__ import annotations

import re
from decimal import Decimal as BigDecimal
from typing import TYPE_CHECKING

from roamcast.content.box import constraint
from roamcast.content.box.point_set import PointSet, point_index
from roamcast.content.earth.shapes import Region, box
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import ContentError
from roamcast.content.record_list import RecordList
from roamcast.content.schema import Field
from roamcast.content.xpath.condition import TRUE, And, AnyRecord, Condition, FieldIn, Or
from roamcast.content.xpath.paths import PathTarget, Scope

if TYPE_CHECKING:
    from roamcast.content.xpath.parser import Parser

WITHIN = "within"
INTERSECTS = "intersects"
_REGIONS = 'circle(LAT, LON, "5 km") or box(SOUTH, WEST, NORTH, EAST)'
_LENGTH = re.compile(r" *([0-9]{1,20}(?:\.[0-9]{1,400})?) *(km|m) *")
"As many digits as the smallest double has, so that printed filters can be parsed again."


class AreaReader:
    """Parses `within(PATH, circle(LAT, LON, "5 km"))` and `intersects(PATH, box(SOUTH, WEST, NORTH,
    EAST))`.
    """

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def test(self, scope: Scope) -> Condition:
        """Parse a test that a position or area lies in a region, or that an area overlaps it."""
        parser = self.parser
        function = parser.peek.text
        parser.next += 2
        target = parser.operand(scope)
        if not isinstance(target, PathTarget) or target.lowered:
            raise parser.error(
                f"{function}() needs the path of a position or an area as its first argument", target.token
            )
        parser.expect(",", f"{function}() takes a path and a region")
        shape = parser.peek
        if not parser.at_call("circle") and not parser.at_call("box"):
            raise parser.error(parser.reason(f"expected {_REGIONS}"))
        parser.next += 2
        numbers = [self.number()]
        while parser.accept(","):
            numbers.append(self.number())
        for _ in range(2):
            parser.expect(")", "expected ',' or ')'")
        try:
            if len(numbers) != (3 if shape.text == "circle" else 4):
                raise ContentError(f"write {_REGIONS}")
            region = constraint.disc(*numbers) if shape.text == "circle" else box(*numbers)
            return target.condition(self.located(target, function == WITHIN, region))
        except ContentError as error:
            raise parser.error(str(error), shape) from None

    def number(self) -> float:
        """Parse a number, or a length with its unit as metres."""
        literal = self.parser.literal()
        if isinstance(literal.value, BigDecimal | int | float) and not isinstance(literal.value, bool):
            return float(BigDecimal(literal.value))
        found = _LENGTH.fullmatch(literal.value) if isinstance(literal.value, str) else None
        if found is None:
            raise self.parser.error("expected a number, or a length like '5 km'", literal.token)
        return float(found[1]) * (1000 if found[2] == "km" else 1)

    def located(self, target: PathTarget, whole: bool, region: Region) -> Condition:
        """Return the condition on the areas, or on the position, at a path."""
        fields = target.type.fields
        areas = constraint.find_areas(target.type, target.path)
        if not areas:
            return self.placed(target, region)
        conditions: list[Condition] = []
        for at in areas:
            test = constraint.located(fields[at], whole, region)
            conditions.append(
                AnyRecord(at, FieldIn(0, test))
                if isinstance(fields[at].kind, RecordList)
                else FieldIn(at, test)
            )
        return Or(tuple(conditions))

    def placed(self, target: PathTarget, region: Region) -> Condition:
        """Return the condition on latitude and longitude."""
        found = self.parser.coordinates(target)
        if found is None:
            return TRUE
        fields = target.type.fields
        if isinstance(region, Circle):
            there: list[Condition] = [FieldIn(at, constraint.present(fields[at])) for at in found]
            return And((*there, FieldIn(point_index(*found), PointSet.where([region]))))
        lats, lons = ((at, fields[at]) for at in found)
        west, east = region.west, region.east
        sides = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
        across = [_between(*lons, low, high) for low, high in sides]
        return And((_between(*lats, region.south, region.north), Or(tuple(across))))


def _between(place: int, field: Field, low: float, high: float) -> Condition:
    ends = (constraint.compare(field, ">=", low), constraint.compare(field, "<=", high))
    return And(tuple(FieldIn(place, domain) for domain in ends))
