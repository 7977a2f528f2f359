"""Strip plots of a comparison: a dot per seed, and the mean with its interval, a line per protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roamcast.campaign.plan import point_text
from roamcast.errors import UserError
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.drawings.axes import fit_values, name_values
from roamcast.report.drawings.figures import COLOURS, STYLE, canvas, show_itself
from roamcast.report.numbers import FEW
from roamcast.report.ranking import HEADLINES, Place, rank
from roamcast.report.result import CampaignResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_LONGEST = 22
"Maximum length of a label beside a plot [characters]."

_SHADES = {"best": COLOURS[0], "tie": COLOURS[0], "": "#5b6770"}


def draw_strip_panel(result: CampaignResult, place: Place, metric: str, protocols: list[str]) -> Drawing:
    """Draw the seeds and means of `metric`, one protocol below the other."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE | {"axes.grid.axis": "x"}):
        drawing, panels = _canvas(result, place, [metric], protocols)
        _draw_panel(panels[0][0], result, place, metric, protocols)
        return drawing


def draw_comparison(result: CampaignResult) -> Drawing:
    """Draw the headline metrics of the campaign's first point side by side."""
    import matplotlib as mpl

    sweep, asked = next(iter(result.campaign.sweeps.items()))
    place = (sweep, point_text(asked.expand()[0]))
    metrics = [metric for metric in HEADLINES if rank(result, place, metric, asked.protocols)]
    if not metrics:
        raise UserError("no run of this comparison is measured, so there is nothing to draw")
    with mpl.rc_context(STYLE | {"axes.grid.axis": "x"}):
        drawing, panels = _canvas(result, place, metrics, asked.protocols)
        for axes, metric in zip(panels[0], metrics, strict=True):
            _draw_panel(axes, result, place, metric, asked.protocols)
        return show_itself(drawing)


def _canvas(
    result: CampaignResult, place: Place, metrics: list[str], protocols: list[str]
) -> tuple[Drawing, Any]:
    known = rank(result, place, metrics[0], protocols)
    tall = 0.8 + 0.4 * len(known)
    left = 0.04 + 0.018 * max(len(_shorten(label)) for label in known)
    frame = (left, 0.55 / tall, 0.89 - left, 1 - 0.65 / tall)
    return canvas(1, len(metrics), (4.4, tall), frame=frame)


def _draw_panel(axes: Axes, result: CampaignResult, place: Place, metric: str, protocols: list[str]) -> None:
    ranked = rank(result, place, metric, protocols)
    known = [protocol for protocol in protocols if protocol in ranked]
    values = {p: list(result.by_seed(*place, p, metric).values()) for p in known}
    fit_values(axes.xaxis, SHOWN[metric], [v for of in values.values() for v in of])
    for i, protocol in enumerate(known):
        colour = _SHADES[ranked[protocol][1]]
        _draw_strip(axes, i, values[protocol], colour)
        row = result.values[*place, protocol, metric]
        if row["count"] >= FEW and row["half"] is not None:
            ends = [[row["mean"] - row["lower"]], [row["upper"] - row["mean"]]]
            axes.errorbar(
                row["mean"],
                i,
                xerr=ends,
                fmt="D",
                color=colour,
                markersize=6,
                elinewidth=2,
                capsize=3.5,
                zorder=4,
            )
        else:
            axes.plot(row["mean"], i, "D", color=colour, markersize=6, zorder=4)
    for i, protocol in enumerate(known):
        mark = ranked[protocol][1]
        if mark:
            # Beside the plot, where neither seeds nor intervals cover it.
            where = axes.get_yaxis_transform()
            axes.text(
                1.02, i, mark, transform=where, va="center", fontsize=9, color=COLOURS[0], weight="bold"
            )
    axes.set_yticks(range(len(known)), [_shorten(label) for label in known])
    axes.set_ylim(len(known) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelsize=10)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(name_values(SHOWN[metric]), fontsize=10)


def _shorten(label: str) -> str:
    """Return a label that fits beside the plot."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _draw_strip(axes: Axes, line: int, values: list[float], colour: str) -> None:
    """Draw a dot per seed, alternately above and below the line, so that equal seeds stay visible."""
    aside = [line + 0.13 * ((i % 3) - 1) for i in range(len(values))]
    axes.scatter(values, aside, s=20, color=colour, alpha=0.45, linewidth=0, zorder=3)
