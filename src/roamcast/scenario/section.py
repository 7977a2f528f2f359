"""The base class of all sections of a scenario: immutable, without unknown keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Field(gt=0)
NotNegative = Field(ge=0)
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]


class ScenarioSection(BaseModel):
    """Base class of every section of a scenario."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
    )
