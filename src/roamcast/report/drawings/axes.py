"""Axes of figures: titles, units and scales."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from roamcast.campaign.checks import number
from roamcast.campaign.section import Setting
from roamcast.metrics.metric import Metric

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_WORDS = {
    r"nodes\.([^.]+)\.count": "number of {}",
    r"nodes\.([^.]+)\.speed\.max": "greatest speed of {}",
    r"nodes\.([^.]+)\.speed\.min": "least speed of {}",
    r"nodes\.([^.]+)\.speed": "speed of {}",
    r"nodes\.([^.]+)\.pause": "rest of {} at a waypoint",
    r"workload\.subscribe\.([^.]+)\.count": "subscribers among {}",
    r"workload\.subscribe\.([^.]+)\.locality": "share of {} with one common interest",
    r"workload\.publish\.([^.]+)\.count": "publishers among {}",
    r"workload\.publish\.([^.]+)\.every": "time between publications of {}",
    r"workload\.publish\.([^.]+)\.size": "size of an event",
    r"radio\.range": "radio range",
    r"area\.(width|height)": "{} of the area",
    r"mac\.rate": "bit rate",
    r"protocol\.([^.]+)\.(.+)": "{1} of {0}",
}
"Titles of scenario keys in figures."

_DECADES = 2000
"Ratio of the ends of a logarithmic axis from which only powers of ten are labelled."

LARGE = 10_000
"Numbers from here on are abbreviated on an axis."


def name_key(key: str, values: Iterable[Setting], title: str | None = None, unit: str | None = None) -> str:
    """Return the title of a swept key on an axis, with the unit of its values."""
    if title is not None and unit is None:
        return title
    words = title
    for pattern, text in _WORDS.items():
        found = re.fullmatch(pattern, key)
        if found and words is None:
            words = text.format(*found.groups())
    words = words or key.replace(".", " ").replace("_", " ")
    unit = unit if unit is not None else _unit(values)
    return f"{words.replace('_', ' ')} ({unit})" if unit else words.replace("_", " ")


def _unit(values: Iterable[Setting]) -> str:
    """Return the common unit of all values, if there is one."""
    units = {
        value.strip().split()[-1] if isinstance(value, str) and " " in value.strip() else ""
        for value in values
    }
    return units.pop() if len(units) == 1 else ""


def name_values(metric: Metric, title: str | None = None, unit: str | None = None) -> str:
    """Return the title of a metric on an axis, with its unit."""
    unit = metric.unit if unit is None else unit
    return f"{title or metric.title}{f' ({unit})' if unit else ''}"


def on_log_scale(metric: Metric) -> bool:
    """Return whether a metric has a logarithmic axis by default: delays span decades."""
    return metric.unit == "s" and "delay" in metric.name


def fit_values(axis: Axis, metric: Metric, values: Sequence[float], log: bool | None = None) -> None:
    """Scale an axis for a metric's values: shares from 0 to 1, delays by decades, others from 0."""
    log = on_log_scale(metric) if log is None else log
    positive = [value for value in values if value > 0]
    if metric.scale == "share":
        axis.set_view_interval(0, 1.03, ignore=True)
        _limit(axis, 0, 1.03)
    elif log and positive and min(positive) == min(values):
        _set_scale(axis, "log")
        _limit(axis, min(positive) / 1.6, max(positive) * 1.6)
        plain_numbers(axis)
    else:
        highest = max([*values, 0.0])
        _limit(axis, 0, highest * 1.08 or 1)
        short_numbers(axis, highest)


def short_numbers(axis: Any, highest: float) -> None:
    """Label an axis with 20k and 1.5M if its numbers are large."""
    from matplotlib.ticker import EngFormatter

    if highest >= LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))


def plain_numbers(axis: Any) -> None:
    """Write 0.1, 1 and 10 on a logarithmic axis instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = low > 0 and high / low > _DECADES
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades else (1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _set_scale(axis: Any, scale: str) -> None:
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)(scale)


def _limit(axis: Any, low: float, high: float) -> None:
    (axis.axes.set_xlim if axis.axis_name == "x" else axis.axes.set_ylim)(low, high)


def is_numeric(values: Iterable[Setting]) -> bool:
    """Return whether all values are numbers with one unit, so that they have positions on an axis."""
    values = list(values)
    try:
        [number(value) for value in values]
    except (TypeError, ValueError, IndexError):
        return False
    plain = not any(isinstance(value, bool) for value in values)
    return plain and len({value.strip().split()[-1] for value in values if isinstance(value, str)}) <= 1


def place_values(values: list[Setting]) -> dict[str, float]:
    """Return the position of each value on the axis: its number, or its rank in the given order."""
    if is_numeric(values):
        return {str(value): number(value) for value in values}
    return {str(value): float(i) for i, value in enumerate(dict.fromkeys(map(str, values)))}
