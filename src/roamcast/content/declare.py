"""Event types declared as plain data, as in a scenario file, or inferred from sample values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from roamcast.content.area_type import AreaType
from roamcast.content.errors import ContentError
from roamcast.content.field_type import (
    Boolean,
    Date,
    Decimal,
    Enumeration,
    FieldType,
    Integer,
    Presence,
    String,
)
from roamcast.content.record_list import MAX_RECORDS, RecordList
from roamcast.content.schema import EventType
from roamcast.content.time_types import DateTime, Duration

_KINDS: dict[str, Callable[..., FieldType]] = {
    "string": String,
    "integer": Integer,
    "decimal": Decimal,
    "boolean": Boolean,
    "date": Date,
    "datetime": DateTime,
    "duration": Duration,
    "area": AreaType,
    "presence": Presence,
}

CONTAINERS = "/"
"Not a field: this key lists the containers that a document has even if they are empty."


def declare_type(name: str, fields: Mapping[str, Any]) -> EventType:
    """Return an event type declared as plain data: each field is a type name, a list of values or a table.

    Example: `{"level": "integer", "area": ["north"], "price": {"kind": "decimal", "min": 10, "optional":
    True}}`. A repeated element is `{"kind": "records", "fields": {...}}`, in which `.` is the element's own
    value. The key `/` lists the containers that a document has even if all their fields are missing.
    """
    kinds: dict[str, FieldType] = {}
    optional: list[str] = []
    for path, declared in fields.items():
        if path == CONTAINERS:
            continue
        try:
            table = dict(declared) if isinstance(declared, Mapping) else {"kind": declared}
            if table.pop("optional", False):
                optional.append(path)
            kinds[path] = _read_records(path, table) if table.get("kind") == "records" else _read_kind(table)
        except ContentError as error:
            raise ContentError(f"{name}/{path}: {error}") from None
    return EventType(name, kinds, optional=tuple(optional), always=_read_containers(name, fields))


def _read_containers(name: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    found = fields.get(CONTAINERS, ())
    if not isinstance(found, list | tuple) or not all(isinstance(path, str) for path in found):
        raise ContentError(
            f"{name}: {CONTAINERS!r} must be a list of container paths, not {str(found)[:40]!r}"
        )
    return tuple(found)


def write_type(type: EventType) -> dict[str, Any]:
    """Return the fields of a type as plain data, from which `declare_type` makes the same type again."""
    fields: dict[str, Any] = {}
    for field in type.fields:
        declared = _write_kind(field.kind) | ({"optional": True} if field.optional else {})
        fields[field.path] = declared["kind"] if len(declared) == 1 else declared
    return fields | ({CONTAINERS: list(type.always)} if type.always else {})


def infer_type(name: str, samples: Iterable[Mapping[str, Any]]) -> EventType:
    """Return the narrowest type that has all `samples` as events; a field that some sample lacks is
    optional.
    """
    seen: dict[str, list[Any]] = {}
    count = 0
    for sample in samples:
        count += 1
        for path, value in sample.items():
            seen.setdefault(path, []).append(value)
    kinds = {path: _infer_kind(f"{name}/{path}", values) for path, values in seen.items()}
    return EventType(name, kinds, optional=tuple(path for path in seen if len(seen[path]) < count))


def _read_records(path: str, table: dict[str, Any]) -> FieldType:
    fields, least = table.pop("fields", None), table.pop("least", 0)
    del table["kind"]
    if table:
        raise ContentError(f"{next(iter(table))!r} is not a key of kind 'records'")
    if not isinstance(fields, Mapping):
        raise ContentError("kind 'records' needs a table 'fields'")
    if type(least) is not int or not 0 <= least <= MAX_RECORDS:
        raise ContentError(f"'least' must be an integer from 0 to {MAX_RECORDS}, not {str(least)[:40]!r}")
    return RecordList(declare_type(path.rpartition("/")[2].removeprefix("@"), fields), least)


def _read_kind(table: dict[str, Any]) -> FieldType:
    kind = table.pop("kind", None)
    if isinstance(kind, list | tuple):
        collapse = table.pop("collapse", False)
        if type(collapse) is not bool:
            raise ContentError(f"'collapse' must be true or false, not {str(collapse)[:40]!r}")
        if table:
            raise ContentError(f"{next(iter(table))!r} is not a key of an enumeration")
        if not all(isinstance(value, str) for value in kind):
            raise ContentError("the values of an enumeration must be strings")
        return Enumeration(tuple(kind), collapse)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ContentError(
            f"{kind!r} is not a field type; expected a list of values or one of {', '.join(_KINDS)}"
        )
    bounded = kind in ("integer", "decimal", "date")
    for key in table:
        if key not in (("shape",) if kind == "area" else ("min", "max") if bounded else ()):
            raise ContentError(f"{key!r} is not a key of kind {kind!r}")
    if kind == "date":
        table = {key: Date().load(Date().store(value)) for key, value in table.items()}
    elif kind == "integer":
        table = {key: Integer().store(value) for key, value in table.items()}
    elif kind == "decimal":
        table = {key: Decimal().store(value) for key, value in table.items()}
    return _KINDS[kind](**table)


def _write_kind(kind: FieldType) -> dict[str, Any]:
    if isinstance(kind, Enumeration):
        return {"kind": list(kind.values)} | ({"collapse": True} if kind.collapse else {})
    if isinstance(kind, RecordList):
        records = {"kind": kind.name, "fields": write_type(kind.record)}
        return records | ({"least": kind.least} if kind.least else {})
    declared: dict[str, Any] = {"kind": kind.name}
    if isinstance(kind, AreaType) and kind.shape:
        declared["shape"] = kind.shape
    if isinstance(kind, Integer | Decimal | Date):
        plain = type(kind)()
        for name in ("min", "max"):
            bound = getattr(kind, name)
            if bound != getattr(plain, name):
                declared[name] = bound.isoformat() if isinstance(bound, date) else bound
    return declared


def _infer_kind(where: str, values: list[Any]) -> FieldType:
    for kind, types in (
        (Boolean(), bool),
        (Integer(), int),
        (Decimal(), int | float),
        (String(), str),
        (Date(), date),
    ):
        if all(isinstance(v, types) and (types is bool or not isinstance(v, bool)) for v in values):
            return kind
    raise ContentError(f"{where}: no field type has all the values {values[:4]!r}")
