"""Forms of a scenario, made from its models: sections and fields with kind, default, meaning and value."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from roamcast.errors import UserError
from roamcast.scenario.faults import FaultSettings
from roamcast.scenario.model import Area, Mac, NodeGroup, Scenario
from roamcast.scenario.radio.settings import Radio
from roamcast.scenario.reference import describe_default, describe_kind
from roamcast.scenario.workload import PublisherSettings, RequesterSettings, SubscriberSettings, Zones
from roamcast.studio.editing.toml_edit import EditError, to_toml

MAIN: dict[type[BaseModel], tuple[str, ...]] = {
    Scenario: ("name", "duration", "warmup", "location"),
    Area: ("width", "height"),
    NodeGroup: ("count", "mobility", "speed", "pause"),
    Radio: ("range", "carrier_sense"),
    Mac: ("rate", "queue"),
    Zones: ("side",),
    PublisherSettings: ("every", "burst", "size", "content"),
    SubscriberSettings: ("count", "interest"),
    RequesterSettings: ("count", "every"),
    FaultSettings: ("group", "count"),
}
"The keys that people change first, by model; a form shows the others on demand."

_ORDER = ("", "area", "nodes", "workload", "radio", "mac", "faults")
"Sections of a form, in order; others follow."

_NUMBERS = ("whole number", "number")


def make_form(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the sections of a form for a scenario with `data`, as JSON values."""
    sections = list(_sections(Scenario, [], data))
    order = {name: number for number, name in enumerate(_ORDER)}
    return sorted(sections, key=lambda each: order.get((each["path"] or [""])[0], len(order)))


def _sections(model: type[BaseModel], path: list[str], data: Any) -> Iterator[dict[str, Any]]:
    given = data if isinstance(data, Mapping) else {}
    main = MAIN.get(model, ())
    fields: list[dict[str, Any]] = []
    inner: list[dict[str, Any]] = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        here = [*path, key]
        part = _model_of(field.annotation)
        named = _named_model(field.annotation)
        if part is not None:
            inner += _sections(part, here, given.get(key))
        elif named is not None:
            found = given.get(key)
            entries: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
            inner.append(
                {"path": here, "about": field.description or "", "names": list(entries), "fields": []}
            )
            for entry, value in entries.items():
                inner += _sections(named, [*here, entry], value)
        else:
            fields.append(_field(here, field, key in main or name in main, given.get(key)))
    fields.sort(key=lambda each: not each["main"])
    about = (model.__doc__ or "").strip().partition("\n")[0]
    yield {"path": path, "about": about, "present": isinstance(data, Mapping), "fields": fields}
    yield from inner


def _field(path: list[str], field: FieldInfo, main: bool, value: Any) -> dict[str, Any]:
    choices = _choices(field.annotation)
    kind = describe_kind(field)
    entry = _input(field.annotation, kind, choices)
    shown = None if value is None else value if entry == "text" and isinstance(value, str) else to_toml(value)
    if entry == "choice" and isinstance(value, str):
        shown = value
    default = "" if field.is_required() else _default(field)
    return {
        "path": path,
        "kind": kind.replace("`", ""),
        "input": entry,
        "choices": choices,
        "default": default,
        "required": field.is_required(),
        "main": main or field.is_required(),
        "about": field.description or "",
        "value": shown,
    }


def _default(field: FieldInfo) -> str:
    default = describe_default(field)
    return "" if default in ("null", "{}", "[]") else default


def _input(annotation: Any, kind: str, choices: list[str] | None) -> str:
    if choices is not None:
        return "choice"
    if kind == "true or false":
        return "bool"
    if kind in _NUMBERS:
        return "number"
    compound = ("list", "table", "`", " or ")
    return "toml" if not kind or any(word in kind for word in compound) else "text"


def _choices(annotation: Any) -> list[str] | None:
    arguments = [each for each in get_args(annotation) if each is not type(None)]
    if get_origin(annotation) is Literal:
        return [str(each) for each in arguments]
    if get_origin(annotation) in (Union, types.UnionType) and len(arguments) == 1:
        return _choices(arguments[0])
    return None


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a section that is one table, perhaps absent."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType):
        arguments = [each for each in get_args(annotation) if each is not type(None)]
        return _model_of(arguments[0]) if len(arguments) == 1 else None
    return None


def _named_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model of tables with names of the user's choice."""
    return _model_of(get_args(annotation)[1]) if get_origin(annotation) is dict else None


def read_input(entry: str, text: str) -> Any:
    """Return the value that a form's input means, for TOML."""
    plain = text.strip()
    if entry in ("text", "choice"):
        return plain
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        found = tomllib.loads(f"value = {plain}")
        if len(found) == 1:
            return found["value"]
    words = {"number": "a number", "bool": "true or false"}
    expected = words.get(entry, "a value of TOML, as in the text")
    raise EditError(f"{plain[:60]!r}: expected {expected}")


def read_path(path: list[str]) -> list[str]:
    """Return the path of a key, or raise UserError for what no scenario has."""
    if not 1 <= len(path) <= 8 or not all(0 < len(part) <= 100 for part in path):
        raise UserError("not a key of a scenario")
    return path
