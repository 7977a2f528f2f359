"""What all parts of a campaign file share: settings, names of metrics, and errors that name a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from roamcast.metrics.declarations import METRICS
from roamcast.scenario.consistency import nearest

Setting: TypeAlias = bool | int | float | str | list[Any]
"The value of a scenario's or a protocol's parameter, as a TOML file writes it."


def flatten(given: Any) -> Any:
    """Nested tables as dotted keys: TOML reads `a.b = 1` as one and `"a.b" = 1` as the other."""
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
        raise ValueError(f"no metric is called {name!r}; {nearest(name, METRICS)}")
    return name


MetricName = Annotated[str, BeforeValidator(_known_metric)]


class CampaignSection(BaseModel):
    """Base of all parts of a campaign file: frozen, no unknown keys, each key explained."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def agrees(point: Mapping[str, Setting], selection: Mapping[str, Setting]) -> bool:
    """Whether a point has every value that `selection` names."""
    return all(point.get(key) == value for key, value in selection.items())


def member(name: str, known: Any, place: str, what: str) -> str:
    """`name`, if it is known; else the error that it is not, at the line of `place`."""
    if name not in known:
        raise disagreement(place, f"{name!r} is no {what}; {nearest(name, known)}")
    return name


def disagreement(key: str, problem: str) -> PydanticCustomError:
    """An error that the reader of files shows at the line of `key`."""
    return PydanticCustomError("disagreement", "{problem}", {"key": key, "problem": problem})
