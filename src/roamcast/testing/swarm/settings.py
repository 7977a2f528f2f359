"""Generate parameters of a protocol within their bounds; most keep their defaults."""

from __future__ import annotations

from random import Random
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from roamcast.routing.router import Parameters
from roamcast.units import (
    BitsPerSecond,
    Bytes,
    Decibels,
    Hertz,
    Meters,
    MetersPerSecond,
    PerSecond,
    Watts,
)

CHANGED = 0.25
"Share of the parameters that are changed, in histories that change some."
FACTORS = (0.3, 0.5, 1.5, 2.0)
"Factors applied to the default of a duration or a share."
SMALL = (1, 2, 3, 5, 16)
"Values that replace the default of a count or a limit."
_UNITS = {
    reader
    for unit in (BitsPerSecond, Bytes, Decibels, Hertz, Meters, MetersPerSecond, PerSecond, Watts)
    for reader in get_args(unit)[1:]
}
"Validators of quantities that are not durations."


def draw_parameters(random: Random, model: type[Parameters]) -> tuple[dict[str, Any], bool]:
    """Return the values that differ from the defaults, and whether limits may be below their defaults."""
    mood = random.choice(("default", "default", "other", "cramped"))
    for _ in range(20 if mood != "default" else 0):
        values = _change(random, model(), cramped=mood == "cramped")
        try:
            model.model_validate(values)
        except ValidationError:
            continue
        return values, mood == "cramped"
    return {}, False


def longest_wait(parameters: BaseModel, but: float) -> float:
    """Return the longest duration among the parameters, except the value `but` [s]; at least 1."""
    longest = 1.0
    for name, field in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        if isinstance(value, BaseModel):
            longest = max(longest, longest_wait(value, but))
        elif isinstance(value, float) and value != but and not _UNITS.intersection(field.metadata):
            longest = max(longest, value)
    return longest


def _change(random: Random, defaults: BaseModel, cramped: bool) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, field in type(defaults).model_fields.items():
        default = getattr(defaults, name)
        if isinstance(default, BaseModel):
            inner = _change(random, default, cramped)
            if inner:
                changed[name] = default.model_dump() | inner
        elif random.random() < CHANGED:
            value = _other(random, default, cramped)
            if value is not None and value != default:
                changed[name] = _within(field, value)
    return changed


def _other(random: Random, default: Any, cramped: bool) -> Any:
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return random.choice(SMALL) if cramped else None
    if isinstance(default, float):
        return default * random.choice(FACTORS)
    return None


def _within(field: FieldInfo, value: Any) -> Any:
    for bound in field.metadata:
        if (least := getattr(bound, "ge", None)) is not None:
            value = max(value, least)
        if (most := getattr(bound, "le", None)) is not None:
            value = min(value, most)
    return value
