"""The class of metrics and the decorator that declares them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from roamcast.metrics.metric_input import MetricInput

Value: TypeAlias = float | int | None
"The value of a metric; None if the denominator is 0 or the facts lack the data."

Scale: TypeAlias = Literal["share", "amount"]
"A share lies between 0 and 1; an amount is not negative."


@dataclass(frozen=True)
class Metric:
    """The declaration of a number that is computed from the facts of a run."""

    name: str
    unit: str
    better: Literal["more", "less", ""]
    "Whether more or less is better; empty if neither."
    meaning: str
    title: str
    "The name in figures and tables."
    compute: Callable[[MetricInput], Value]
    scale: Scale = "amount"
    "The range of the values, which bounds the confidence intervals of means."
    trials: tuple[str, ...] = ()
    "For a share: the metrics whose product is the number of trials."


class MetricSet(dict[str, Metric]):
    """A set of metrics by name; the decorator `metric` adds a function to it."""

    def metric(
        self,
        title: str,
        *,
        unit: str = "",
        better: Literal["more", "less", ""] = "",
        scale: Scale = "amount",
        trials: tuple[str, ...] = (),
    ) -> Callable[[Callable[[MetricInput], Value]], Callable[[MetricInput], Value]]:
        """Declare a function as a metric; its name is that of the function, its meaning the docstring."""

        def declare(compute: Callable[[MetricInput], Value]) -> Callable[[MetricInput], Value]:
            name, meaning = compute.__name__, compute.__doc__ or ""
            self[name] = Metric(name, unit, better, " ".join(meaning.split()), title, compute, scale, trials)
            return compute

        return declare
