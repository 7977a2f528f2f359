"""The figures of the league: delivery by world and protocol, and delivery against each cost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from roamcast.report.drawings.axes import plain_numbers
from roamcast.report.drawings.catalogue import ReportFigure
from roamcast.report.drawings.figures import COLOURS, STYLE, canvas
from roamcast.report.league.aspects import COSTS
from roamcast.report.league.report import LeagueReport
from roamcast.report.league.standings import Overall
from roamcast.report.numbers import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_FRONT, _DOMINATED = COLOURS[0], "#7b8791"
_LETTER = 4.6
"Width of a letter of a label [points]."
_LOG_FROM = 5.0
"Quotient of the largest and the smallest cost from which their axis is logarithmic."

_DARK = 0.55
"Share from which the number in a cell is white."


def league_figures(report: LeagueReport) -> list[ReportFigure]:
    """Return the figures of the league, ready to be drawn."""
    matrix = ReportFigure(
        "league-matrix",
        "Delivery rate (in a world with requests only: share of satisfied requests) [%]. Bold: best, or not "
        "significantly worse. Orange frame: less than half of the best.",
        partial(draw_matrix, report),
    )
    fronts = [
        ReportFigure(
            f"league-{name}",
            "Filled: no other protocol delivers as much at no higher cost. Bars: 95 % intervals over seeds.",
            partial(draw_front, report, name),
        )
        for name in COSTS
    ]
    return [matrix, *fronts]


def draw_matrix(report: LeagueReport) -> Drawing:
    """Draw the delivery of each protocol (rows) in each world (columns) as shades with numbers."""
    import matplotlib as mpl
    from matplotlib.patches import Rectangle

    protocols = [each.protocol for each in report.overall]
    wide, tall = 2.2 + 0.78 * len(report.rankings), 1.1 + 0.36 * len(protocols)
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        frame = (1.45 / wide, 0.05 / tall, 1 - 2.1 / wide, 1 - 0.95 / tall)
        drawing, parts = canvas(1, 1, (wide, tall), frame=frame)
        axes = parts[0][0]
        shades = mpl.colormaps["Blues"]
        for x, ranking in enumerate(report.rankings):
            for y, protocol in enumerate(protocols):
                standing = ranking.find(protocol)
                if standing is None:
                    axes.text(x, y, "-", ha="center", va="center", color="#777777")
                    continue
                rate = standing.service["mean"]
                axes.add_patch(
                    Rectangle((x - 0.5, y - 0.5), 1, 1, color=shades(0.05 + 0.8 * rate), linewidth=0)
                )
                if standing.breaks:
                    box = Rectangle(
                        (x - 0.44, y - 0.42), 0.88, 0.84, fill=False, edgecolor="#d55e00", linewidth=1.4
                    )
                    axes.add_patch(box)
                axes.text(
                    *(x, y, f"{100 * rate:.0f}"),
                    ha="center",
                    va="center",
                    color="white" if rate > _DARK else "#1a1a1a",
                    weight="bold" if standing.mark else "normal",
                )
        axes.set_xlim(-0.5, len(report.rankings) - 0.5)
        axes.set_ylim(len(protocols) - 0.5, -0.5)
        axes.set_xticks(
            range(len(report.rankings)), [each.world for each in report.rankings], rotation=35, ha="left"
        )
        axes.xaxis.tick_top()
        axes.set_yticks(range(len(protocols)), protocols)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return drawing


def draw_front(report: LeagueReport, cost: str) -> Drawing:
    """Draw the mean delivery over worlds against a relative cost; protocols on the front are filled."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE | {"axes.grid.axis": "both"}):
        drawing, parts = canvas(1, 1, (5.2, 4.0), frame=(0.12, 0.14, 0.84, 0.82))
        axes = parts[0][0]
        shown = [each for each in report.overall if cost in each.costs]
        for each in shown:
            row, service = each.costs[cost], each.service
            colour = _FRONT if not each.dominated_by else _DOMINATED
            errors = {}
            if row["half"] is not None and row["count"] >= FEW:
                errors = {"xerr": row["half"], "yerr": 100 * (service["half"] or 0.0)}
            axes.errorbar(
                row["mean"],
                100 * service["mean"],
                **errors,
                fmt="o",
                color=colour,
                markerfacecolor="white" if each.dominated_by else colour,
                markersize=6,
                elinewidth=1,
            )
        means = [each.costs[cost]["mean"] for each in shown]
        if means and min(means) > 0 and max(means) / min(means) > _LOG_FROM:
            axes.set_xscale("log")
            axes.set_xlim(min(means) / 1.6, max(means) * 1.9)
            plain_numbers(axes.xaxis)
        _label_points(axes, shown, cost)
        axes.set_xlabel(f"{COSTS[cost].title}, relative to the median protocol of each world")
        axes.set_ylabel("delivery, mean over worlds (%)")
        return drawing


def _label_points(axes: Axes, shown: list[Overall], cost: str) -> None:
    """Write the names beside the points, on a side where they cover neither names nor points."""
    dots = 72 / axes.figure.dpi
    places = {
        each.protocol: axes.transData.transform((each.costs[cost]["mean"], 100 * each.service["mean"])) * dots
        for each in shown
    }
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places.values()]
    for each in shown:
        x, y = places[each.protocol]
        wide = _LETTER * len(each.protocol)
        sides = [
            (x + right * 7 - (right < 0) * wide, y + up, right)
            for up in (3, -11, 11, -19, 19, -27)
            for right in (1, -1)
        ]
        free = [
            side
            for side in sides
            if not any(
                side[0] < x1 and side[0] + wide > x0 and side[1] < y1 and side[1] + 8 > y0
                for x0, y0, x1, y1 in taken
            )
        ]
        left, low, _ = (free or sides)[0]
        taken.append((left, low, left + wide, low + 8))
        axes.annotate(
            each.protocol,
            (each.costs[cost]["mean"], 100 * each.service["mean"]),
            xytext=(left - x, low - y),
            textcoords="offset points",
            fontsize=8,
            color=_FRONT if not each.dominated_by else "#4a545c",
        )
