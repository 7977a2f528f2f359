"""Generate the reference of scenario files from the models: `python -m roamcast.scenario.reference PAGE`."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from roamcast import units
from roamcast.scenario.model import Scenario

HEADING = "## Every key\n"
"This module generates the page below this heading; the text above it is written by hand."

_UNITS = {
    units.Meters: "length",
    units.Seconds: "time",
    units.BitsPerSecond: "bit rate",
    units.MetersPerSecond: "speed",
    units.ByteCount: "bytes",
    units.Watts: "power",
    units.Hertz: "frequency",
    units.Decibels: "dB",
    units.DecibelsPerMeter: "dB per metre",
    units.PerSecond: "rate",
}
_SHOWN = {
    "length": [("m", 1.0)],
    "time": [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)],
    "bit rate": [("Mb/s", 1e6)],
    "speed": [("m/s", 1.0)],
    "bytes": [("B", 1.0)],
    "power": [("W", 1.0)],
    "frequency": [("MHz", 1e6)],
    "dB": [("dB", 1.0)],
    "dB per metre": [("dB/m", 1.0)],
    "rate": [("/s", 1.0)],
}


def update(page: str) -> str:
    """Return the page with its reference generated again."""
    above, heading, _ = page.partition(HEADING)
    return "\n".join([f"{above}{heading or HEADING}", *_section("", Scenario)])


def _section(prefix: str, model: type[BaseModel]) -> Iterator[str]:
    title = f"`[{prefix.rstrip('.')}]`" if prefix else "The file"
    yield from (f"### {title}", "", (model.__doc__ or "").strip(), "")
    yield from ("| key | kind | default | meaning |", "|---|---|---|---|")
    inner: list[tuple[str, type[BaseModel]]] = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield f"| `{key}` | {describe_kind(field)} | {_default(field)} | {field.description or ''} |"
        for part, where in _parts(field.annotation):
            inner.append((f"{prefix}{key}.{where}", part))
    yield ""
    for where, part in inner:
        yield from _section(where, part)


def _parts(annotation: Any) -> Iterator[tuple[type[BaseModel], str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, ""
    elif get_origin(annotation) is dict:
        yield from ((part, "NAME.") for part, _ in _parts(get_args(annotation)[1]))
    elif get_origin(annotation) in (Union, types.UnionType, tuple):
        for argument in get_args(annotation):
            yield from _parts(argument)


def describe_kind(field: FieldInfo) -> str:
    """Return the kind of values of a field: a quantity such as `length`, choices, `table`, `text` ..."""
    metadata = [m for m in field.metadata if callable(getattr(m, "func", None))]
    for annotated, word in _UNITS.items():
        if any(m in get_args(annotated) for m in metadata):
            return word
    return " or ".join(dict.fromkeys(_words(field.annotation)))


def _words(annotation: Any) -> Iterator[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _UNITS:
        yield _UNITS[annotation]
    elif origin is Annotated:
        quantity = [word for unit, word in _UNITS.items() if get_args(unit)[1] in arguments[1:]]
        yield from quantity or _words(arguments[0])
    elif origin is Literal:
        yield ", ".join(f'`"{value}"`' for value in arguments)
    elif origin in (Union, types.UnionType):
        for argument in arguments:
            if argument is not type(None):
                yield from _words(argument)
    elif origin in (list, tuple):
        yield f"list of {' or '.join(_words(arguments[0]))}"
    elif origin is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        yield "table"
    else:
        yield {
            "str": "text",
            "int": "whole number",
            "float": "number",
            "bool": "true or false",
            "Path": "file",
        }.get(
            annotation.__name__,
            {"SpeedRange": "`{ min, max }`", "TimeRange": "time or `{ min, max }`", "Point": "`[x, y]`"}.get(
                annotation.__name__, ""
            ),
        )


def describe_default(field: FieldInfo) -> str:
    """Return a field's default as written in a scenario file, with its unit."""
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _number(value, describe_kind(field))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value in (None, {}, [], ()) or isinstance(value, BaseModel):
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _number(value, describe_kind(field))
    return f"`{json.dumps(value)}`"


def _number(value: float, kind: str) -> float | str:
    scales = _SHOWN.get(kind)
    if scales is None:
        return value
    unit, scale = next(((unit, scale) for unit, scale in scales if value >= scale), scales[0])
    return f"{value / scale:.8g} {unit}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(update(file.read_text(encoding="utf-8")), encoding="utf-8")
