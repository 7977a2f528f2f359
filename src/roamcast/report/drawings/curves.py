"""Curves of a comparison: deliveries by delay, delivery, load and connectivity over time, and the trade-off.

A line for each protocol is the mean over seeds; the trade-off has a dot for each seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roamcast.metrics.run_curves import BINS, DELAYS
from roamcast.report.comparing.curves import PlaceCurves, RunCurves
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.drawings.axes import fit_values, name_values, plain_numbers
from roamcast.report.drawings.figures import COLOURS, DASHES, MARKERS, PANEL_FRAME, STYLE, canvas
from roamcast.report.drawings.layout import add_legend
from roamcast.report.ranking import Place
from roamcast.report.result import CampaignResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

Series = Callable[[RunCurves], Sequence[float | None]]


def draw_within(result: CampaignResult, curves: PlaceCurves, protocols: list[str]) -> Drawing:
    """Draw the share of everything expected that was delivered within a time, by time."""
    drawing, axes = _panel()
    lines = {p: _mean(curves.of(p), lambda run: run.within) for p in protocols}
    known = {p: line for p, line in lines.items() if line is not None}
    top = max((float(np.nanmax(line)) for line in known.values()), default=0.0)
    for i, (protocol, line) in enumerate(known.items()):
        axes.plot(DELAYS, line, label=protocol, **_look(i))
    axes.set_xscale("log")
    ends = _used(list(known.values()))
    axes.set_xlim(*ends)
    plain_numbers(axes.xaxis)
    axes.set_ylim(0, max(1.03, top))
    if (deadline := result.campaign.measure.deadline) is not None and ends[0] < deadline < ends[1]:
        axes.axvline(deadline, color="#777777", linewidth=1, linestyle=":")
        axes.text(deadline, 1.0, " deadline", fontsize=8, color="#555555", va="top")
    return _finish(drawing, axes, "delay t (s)", "share delivered within t")


def draw_delivery(curves: PlaceCurves, protocols: list[str]) -> Drawing:
    """Draw the share delivered of what was published at each time."""
    drawing, axes = _over_time(curves, protocols, lambda run: run.delivered)
    axes.set_ylim(0, 1.03)
    return _finish(drawing, axes, "time of publication (s)", "delivery rate")


def draw_load(curves: PlaceCurves, protocols: list[str]) -> Drawing:
    """Draw the airtime per second over time."""
    drawing, axes = _over_time(curves, protocols, lambda run: run.load)
    axes.set_ylim(0, None)
    return _finish(drawing, axes, "time (s)", "airtime of all nodes (s/s)")


def draw_connectivity(curves: PlaceCurves) -> Drawing:
    """Draw the share of expected deliveries with a path at publication: mean and range over seeds."""
    drawing, axes = _panel()
    by_seed = {run.seed: run.connectivity for run in curves.runs if run.connectivity}
    values = np.array(list(by_seed.values()), np.float64)
    known = ~np.isnan(values).all(0)
    values = values[:, known]
    time = ((np.arange(BINS) + 0.5) * curves.duration / BINS)[known]
    axes.fill_between(
        time, np.nanmin(values, 0), np.nanmax(values, 0), color=COLOURS[0], alpha=0.15, linewidth=0
    )
    axes.plot([], [], color=COLOURS[0], alpha=0.25, linewidth=6, label="range over seeds")
    axes.plot(time, np.nanmean(values, 0), color=COLOURS[0], label="mean over seeds")
    axes.set_ylim(0, 1.03)
    return _finish(drawing, axes, "time of publication (s)", "share with a path")


def draw_trade_off(
    result: CampaignResult, place: Place, protocols: list[str], cost: str = "airtime"
) -> Drawing:
    """Draw delivery against a cost: a dot for each seed, the mean larger."""
    drawing, axes = _panel()
    reached: list[float] = []
    for i, protocol in enumerate(protocols):
        rates, costs = (result.by_seed(*place, protocol, metric) for metric in ("delivery_rate", cost))
        seeds = sorted(rates.keys() & costs.keys())
        if not seeds:
            continue
        x, y = [costs[seed] for seed in seeds], [rates[seed] for seed in seeds]
        look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        axes.scatter(x, y, s=16, alpha=0.45, linewidth=0, **look)
        axes.plot(
            np.mean(x),
            np.mean(y),
            markersize=9,
            linestyle="",
            label=protocol,
            markeredgecolor="white",
            **look,
        )
        reached += x
    fit_values(axes.xaxis, SHOWN[cost], reached)
    axes.set_ylim(0, 1.03)
    return _finish(drawing, axes, name_values(SHOWN[cost]), name_values(SHOWN["delivery_rate"]))


def _over_time(curves: PlaceCurves, protocols: list[str], series: Series) -> tuple[Drawing, Axes]:
    drawing, axes = _panel()
    time = (np.arange(BINS) + 0.5) * curves.duration / BINS
    lines = ((p, _mean(curves.of(p), series)) for p in protocols)
    for i, (protocol, line) in enumerate((p, line) for p, line in lines if line is not None):
        axes.plot(time, line, label=protocol, **_look(i))
    axes.set_xlim(_begin(curves, series), curves.duration)
    return drawing, axes


def _begin(curves: PlaceCurves, series: Series) -> float:
    """Return the start of the first part of the run in which a series has a value [s]."""
    parts = (i for run in curves.runs for i, value in enumerate(series(run)) if value is not None)
    return min(parts, default=0) * curves.duration / BINS


def _mean(runs: list[RunCurves], series: Series) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return the mean of a series over seeds, NaN where no seed has a value; None without any."""
    found = np.array([series(run) for run in runs if len(series(run))], np.float64)
    if not found.size:
        return None
    known = ~np.isnan(found)
    with np.errstate(invalid="ignore"):
        line: np.ndarray[Any, np.dtype[np.float64]] = np.where(known, found, 0.0).sum(0) / known.sum(0)
    return line


def _used(lines: list[np.ndarray[Any, np.dtype[np.float64]]]) -> tuple[float, float]:
    """Return the delays between which anything happens."""
    if not lines:
        return float(DELAYS[0]), float(DELAYS[-1])
    begins = min(int(np.argmax(line > 0.002)) for line in lines)
    ends = max(int(np.argmax(line >= line[-1] - 0.002)) for line in lines)
    return float(DELAYS[max(begins - 2, 0)]), float(DELAYS[min(ends + 3, len(DELAYS) - 1)])


def _panel() -> tuple[Drawing, Axes]:
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        drawing, parts = canvas(1, 1, frame=PANEL_FRAME)
        return drawing, parts[0][0]


def _look(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.8}


def _finish(drawing: Drawing, axes: Axes, x: str, y: str) -> Drawing:
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.tick_params(length=2.5)
        add_legend(axes)
    return drawing
