"""What a metric is, and how one is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from roamcast.metrics.metric_input import MetricInput

Value: TypeAlias = float | int | None
"None where there is nothing to divide by, or nothing was told."

Scale: TypeAlias = Literal["share", "amount"]
"From 0 to 1, or from 0 up."


@dataclass(frozen=True)
class Metric:
    """One number that describes a run."""

    name: str
    unit: str
    better: Literal["more", "less", ""]
    "Which way is good; empty where neither is."
    meaning: str
    title: str
    "What figures and tables call it."
    compute: Callable[[MetricInput], Value]
    scale: Scale = "amount"
    "Where its values can lie, and so the intervals of its means."
    trials: tuple[str, ...] = ()
    "Of a share: the metrics whose product is the number of trials that it is a share of."


class MetricSet(dict[str, Metric]):
    """Metrics that belong together, by name; a function becomes one of them by the decorator `metric`."""

    def metric(
        self,
        title: str,
        *,
        unit: str = "",
        better: Literal["more", "less", ""] = "",
        scale: Scale = "amount",
        trials: tuple[str, ...] = (),
    ) -> Callable[[Callable[[MetricInput], Value]], Callable[[MetricInput], Value]]:
        """Declare a function as a metric: it has the function's name and means what its docstring says."""

        def declare(compute: Callable[[MetricInput], Value]) -> Callable[[MetricInput], Value]:
            name, meaning = compute.__name__, compute.__doc__ or ""
            self[name] = Metric(name, unit, better, " ".join(meaning.split()), title, compute, scale, trials)
            return compute

        return declare
