"""The base class of the sections of a campaign file, with settings, metric names and errors by line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from roamcast.metrics.declarations import METRICS
from roamcast.scenario.consistency import nearest

Setting: TypeAlias = bool | int | float | str | list[Any]
"The value of a scenario key or a protocol parameter, as in a TOML file."


def flatten(given: Any) -> Any:
    """Return nested tables as dotted keys: TOML reads `a.b = 1` as nested and `"a.b" = 1` as dotted."""
    if not isinstance(given, Mapping):
        return given
    flat: dict[str, Any] = {}
    for key, value in given.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{inner}": deeper for inner, deeper in flatten(value).items()}
        else:
            flat[str(key)] = value
    return flat


Settings = Annotated[dict[str, Setting], BeforeValidator(flatten)]
Axes = Annotated[dict[str, Annotated[list[Setting], Field(min_length=1)]], BeforeValidator(flatten)]


def _known_metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}; {nearest(name, METRICS)}")
    return name


MetricName = Annotated[str, BeforeValidator(_known_metric)]


class CampaignSection(BaseModel):
    """Base class of the sections of a campaign file: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def agrees(point: Mapping[str, Setting], selection: Mapping[str, Setting]) -> bool:
    """Return whether a point has every value in `selection`."""
    return all(point.get(key) == value for key, value in selection.items())


def member(name: str, known: Any, place: str, what: str) -> str:
    """Return `name` if it is in `known`; otherwise raise an error at the key `place`."""
    if name not in known:
        raise disagreement(place, f"{name!r} is not a known {what}; {nearest(name, known)}")
    return name


def disagreement(key: str, problem: str) -> PydanticCustomError:
    """Return an error that is reported at the line of `key`."""
    return PydanticCustomError("disagreement", "{problem}", {"key": key, "problem": problem})
