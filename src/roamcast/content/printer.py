"""Conversion of filters to XPath text that parses to the same filter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from roamcast.content.box.area_set import AreaSet, RegionTest
from roamcast.content.box.conjunction import Conjunction, bare
from roamcast.content.box.constraint import write_glob
from roamcast.content.box.field_order import PAIR, SIGNS, members
from roamcast.content.box.glob import CASELESS, Glob
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet, Span, after, before
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.earth.sphere import Circle
from roamcast.content.field_type import Decimal, Domain, Integer, plain_number
from roamcast.content.schema import EventType, Field

if TYPE_CHECKING:
    from roamcast.content.filter import Filter


def write_filter(filter: Filter) -> str:
    """Return the filter as XPath text, with one path per conjunction."""
    name = filter.type.name
    if not filter.conjunctions:
        return f"/{name}[false()]"
    return " | ".join(f"/{name}{_write_conjunction(filter, each)}" for each in filter.conjunctions)


def write_constraint(field: Field, domain: Domain) -> str:
    """Return the constraint on one field, in parentheses if it contains `or`."""
    path = field.path
    if isinstance(domain, RecordListSet):
        return " and ".join(_write_repeats(path, domain))
    assert not isinstance(domain, PointSet)
    if isinstance(domain, RangeSet):
        alternatives = _write_ranges(field, domain)
    else:
        alternatives = (
            _write_areas(path, domain) if isinstance(domain, AreaSet) else _write_texts(field, domain)
        )
    if domain.absent:
        alternatives.append(f"not({path})")
    return alternatives[0] if len(alternatives) == 1 else f"({' or '.join(alternatives)})"


def write_part(type: EventType, place: int, domain: Domain) -> str:
    """Return one constraint of a conjunction: on a field, on a pair of compared fields or on a position."""
    if place < PAIR:
        return write_constraint(type.fields[place], domain)
    one, other = (type.fields[at].path for at in members(place))
    if isinstance(domain, PointSet):
        return " and ".join(_write_discs(type, members(place), domain))
    assert isinstance(domain, RangeSet)
    if not domain.absent:
        return f"{one}{_operator(domain)}{other}"
    [rest] = domain.outside(RangeSet(((-1, 1),)))  # the orders that are excluded if both fields are present
    operators = ("<", ">=") if rest.spans == ((-1, 1),) else (_operator(rest),)
    return " and ".join(f"not({one}{operator}{other})" for operator in operators)


def _write_discs(type: EventType, fields: tuple[int, int], domain: PointSet) -> Iterator[str]:
    container = type.fields[fields[0]].path.rpartition("/")[0] or "."
    inside = [_write_disc(container, disc) for disc in domain.inside]
    outside = [f"not({_write_disc(container, disc)})" for disc in domain.outside_of]
    if not inside:
        yield from (type.fields[at].path for at in fields if type.fields[at].optional)
    yield from inside + outside


def _write_areas(path: str, domain: AreaSet) -> list[str]:
    if domain.void:
        return []
    required = [_write_test(path, test) for test in domain.required] or [path]
    return [" and ".join([*required, *(f"not({_write_test(path, test)})" for test in domain.refused)])]


def _write_test(path: str, test: RegionTest) -> str:
    function = "within" if test.all else "intersects"
    if isinstance(test.region, Circle):
        return _write_disc(path, test.region, function)
    return f"{function}({path}, box({', '.join(map(plain_number, test.region))}))"


def _write_disc(path: str, disc: Circle, function: str = "within") -> str:
    lat, lon, radius = map(plain_number, disc)
    return f'{function}({path}, circle({lat}, {lon}, "{radius} m"))'


def _operator(domain: RangeSet) -> str:
    return next(operator for operator, signs in SIGNS.items() if signs.spans == domain.spans)


def quote(text: str) -> str:
    """Return a string literal; use `concat()` if `text` has both quotes, since XPath has no escapes."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def _write_conjunction(filter: Filter, each: Conjunction) -> str:
    if not each:
        return ""
    written = [write_part(filter.type, place, domain) for place, domain in bare(filter.type, each)]
    if len(written) == 1 and written[0].startswith("("):
        return f"[{written[0][1:-1]}]"
    return f"[{' and '.join(written)}]"


def _write_repeats(path: str, domain: RecordListSet) -> list[str]:
    """Return one test per filter that some record must match, and one for the filter that none may match."""
    written = [_write_some(path, each) for each in domain.required]
    return written if domain.refused.empty else [*written, f"not({_write_some(path, domain.refused)})"]


def _write_some(path: str, filter: Filter) -> str:
    if not filter.conjunctions:
        return f"{path}[false()]"
    inner = [
        _write_conjunction(filter, each).removeprefix("[").removesuffix("]") for each in filter.conjunctions
    ]
    return f"{path}[{' or '.join(inner)}]" if all(inner) else path


def _write_ranges(field: Field, domain: RangeSet) -> list[str]:
    everything: Any = field.kind.everything(absent=False)
    if domain.spans == everything.spans:
        return [field.path]
    if isinstance(field.kind, Integer | Decimal) and len(domain.spans) > 1:
        holes = [(after(a[1]), before(b[0])) for a, b in zip(domain.spans, domain.spans[1:], strict=False)]
        if all(low == high for low, high in holes):
            outer = _write_span(field, (domain.spans[0][0], domain.spans[-1][1]), everything.spans[0])
            return [" and ".join([*outer, *(f"{field.path}!={field.kind.write(low)}" for low, _ in holes)])]
    if field.kind.name in ("enumeration", "boolean"):
        return [
            f"{field.path}={quote(field.kind.write(place))}"
            for low, high in domain.spans
            for place in range(int(low), int(high) + 1)
        ]
    return [" and ".join(_write_span(field, span, everything.spans[0])) for span in domain.spans]


def _write_span(field: Field, span: Span, everything: Span) -> list[str]:
    (low, high), path = span, field.path
    if low == high:
        return [f"{path}={_literal(field, low)}"]
    written = []
    if low > everything[0]:
        written.append(_shorter(f"{path}>={_literal(field, low)}", ">", field, before(low)))
    if high < everything[1]:
        written.append(_shorter(f"{path}<={_literal(field, high)}", "<", field, after(high)))
    return written


def _shorter(closed: str, operator: str, field: Field, value: Any) -> str:
    if not isinstance(field.kind, Decimal):
        return closed
    opened = f"{field.path}{operator}{_literal(field, value)}"
    return opened if len(opened) < len(closed) else closed


def _literal(field: Field, stored: Any) -> str:
    text = field.kind.write(stored)
    return text if isinstance(field.kind, Integer | Decimal) else quote(text)


def _write_texts(field: Field, domain: StringSet) -> list[str]:
    path = field.path
    if domain.values is not None:
        return [f"{path}={quote(write_glob((value,)))}" for value in domain.values]
    written = [_write_glob(path, glob) for glob in domain.like]
    negative = [
        f"{path}!={quote(write_glob(glob))}" if len(glob) == 1 else f"not({_write_glob(path, glob)})"
        for glob in domain.unlike
    ]
    sure = written or any(len(glob) == 1 for glob in domain.unlike)
    if field.optional and not sure:
        written.append(path)
    return [" and ".join(written + negative) or path]


def _write_glob(path: str, glob: Glob) -> str:
    if glob[0] == CASELESS:
        return _write_glob(f"lower-case({path})", glob[1:])
    if len(glob) == 2 and not glob[1]:
        return f"starts-with({path}, {quote(glob[0])})"
    if len(glob) == 2 and not glob[0]:
        return f"ends-with({path}, {quote(glob[1])})"
    if len(glob) == 3 and not glob[0] and not glob[2]:
        return f"contains({path}, {quote(glob[1])})"
    return f"{path}={quote(write_glob(glob))}"
